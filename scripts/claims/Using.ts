/** What an application gets: DurableInput, the client, examples, packages; how it is deployed and defended. */
import { type ClaimSection, core, holds, script, section, server, test, unproven } from "./Claim.ts"

const input = (name: string, title: string) => core(`input/${name}`, title)
const client = (name: string, title: string) => server(`client/${name}`, title)
const security = (name: string, title: string) => server(`security/${name}`, title)
const deploy = (name: string, title: string) => server(`deploy/${name}`, title)
const example = (name: string, title: string) => test(`examples/test/${name}.test.ts`, title)

export const usingSections: ReadonlyArray<ClaimSection> = [
  section(
    "DurableInput",
    holds(
      "Each element is in the log before it is handled, or handled as soon as it is accepted; it is committed after its handler.",
      input("DurableInput", "after durability: stores, acknowledges, handles, commits, in this order"),
      input("DurableInput", "after acceptance: handles while it is being stored, acknowledges and commits once it is")
    ),
    holds(
      "Handlers run in parallel and end in any order; the cursor never passes one that runs.",
      input("DurableInput", "…: parallel handlers end in any order, the cursor never passes one that runs"),
      input("DurableInput", "runs so many handlers at a time and no more")
    ),
    holds(
      "After a crash what is not committed comes again, with no hole.",
      input("DurableInput", "…: what is not committed comes first, then what comes, with no hole"),
      input("Crash", "…: durable and not acknowledged: twice, unless the producer names them"),
      input("Walk", "…: loses nothing, and leaves no hole")
    ),
    holds(
      "Retry, dead letters, and a graceful stop.",
      input("Failure", "runs again as the schedule says, and is committed once it succeeds"),
      input("Failure", "goes to the dead letters when its tries are used up, and the others go on"),
      input("Stop", "$handle, by $way: handlers finish and are committed, the rest stays")
    ),
    holds(
      "Its memory is bounded in bytes.",
      input("Memory", "is bounded in bytes too"),
      input("Memory", "after durability: the source is not pulled beyond what may be on its way")
    )
  ),
  section(
    "Examples",
    holds(
      "A webhook relay, a file tailer, an outbox into a real PostgreSQL, Arrow batches and a test with a clock, each run.",
      example("webhook-relay", "relays all that it has answered, although it is killed again and again"),
      example("tail-file", "neither loses nor doubles a line, over kill -9, growth and rotation"),
      example("outbox", "outbox, into a real PostgreSQL"),
      example("arrow-batches", "arrow-batches"),
      example("page", "names each program, says how it is run, and each has a test"),
      example("test-clock", "ships nothing that is not durable")
    )
  ),
  section(
    "The typed client",
    holds(
      "It needs the API's definition and effect, and nothing else of the server.",
      client("import-graph", "lead to the API's definition and to the effect package, and nowhere else"),
      script("packages", "the client loads there, and without the server")
    ),
    holds(
      "It repeats after 429 and 503 as Retry-After says, with keys, and never what could be done twice.",
      client("retry", "are made again after 429 and 503, with pauses that double, vary and stay below the longest"),
      client("retry", "have the same key, another for each call, and the one that is given"),
      client("retry", "without a key are made only where nothing was appended")
    ),
    holds(
      "Over a server that is killed it loses nothing and doubles nothing, of appends and of a live tail.",
      client("live", "loses nothing and doubles nothing, of appends and of a live tail"),
      client("pending", "are watched through the status until they are durable"),
      client("tail-script", "goes on behind the last record after every end but the last, and drops what it has had")
    )
  ),
  section(
    "Packages",
    holds(
      "Tarballs hold what they should, are clean by publint and attw, and work in an empty project.",
      script("packages", "hold licence, readme, sources and what was built of them, and nothing of tests"),
      script("packages", "are clean by publint"),
      script("packages", "are clean by attw, as modules"),
      script("packages", "append and replay there, on the local disk and in memory")
    ),
    holds(
      "core's main entry loads no module of Node, and can be shaken.",
      script("packages", "core's main entry and a log load no module of Node, and nothing but effect"),
      script("packages", "core can be shaken: one import is a part of it, and loads nothing else")
    ),
    holds(
      "Nothing internal can be imported.",
      script("packages", "nothing internal can be imported there")
    ),
    holds(
      "Every export has a docstring, and docs/api.md lists them all.",
      test(
        "reference/test/reference.test.ts",
        "has a docstring for every export, and links and types that lead somewhere"
      ),
      test("reference/test/reference.test.ts", "is docs/api.md in short")
    ),
    holds(
      "Every code block and command of the pages is type-checked or run, and every link leads somewhere.",
      script("docs-code", "type-checks, block by block, and a fault is told with its page and line"),
      script("docs-commands", "are run for the most part, or on the list with a reason"),
      script("docs-links", "has links that lead to a file, and to a heading in it")
    )
  ),
  section(
    "Deployment",
    holds(
      "The Dockerfile, the systemd unit and the Kubernetes manifests name ports, paths, flags and times that the program has.",
      deploy("Deploy", "serves the configuration that it brings, on its volume, at the port that it names"),
      deploy("Deploy", "gives the server time to drain, restarts it, and not when the configuration is wrong"),
      deploy("Kubernetes", "probe what the server answers, at its port"),
      deploy("Kubernetes", "give a pod more time to end than the server takes")
    ),
    holds(
      "The IAM policies allow a writer exactly what the S3 store sends.",
      deploy("Deploy", "allow a writer exactly what the S3 store sends"),
      deploy("Deploy", "leave out deletion, or everything but reading")
    ),
    unproven(
      "The image builds, the unit starts, the manifests run, AWS takes the policies, Grafana and Prometheus load the files.",
      "neither Docker, systemd, a cluster, AWS nor Grafana is where the tests run. promtool checks the rules where it is " +
        "installed, a parser of this repository elsewhere."
    )
  ),
  section(
    "Security",
    holds(
      "Each statement of docs/security.md names a test that is there.",
      security("docs", "names for each statement a test that is there")
    ),
    holds(
      "Every set of scopes and streams may do what its scopes say, on every route.",
      security(
        "scopes",
        "of every set of scopes and streams may do what their scopes say, on their streams, on every route"
      )
    ),
    holds(
      "Random bytes on raw sockets get whole answers below 500 or the end, and the log has what was answered.",
      security("wire-fuzz", "… connections: whole answers below 500 or the end, and the log has what was answered")
    ),
    holds(
      "No secret is in a log, an answer, a metric, a page, or config print.",
      security("secrets", "are in no log, no answer, no metric and no page of a server that has all kinds of trouble"),
      security("secrets", "are redacted by every command that shows the configuration or what is wrong with it")
    ),
    holds(
      "Slow clients lose their connection and hold a bounded part of memory.",
      security("slow-clients", "loses its connection after send_timeout"),
      security("slow-clients", "hold no more of the server's memory, however much is appended")
    ),
    holds(
      "Headers of proxies are believed nothing, paths lead to no other stream, and other sites can do nothing.",
      security("proxy", "open nothing, change no address and no method"),
      security("paths", "lead to another stream in no spelling, and are each answered below 500"),
      security("headers", "cannot append with what a browser sends without asking")
    ),
    holds(
      "Two tokens are valid at once, and certificates are read again.",
      security("tokens-live", "are two at once, and one takes the place of the other without a request that fails"),
      security(
        "tls",
        "shows new connections the renewed certificate after a reload, and keeps the old one where that fails"
      )
    )
  )
]
