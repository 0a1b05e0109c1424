/** What a described load costs, as the models compute it. */
import { medianAckMillis } from "@effect-wal/core/model/AckLatency"
import { type Cost, type CostConditions, costOf } from "@effect-wal/core/model/CostModel"
import { type SegmentRhythm, segmentRhythm } from "@effect-wal/core/model/SegmentRhythm"
import { rateWarning } from "@effect-wal/core/model/ThroughputCeiling"
import { s3StandardUsEast1, type StorePrices } from "@effect-wal/core/StorePrices"
import { Duration } from "effect"
import type { ModelInput } from "./LoadFlags.ts"
import { type Column, fieldsView, joinViews, rowsView, type View } from "./Output.ts"

interface Costed extends ModelInput {
  readonly cost: Cost
  readonly rhythm: SegmentRhythm
  readonly ackMillis: number
  readonly storedFor: Duration.Duration
}

const columns: ReadonlyArray<Column<Costed>> = [
  { name: "settings", kind: "text", value: (row) => row.name },
  { name: "records_per_second", title: "records", kind: "rate", value: (row) => row.load.recordsPerSecond },
  { name: "record_bytes", title: "record size", kind: "bytes", value: (row) => row.load.recordBytes },
  { name: "segments_per_second", title: "segments", kind: "rate", value: (row) => row.rhythm.segmentsPerSecond },
  { name: "records_per_segment", kind: "count", value: (row) => row.rhythm.recordsPerSegment },
  { name: "sealed_by", title: "a segment is sealed by", kind: "text", value: (row) => row.rhythm.sealedBy },
  { name: "p50_ack_ms", title: "p50 until durable", kind: "millis", value: (row) => row.ackMillis },
  {
    name: "stored_for_ms",
    title: "a record is stored for",
    kind: "millis",
    value: (row) => Duration.toMillis(row.storedFor)
  },
  { name: "stored_bytes", title: "stored", kind: "bytes", value: (row) => row.cost.storedBytes }
]

interface CostRow {
  readonly item: string
  readonly perHour: number | undefined
  readonly perMonth: number | undefined
  readonly dollars: number
}

const rowsOf = ({ dollarsPerMonth, perHour, perMonth }: Cost): ReadonlyArray<CostRow> => [
  ...([
    ["segment PUTs", "segmentPuts"],
    ["manifest PUTs", "manifestPuts"],
    ["GETs", "gets"],
    ["LISTs", "lists"]
  ] as const).map(([item, name]) => ({
    item,
    perHour: perHour[name],
    perMonth: perMonth[name],
    dollars: dollarsPerMonth[name]
  })),
  { item: "storage", perHour: undefined, perMonth: undefined, dollars: dollarsPerMonth.storage },
  { item: "total", perHour: undefined, perMonth: undefined, dollars: dollarsPerMonth.total }
]

const rowColumns: ReadonlyArray<Column<CostRow>> = [
  { name: "item", title: "", kind: "text", value: (row) => row.item },
  { name: "per_hour", title: "an hour", kind: "count", value: (row) => row.perHour },
  { name: "per_month", title: "a month", kind: "count", value: (row) => row.perMonth },
  { name: "dollars_per_month", title: "dollars a month", kind: "dollars", value: (row) => row.dollars }
]

/** What the prices are and where they come from. */
export const pricesText = ({ asOf, name, url }: StorePrices): string =>
  `Prices: ${name}, ${asOf}; ${url} says what holds today. A month is 30 days. Traffic is not counted.`

/** The table of a load, and one JSON object. */
export const costView = (model: ModelInput, conditions: CostConditions): View => {
  const cost = costOf(model.settings, model.load, conditions)
  const costed: Costed = {
    ...model,
    cost,
    rhythm: segmentRhythm(model.settings, model.load, conditions),
    ackMillis: medianAckMillis(model.settings, model.load, conditions),
    storedFor: conditions.storedFor
  }
  const prices = conditions.prices ?? s3StandardUsEast1
  const warning = rateWarning(model.settings, model.load, conditions)
  const fields = fieldsView(columns, costed)
  const text = joinViews([fields, rowsView(rowColumns, rowsOf(cost))]).text
  return {
    text: () => [text(), pricesText(prices), ...warning === undefined ? [] : [`warning: ${warning}`]].join("\n\n"),
    json: [{
      ...Object.fromEntries(columns.map(({ name, value }) => [name, value(costed)])),
      requests_per_hour: snake(cost.perHour),
      requests_per_month: snake(cost.perMonth),
      requests_per_segment: cost.requestsPerSegment,
      dollars_per_month: {
        ...snake(cost.dollarsPerMonth),
        storage: cost.dollarsPerMonth.storage,
        total: cost.dollarsPerMonth.total
      },
      prices: { name: prices.name, as_of: prices.asOf },
      ...warning === undefined ? {} : { warning }
    }]
  }
}

const snake = ({ gets, lists, manifestPuts, segmentPuts }: Cost["perHour"]) => ({
  segment_puts: segmentPuts,
  manifest_puts: manifestPuts,
  gets,
  lists
})
