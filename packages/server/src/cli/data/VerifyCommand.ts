/** `effect-wal verify`: proves that a stored log is whole, or tells what is wrong. Nothing is written. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import {
  adviceOf,
  describeFinding,
  type Finding,
  verify as verifyLog,
  type VerifyReport
} from "@effect-wal/core/WalVerify"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { exitWith } from "../ExitCode.ts"
import { type Column, fieldsView, print, valueView } from "../Output.ts"
import { progress } from "../Progress.ts"
import { onStore } from "./DataHandler.ts"
import { openForReading } from "./StoreAccess.ts"
import { chosenConfig } from "./StoreStream.ts"
import { lookOptionsOf } from "./StoreTarget.ts"
import { storeFlags, type StoreInput } from "./TargetFlags.ts"

const findingView = (finding: Finding) => {
  const { _tag: _, ...fields } = finding
  const advice = adviceOf(finding)
  return valueView({ finding: { ...fields, advice } }, `${describeFinding(finding)}\n  what to do: ${advice}`)
}

const columns: ReadonlyArray<Column<VerifyReport>> = [
  { name: "intact", kind: "flag", value: (row) => row.intact },
  { name: "log_id", kind: "text", value: (row) => row.logId },
  { name: "epochs", kind: "count", value: (row) => row.epochs },
  { name: "segments", kind: "count", value: (row) => row.segments },
  { name: "records", kind: "count", value: (row) => row.records },
  { name: "bytes", kind: "bytes", value: (row) => row.bytes },
  { name: "trimmed_to", kind: "id", value: (row) => row.trimmedTo },
  { name: "durable", kind: "id", value: (row) => row.durable },
  { name: "findings", kind: "count", value: (row) => row.findings },
  { name: "known_findings", title: "of them known", kind: "count", value: (row) => row.knownFindings },
  { name: "garbage_below_trim", kind: "count", value: (row) => row.garbage.belowTrim },
  { name: "garbage_beyond_ends", kind: "count", value: (row) => row.garbage.beyondEnds },
  { name: "foreign_objects", kind: "count", value: (row) => row.foreign }
]

/** Runs it to its end and prints the findings as they come; answers the report. */
const verifyAll = Effect.fnUntraced(function*(input: StoreInput) {
  const stream = yield* chosenConfig(input)
  const store = yield* openForReading(stream)
  const shown = yield* progress({ label: `verifying ${stream.id}`, kind: "count", unit: "segments" })
  const ended: { report?: VerifyReport } = {}
  yield* verifyLog(lookOptionsOf(stream.options)).pipe(
    Stream.provideService(ObjectStore, store),
    Stream.runForEach((event) => {
      switch (event._tag) {
        case "Progress":
          return Effect.andThen(shown.expect(event.segmentsTotal), shown.set(event.segments))
        case "Finding":
          return print(findingView(event))
        case "Report":
          ended.report = event
          return shown.set(event.segments)
      }
    })
  )
  return ended.report ?? (yield* Effect.die(new Error("a verification ended without a report")))
}, Effect.scoped)

const verify = (input: StoreInput) =>
  onStore(
    "reads",
    input,
    Effect.gen(function*() {
      const report = yield* verifyAll(input)
      yield* print(fieldsView(columns, report))
      if (!report.intact) return yield* exitWith("damaged")
    })
  )

/** The command. */
export const verifyCommand = Command.make("verify", storeFlags, verify).pipe(
  Command.withDescription(
    "Read every object of a stored log and check headers, lengths, checksums, numbers, the chain and the manifest. Works on " +
      "stores only, and changes nothing. A writer may be at work, but for a local log, which must have no writer: stop its " +
      "server first. Ends with 4 where something is wrong that no repair has recorded."
  ),
  Command.withShortDescription("Prove that a stored log is whole"),
  Command.withExamples([
    { command: "effect-wal verify --config wal.yaml --stream orders", description: "Findings, then a report" },
    { command: "effect-wal verify --config wal.yaml --json", description: "A finding a line, the report last" }
  ])
)
