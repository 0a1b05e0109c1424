/** What this log promises. */
import {
  acceptance,
  bench,
  type ClaimSection,
  command,
  core,
  holds,
  model,
  mutation,
  rule,
  script,
  section,
  server,
  suite,
  testing
} from "./Claim.ts"

const walks = command("sim", "scripts/sim.ts")
const kill = acceptance("kill-nine")
const takeovers = acceptance("takeovers")
const exhaustive = testing("model/Bounds", "keeps every promise: $name, $about")

export const promiseSections: ReadonlyArray<ClaimSection> = [
  section(
    "P1. Durable is never lost, never doubled",
    holds(
      "A record reported durable is never lost: crashes at any instant.",
      core("scenarios/01-crash-while-opening", "at each request, …: the next opening has every record"),
      suite("Restart", "a crash at any request of an opening leaves a log that opens"),
      core("write/Durability", "acks no record before its segment is stored"),
      mutation("durable is said when a record is accepted"),
      exhaustive,
      kill
    ),
    holds(
      "It is never stored under two numbers, and one number never names two durable records.",
      core(
        "scenarios/04-two-writers",
        "both append at once: no acknowledged record of either is lost, numbers are unique"
      ),
      model("numbers-go-on-after-the-end"),
      mutation("the epoch starts again with numbers that were given"),
      testing("simulation/Linearizability", "one number is acknowledged for two records"),
      walks
    ),
    holds(
      "This holds with lost responses.",
      core("scenarios/02-lost-answers", "…, …, to each request of a writer's life"),
      core("scenarios/02-lost-answers", "…, …, to each request of an opening"),
      model("time-out-is-not-success"),
      rule("a time-out is not success")
    ),
    holds(
      "This holds with late requests (ghosts).",
      core(
        "scenarios/03-late-requests",
        "of a killed opener, each of its writes, landing before each request of the next opener"
      ),
      core(
        "scenarios/03-late-requests",
        "segments of a dead writer, after take-over: at the end refused by the marker, above it orphans"
      ),
      exhaustive
    ),
    holds(
      "This holds with two processes of one identity.",
      core("scenarios/04-two-writers", "A writes, B takes over and writes, A is fenced for good"),
      core(
        "twins/G-fencing",
        "while the first writer is paused: one wins, the paused and the late are fenced, no record is lost"
      ),
      model("claim-raises-epoch"),
      takeovers
    ),
    holds(
      "This holds with garbage collection.",
      core("read/RandomReader", "each record once, in order, whatever is deleted meanwhile: seed …"),
      core("scenarios/07-collector", "waits for the confirmed manifest: nothing goes while the answer is unknown"),
      model("delete-after-confirmed-trim"),
      rule("nothing is deleted before the manifest with the trim point is stored"),
      acceptance("soak")
    )
  ),
  section(
    "P2. Accepted can only vanish as a suffix",
    holds(
      "A record that was only accepted can vanish in a crash only, and only as part of one contiguous suffix.",
      suite("Restart", "what was only accepted goes as one suffix; its numbers are given again, in another epoch"),
      core("write/Durability", "delivers nothing behind a hole after a crash, and mixes no numbers"),
      model("acks-in-order"),
      rule("slots become durable in order"),
      testing("simulation/Linearizability", "a crash takes the first record of an append and leaves the second")
    ),
    holds(
      "How many are at risk right now is a live gauge, not an estimate.",
      core("log/Metrics", "show what is at risk while PUTs are under way"),
      core("model/LossWindow", "…: the status says at the limit what the function says"),
      kill
    )
  ),
  section(
    "P3. Delivery starts after the cursor, without holes",
    holds(
      "After a restart, delivery starts at cursor + 1; duplicates may come, holes may not.",
      core("read/Replay", "starts at cursor + 1, in the middle of a segment, in this run and the next"),
      core(
        "cursor/Cursors",
        "random order with failures: exactly the failed one and what follows is replayed after a restart"
      ),
      rule("nothing is trimmed above the lowest cursor"),
      testing("simulation/LinearMarks", "a mark shows what was called done only later, or passes what is not done")
    ),
    holds(
      "A hole that damage makes is a typed error, or a reported gap where the operator chose to go on.",
      core("read/Missing", "above the cursor: SegmentMissing with the range, and the rest with skip"),
      core("read/Damage", "…: loud by default, one lost range with skip"),
      suite("Damage", "a segment that is missing: the range above the cursor, nobody below it"),
      server("damage", "is an error by its name, and with on_damage=skip an element between the records")
    )
  ),
  section(
    "P4. No silent anything",
    holds(
      "Each failure is a typed error, a log line and a metric.",
      server("errors", "have one row for each class and one class for each row"),
      server("errors", "stand in docs/errors.md as they are in the program"),
      core("log/Observed", "PUT failed, retrying: at most one a second, and it says how many it left out"),
      core("log/Metrics", "count retries by class, never by message or key")
    ),
    holds(
      "Nothing is skipped, overwritten, downgraded or clamped without being told to.",
      core(
        "node/NodeCompression",
        "each level of the range works, each other one is an error instead of being clamped"
      ),
      core("write/Durability", "stops with SegmentConflict when a foreign object has its key, and leaves it alone"),
      core("scenarios/05-damage-refused", "something else stands where the end is: refused, not written over"),
      rule("an end marker is created, never written over")
    ),
    holds(
      "A dead fiber is a dead log: each waiting and each later call fails.",
      core("log/Failure", "when a worker dies of a defect"),
      core("log/Failure", "when the coordinator dies of a defect"),
      mutation("who waits is not told that the log is over"),
      server("system", "a dead log is 503 on both, and the process is told")
    )
  ),
  section(
    "P5. Memory is bounded in bytes",
    holds(
      "In an outage.",
      core("write/Outage", "fills the buffer to its bound and no further; input resumes by itself"),
      bench("growth", "most memory in an outage, against a bound of 32 MiB"),
      bench("growth", "memory in an outage, full buffer: last point against first"),
      mutation("buffered bytes have no bound")
    ),
    holds(
      "With a slow reader.",
      core("read/Scale", "10,000 and a reader that stops: what was fetched ahead stays bounded"),
      bench("growth", "memory with a reader that stands still: last point against first"),
      bench("growth", "memory with a reader that comes back: last point against first"),
      core("read/SegmentReader", "keeps the newest segments within its bytes, and finds by number")
    ),
    holds(
      "In recovery.",
      core("verify/Bounded", "a log of thousands of segments"),
      bench("recover", "in use after 10000 segments, against after 1000")
    ),
    holds(
      "In overload: of one log, of all logs, and of all requests.",
      core("log/Several", "bounds what all logs hold together; whoever waits goes on when another gives back"),
      server("limits", "bounds what all bodies in flight hold together, and gives it back"),
      server("stores", "share the bound of limits.max_buffered_bytes"),
      acceptance("soak")
    )
  ),
  section(
    "P6. Requests",
    holds(
      "An idle log makes no requests.",
      core("log/Requests", "an idle log makes none in an hour, fresh or used"),
      suite("Outage", "an idle log asks for nothing and writes nothing, fresh or used"),
      bench("growth", "requests of idle streams"),
      bench("requests", "defaults: requests in an idle hour"),
      mutation("an idle log writes its manifest again and again")
    ),
    holds(
      "A busy one makes one PUT a segment, plus a small constant: at most 1.13 requests a segment.",
      core("log/Requests", "one PUT a segment, at most 1.13 requests with everything: 600 segments at 10/s"),
      core("log/Requests", "at most 1.13 requests a segment at … segments a second"),
      bench("requests", "defaults: requests a segment, 10 segments/s"),
      acceptance("requests")
    )
  ),
  section(
    "P7. Every number is printed by a command",
    holds(
      "Every number in README and docs is printed by a command of this repository.",
      script("cost-docs", "is what scripts/write-cost-docs.ts writes"),
      script("claims", "has an entry for each number with a unit in README.md"),
      script("claims", "has an entry for each page in docs"),
      { kind: "test", file: "bench/test/Results.test.ts", title: "has the results that are kept" }
    )
  )
]
