/** The command, the dashboard and what watches a server: what must hold of them. */
import { type ClaimSection, differs, holds, section, server, test, unproven } from "./Claim.ts"

const cli = (name: string, title: string) => server(`cli/${name}`, title)
const page = (name: string, title: string) => server(`dashboard/${name}`, title)
const observe = (name: string, title: string) => server(`observe/${name}`, title)

export const toolSections: ReadonlyArray<ClaimSection> = [
  section(
    "The command effect-wal",
    holds(
      "Every command and every flag is described, with examples; docs/cli.md is what --help prints.",
      cli("root", "has every command"),
      cli("root", "describes every command and every flag, with examples that begin with the command"),
      cli("CliDocs", "is what scripts/write-cli-docs.ts writes")
    ),
    holds(
      "Exit codes are documented, each used once; every error says what to do next.",
      cli("Failure", "are each used once"),
      cli("Failure", "has advice for every error of the log, in words of the command line"),
      cli("root", "is a process that ends with these codes, without a stack trace")
    ),
    holds(
      "--json prints one value a line, also of errors.",
      cli("Failure", "is told as one line of JSON with --json; a configuration with all its problems"),
      cli(
        "Output",
        "prints rows as NDJSON: raw values, keys in the order of the columns, nothing for what is not there"
      )
    ),
    holds(
      "Reading commands change no byte and fence nobody, directly on a store as well.",
      cli("data/store", "reading commands change no byte, and the writer goes on"),
      cli(
        "data/store.integration",
        "read without changing an object or fencing the writer, are refused to write, and take over on a word"
      )
    ),
    holds(
      "Changing commands refuse a log with a live writer unless told --take-over.",
      cli(
        "data/store",
        "changing commands are refused and change no byte; --take-over fences the writer, and says where it ended"
      ),
      cli("data/store", "a command that still runs is a live writer")
    ),
    holds(
      "append and cat keep the bytes of every line; tail goes on over a restart without a hole or a double.",
      cli("data/append-cat", "keep the bytes of every line, as processes of their own"),
      cli("data/tail", "follows over a restart of the server without a hole or a double, and ends well at SIGINT")
    ),
    holds(
      "verify and repair tell damage with a code of its own, show the plan first, and mend it on the operator's word.",
      cli("data/store", "tell damage with a code of its own, show the plan first, and mend it on the operator's word")
    ),
    holds(
      "config check, print and schema: all problems, with file and line; the schema takes what the program takes.",
      cli("config-program", "check: names all problems at once, with file and line, and ends with 2"),
      cli("ConfigSchema", "has a description for every field, and each field of the program"),
      cli("ConfigSchema", "refuses …, as the program does")
    ),
    holds(
      "cost and loss-window print what the models compute; cost reads the counters of a running server.",
      cli("models", "prints what the model computes"),
      cli("models", "reads the counters of a running server")
    ),
    holds(
      "doctor probes conditions, clock, latency and permissions, says what to fix, and leaves nothing.",
      cli("Doctor", "finds a good store good, and leaves nothing in it"),
      cli("Doctor", "names each permission that is missing"),
      cli("Doctor", "refuses a store that ignores conditions"),
      cli("Store.integration", "doctor finds nothing failed, and leaves nothing"),
      cli("doctor-program", "ends with 1 where a permission is missing, and says which and what to do")
    ),
    holds(
      "bench measures in a log of its own, and leaves nothing, also at Ctrl-C.",
      cli("bench-program", "…: measures in a log of its own, and leaves nothing of it"),
      cli("bench-program", "removes what it has stored at Ctrl-C, and ends with 130")
    ),
    holds(
      "Long work has a bar with rate and time left on a terminal, plain lines elsewhere; completions for shells.",
      cli("Progress", "is a bar with share, amount, rate and time left"),
      cli("Progress", "writes a plain line every five seconds elsewhere"),
      cli("root", "bash takes the script, and completes by it")
    )
  ),
  section(
    "Dashboard",
    holds(
      "One self-contained page at /, with a strict policy and nothing from elsewhere.",
      page("feed", "is the page, for everybody and without data, with a strict policy"),
      page("page-source", "allows exactly its own script and style, names nothing elsewhere, and is not large")
    ),
    holds(
      "In a real Chromium: renders, updates, survives a restart, without a complaint in the console.",
      page("page", "shows an empty log and what to do, then records as they come, without a complaint"),
      page("page", "goes on by itself after kill -9 and a restart"),
      page("page", "tells an outage, what is at risk in it, and that it is over")
    ),
    holds(
      "No overflow at 360 and 1440 pixels, light and dark, by keyboard.",
      page("layout", "fits and can be read: idle, busy with an open tail and the list of shortcuts, and in an outage"),
      page("page", "reaches every control, and shows where it is"),
      page("page", "follows the system's theme until somebody chooses")
    ),
    holds(
      "Thresholds of the source documents as colours, relative to the preset.",
      page("thresholds", "of the latency of a PUT: a warning above 200 ms, somebody acts above 500 ms"),
      page("thresholds", "of a preset are not met by its own normal state, and are by ten times that"),
      page("thresholds", "of balanced are those of the source documents")
    ),
    holds(
      "Live over SSE; whoever looks costs the store nothing.",
      page("feed", "the feed tells a change within a second, and only what has changed"),
      page("feed", "the feed of an idle log is some thirty bytes a second, and asks nothing of the store"),
      page("feed", "a hundred who look cost one sample a second")
    ),
    holds(
      "Rates, dollars a month at the present rate, and until when there is room.",
      page("activity", "has rates of the last five seconds, and the rest of the last minute"),
      page("activity", "costs what S3 charges for a month at the rate of the window, and nothing on a disk"),
      page("activity", "says until when there is room: by bytes, by the queue, or by the spool")
    )
  ),
  section(
    "Observability",
    holds(
      "/metrics is complete and valid; docs/metrics.md explains every metric.",
      observe("Metrics", "are those of docs/metrics.md, and pass … check metrics"),
      observe("Metrics", "stand in docs/metrics.md as scripts/write-metric-docs.ts writes them"),
      server("system", "parse strictly, whatever the labels hold")
    ),
    holds(
      "Alert rules fire and stay quiet as they should, for every threshold of the source documents and a stuck uploader.",
      observe("Rules", "have a case of each alert in which it fires, and one in which it does not"),
      observe("Rules", "fire and stay quiet as they should, by … test rules"),
      observe("Rules", "ask for metrics and labels that a server has")
    ),
    differs(
      "The Grafana dashboard shows them.",
      "no Grafana runs here: its queries, variables, metrics, labels and layout are checked.",
      observe("Grafana", "asks for metrics and labels that a server has"),
      observe("Grafana", "has queries that … takes"),
      observe("Grafana", "has panels that do not overlap"),
      test("scripts/grafana.test.ts", "is what scripts/write-grafana.ts writes")
    ),
    holds(
      "Traces show one append from HTTP to PUT to manifest, at a collector.",
      observe("Traces", "show one append from its request to the PUT to the manifest"),
      observe(
        "TraceLinks",
        "go from a PUT to the requests whose records it carries, also where they carry on in the next one"
      ),
      observe("Traces", "hold no token, no payload, and nothing of probes and scrapes"),
      observe("Traces", "a collector that refuses them is told in the log, and stops nothing")
    ),
    holds(
      "Logs as JSON, one object a line, with the words of the source documents.",
      observe("Logs", "are one object a line from the start to the end, with the words of the source documents")
    ),
    unproven(
      "Constant-time comparison of tokens.",
      "the code compares digests of all tokens each time; no test can show how long it takes."
    )
  )
]
