/** `effect-wal loss-window`: how many records a crash can lose at most, and usually. */
import { type LossWindow, lossWindow, usualLossWindow } from "@effect-wal/core/model/LossWindow"
import { rateWarning } from "@effect-wal/core/model/ThroughputCeiling"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { runHandler } from "./Handler.ts"
import { loadFlags, type LoadInput, type ModelInput, modelInput } from "./LoadFlags.ts"
import { type Column, fieldsView, print, type View } from "./Output.ts"

interface Risk extends ModelInput {
  readonly most: LossWindow
  readonly usual: Pick<LossWindow, "records" | "bytes">
}

const columns: ReadonlyArray<Column<Risk>> = [
  { name: "settings", kind: "text", value: (row) => row.name },
  { name: "records_per_second", title: "records", kind: "rate", value: (row) => row.load.recordsPerSecond },
  { name: "record_bytes", title: "record size", kind: "bytes", value: (row) => row.load.recordBytes },
  { name: "usual_records", title: "at risk while the store answers", kind: "count", value: (row) => row.usual.records },
  { name: "usual_bytes", title: "  bytes", kind: "bytes", value: (row) => row.usual.bytes },
  {
    name: "most_records",
    title: "at risk at most, store not answering",
    kind: "count",
    value: (row) => row.most.records
  },
  { name: "most_bytes", title: "  bytes", kind: "bytes", value: (row) => row.most.bytes },
  { name: "open_records", title: "  of it in the open segment", kind: "count", value: (row) => row.most.open },
  { name: "queued_records", title: "  queued", kind: "count", value: (row) => row.most.queued },
  { name: "in_flight_records", title: "  being uploaded", kind: "count", value: (row) => row.most.inFlight },
  { name: "limited_by", title: "bounded by", kind: "text", value: (row) => row.most.limitedBy }
]

const explanation =
  "Only records that were accepted and are not durable are at risk: who waits for durability loses nothing. " +
  "A running log says what is at risk now: `effect-wal status`."

/** The table of what is at risk, and one JSON object. */
const riskView = (model: ModelInput): View => {
  const { conditions, load, settings } = model
  const risk = { ...model, most: lossWindow(settings, load), usual: usualLossWindow(settings, load, conditions) }
  const view = fieldsView(columns, risk)
  const warning = rateWarning(settings, load, conditions)
  const warnings = warning === undefined ? [] : [`warning: ${warning}`]
  return { ...view, text: () => [view.text(), explanation, ...warnings].join("\n\n") }
}

const show = Effect.fnUntraced(function*(input: LoadInput) {
  yield* print(riskView(yield* modelInput(input)))
}, runHandler)

/** The command. */
export const lossWindowCommand = Command.make("loss-window", loadFlags, show).pipe(
  Command.withDescription(
    "Compute how many accepted records a crash can lose, by preset and rate or of a configured stream: usually, and at " +
      "most, when the store does not answer and everything that may wait does. docs/cost.md has the tables."
  ),
  Command.withShortDescription("How many accepted records a crash can lose"),
  Command.withExamples([
    { command: "effect-wal loss-window --rate 10000 --preset low_latency", description: "Of a preset at a rate" },
    { command: "effect-wal loss-window --config wal.yaml --rate 500", description: "Of the stream of a configuration" }
  ])
)
