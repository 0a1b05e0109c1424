/** Each page of `docs/`, and what keeps it true. */
import { type ClaimSection, command, core, holds, script, section, server, test, testing, unproven } from "./Claim.ts"

export const pageSections: ReadonlyArray<ClaimSection> = [
  section(
    "docs/architecture.md",
    holds(
      "Invariants 1 to 9, the decisions and the failures are those that the sections above hold; its layers are checked.",
      script("boundaries", "accepts a tree in which everything points down"),
      testing("model/Bounds", "keeps every promise: $name, $about"),
      core("scenarios/90-random-walk", "four workers, depth two, deleting")
    )
  ),
  section(
    "docs/cases.md",
    holds(
      "Written from titles of tests; each number has one.",
      script("cases", "is what scripts/list-cases.ts --write writes")
    )
  ),
  section(
    "docs/configuration.md",
    holds("Written from the Schema.", server("config/ConfigDocs", "is what scripts/write-config-docs.ts writes"))
  ),
  section(
    "docs/cost.md",
    holds("Every number is computed by a model.", script("cost-docs", "is what scripts/write-cost-docs.ts writes")),
    holds(
      "The models are those of a real log.",
      core("model/CostModel", "…: it makes the PUTs in 30 s that the function says"),
      core("model/AckLatency", "…: it is that of a real log"),
      core("model/LossWindow", "…: the status says at the limit what the function says"),
      core(
        "model/DuplicateWindow",
        "…: killed at any moment it delivers again what the function says at most, and nearly as much"
      )
    )
  ),
  section(
    "docs/dependencies.md",
    holds("Imports go only where it says.", script("boundaries", "accepts a tree in which everything points down"))
  ),
  section(
    "docs/errors.md",
    holds("Written from the classes.", server("errors", "stand in docs/errors.md as they are in the program"))
  ),
  section(
    "docs/format.md",
    holds(
      "Its tables are read by tests, and compared with what the code writes.",
      core("format/format-doc", "the header table is the header, field by field, without a gap"),
      core("format/format-doc-body", "the files are those that are shown"),
      core("format/format-doc-journal", "a frame is valid in its place only")
    )
  ),
  section(
    "docs/found-by-simulation.md",
    holds(
      "Each fault that simulation has found has a test.",
      core("epoch/PagedListing", "[simulation] are no loss to whoever opens the log"),
      core("spool/LateMarker", "is not appended again where a late end marker has come below the trim point"),
      core(
        "spool/Producers",
        "that was repeated to another node is not appended twice however many calls came after it"
      )
    )
  ),
  section(
    "docs/growth.md",
    holds(
      "The curves are drawn from measurements of this repository.",
      test("bench/test/growth/Curve.test.ts", "is judged by its last point against its first, round by round"),
      test("bench/test/Results.test.ts", "has the results that are kept"),
      command("bench growth", "bench/src/benches/Growth.ts")
    )
  ),
  section(
    "docs/model.md",
    holds(
      "The bounds are explored completely and the rules are missed when dropped.",
      testing("model/Bounds", "keeps every promise: $name, $about"),
      testing("model/Rules", "breaks a promise: …"),
      command("model --full", "scripts/model.ts")
    ),
    unproven(
      "The seconds in its table.",
      "they are of one run on one machine; pnpm model --full prints them again. The counts of states do not change."
    )
  ),
  section(
    "docs/performance.md",
    holds(
      "Its tables are the results that are kept, and every benchmark has a place.",
      test("bench/test/Results.test.ts", "has the results that are kept"),
      test("bench/test/Results.test.ts", "has a place for every benchmark"),
      command("bench", "bench/src/main.ts")
    )
  ),
  section(
    "docs/testing.md",
    holds(
      "The commands are there.",
      command("acceptance", "scripts/acceptance/main.ts"),
      command("sim", "scripts/sim.ts"),
      command("fuzz", "scripts/fuzz.ts"),
      script("fuzz", "makes one input again, and checks one of a file")
    )
  ),
  section(
    "docs/verify-and-repair.md",
    holds(
      "Each finding is found, and each repair leads to a log that opens.",
      core("verify/Damage", "at most as many findings are kept as asked for; all are counted"),
      core("repair/Damage", "…: opens, the loss is exact, the rest is read"),
      core("repair/Manifest", "… is rebuilt: ends to the byte, everything is read")
    )
  ),
  section(
    "docs/api.md",
    holds(
      "Every export, from the same model as the reference.",
      test("reference/test/reference.test.ts", "is docs/api.md in short"),
      test("reference/test/reference.test.ts", "has words in every row of docs/api.md")
    )
  ),
  section(
    "docs/cli.md",
    holds("Written from the commands.", server("cli/CliDocs", "is what scripts/write-cli-docs.ts writes"))
  ),
  section(
    "docs/dashboard.md",
    holds(
      "What it says of the page is tried in a real browser.",
      server("dashboard/page", "shows an empty log and what to do, then records as they come, without a complaint"),
      server("dashboard/tail", "shows records as they come, hostile ones as text")
    )
  ),
  section(
    "docs/metrics.md",
    holds(
      "Written from the table of metrics, which is that of a running server.",
      server("observe/Metrics", "stand in docs/metrics.md as scripts/write-metric-docs.ts writes them"),
      server("observe/Metrics", "are those of docs/metrics.md, and pass … check metrics")
    )
  ),
  section(
    "docs/security.md",
    holds(
      "Each statement names a test that is there.",
      server("security/docs", "names for each statement a test that is there")
    )
  ),
  section(
    "docs/claims.md",
    holds("This page is written from the claims.", script("claims", "is what scripts/write-claims.ts writes"))
  )
]
