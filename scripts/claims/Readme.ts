/** What README.md says, by its headings: a test checks that each heading, and each number with a unit, has an entry. */
import {
  acceptance,
  bench,
  type ClaimSection,
  command,
  core,
  holds,
  script,
  section,
  server,
  suite,
  test,
  testing
} from "./Claim.ts"

export const readmeSections: ReadonlyArray<ClaimSection> = [
  section(
    "effect-wal",
    holds(
      "A record that is durable is in S3, and the loss of the node cannot take it.",
      suite("Writer", "a second writer takes over, the first is fenced for good, all that was durable is there"),
      core("write/Durability", "acks no record before its segment is stored"),
      acceptance("kill-nine")
    ),
    holds(
      "What was not yet committed is delivered again after a restart, in order.",
      core("read/Replay", "starts at cursor + 1, in the middle of a segment, in this run and the next"),
      suite("Cursor", "acks in any order with failures: the first that failed is replayed, and what follows it")
    ),
    holds(
      "A busy log costs about one PUT a segment, an idle one nothing.",
      core("log/Requests", "one PUT a segment, at most 1.13 requests with everything: 600 segments at 10/s"),
      core("log/Requests", "an idle log makes none in an hour, fresh or used")
    ),
    holds(
      "A record is durable when it and everything before it is stored; acks come in that order only.",
      core("write/Durability", "acks in order only, whichever PUT ends first")
    ),
    holds(
      "A failed PUT is never dropped: the same bytes go to the same key until the answer is definite.",
      core("write/Durability", "sends a failed PUT again: same key, same bytes, nothing merged in")
    ),
    holds(
      "Two processes with one identity cannot harm each other: the newer takes over, the older is fenced, without clocks.",
      core("scenarios/04-two-writers", "A writes, B takes over and writes, A is fenced for good"),
      core(
        "epoch/RoundTrips",
        "six to the first durable record, from a writer that is still there, and no wait for a clock"
      ),
      acceptance("takeovers")
    ),
    holds(
      "Damage is a typed error or a reported gap, never a silent hole.",
      core("read/Damage", "…: loud by default, one lost range with skip")
    ),
    holds(
      "A simulator kills, pauses and lies to the real code; every rule that is taken out of it is noticed.",
      testing("simulation/Walk", "are kept, fresh seeds … to …"),
      command("sim --mutations", "scripts/sim.ts"),
      command("model --rules", "scripts/model.ts")
    ),
    holds(
      "One log has one writer at a time, and any number of readers.",
      core("WalReader", "shows what is durable, changes no byte, and does not disturb the writer")
    )
  ),
  section(
    "Three ways to use it",
    holds(
      "A server, a library, a command.",
      server(
        "main",
        "without a configuration keeps one stream in ./data, and prints three commands that work as printed"
      ),
      server("examples/Library", "every example is run here, and the page beside them names each"),
      server("main", "tells its version and its flags")
    )
  ),
  section(
    "Start",
    holds(
      "npm start serves one stream main on loopback, port 8180, kept in ./data; the three commands work as printed.",
      server(
        "main",
        "without a configuration keeps one stream in ./data, and prints three commands that work as printed"
      )
    ),
    holds("The first answer comes when the record is durable.", server("append", "answers only when the log has it")),
    holds(
      "All routes are at /docs, metrics at /metrics.",
      server("system", "the OpenAPI document lists every route"),
      server("process-metrics", "are on /metrics: memory, descriptors, handles, CPU time, fibers")
    )
  ),
  section(
    "Library",
    holds(
      "The program does what it says, and the Layer chooses the store: this disk, S3.",
      script("docs-code", "does what the page says where it is a program"),
      script("docs-facts", "has the library in fifteen lines"),
      core("node/LocalLog", "is a layer that needs no store, also for one of several logs"),
      server("examples/Library", "every example is run here, and the page beside them names each")
    )
  ),
  section(
    "How fast",
    holds(
      "The table is written from the results that are kept; floors, peers and what was missed are on the page behind it.",
      script("docs-facts", "how fast it is, in README.md, is what scripts/write-readme-table.ts writes"),
      test("bench/test/Results.test.ts", "has the results that are kept")
    ),
    holds(
      "Costs do not grow with the log.",
      bench("growth", "append time, records in the log: last point against first"),
      bench("growth", "manifest bytes, segments in the log: last point against first"),
      bench("growth", "recovery time, committed segments: last point against first")
    )
  ),
  section(
    "Documents",
    holds(
      "Every link leads somewhere, each guide is in the list, and each page has an entry below.",
      script("docs-links", "has links that lead to a file, and to a heading in it"),
      script("docs-links", "has a guide in the list of README.md for each that there is"),
      script("claims", "has an entry for each page in docs")
    )
  ),
  section(
    "Licence",
    holds(
      "Apache-2.0, in each package.",
      script("packages", "hold licence, readme, sources and what was built of them, and nothing of tests")
    )
  )
]
