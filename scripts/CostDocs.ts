/**
 * `docs/cost.md`, written from the models, so that it cannot say anything else than what they compute.
 */
import { Duration, Effect } from "effect"
import { type PresetName, presetNames } from "../packages/core/src/config/Presets.ts"
import { resolveOptions, type WalOptionsInput } from "../packages/core/src/config/ResolveOptions.ts"
import { medianAckMillis } from "../packages/core/src/model/AckLatency.ts"
import { costOf, requestsOfOpening } from "../packages/core/src/model/CostModel.ts"
import { duplicateWindow } from "../packages/core/src/model/DuplicateWindow.ts"
import { lossWindow, sourceWindow, usualLossWindow } from "../packages/core/src/model/LossWindow.ts"
import { type Load, segmentRhythm } from "../packages/core/src/model/SegmentRhythm.ts"
import { throughputCeiling } from "../packages/core/src/model/ThroughputCeiling.ts"
import { s3StandardUsEast1 } from "../packages/core/src/StorePrices.ts"
import type { WalOptions } from "../packages/core/src/WalOptions.ts"
import { recordOverheadBytes } from "../packages/core/src/write/RecordCheck.ts"

const putLatencyMillis = 60
const recordBytes = 1_000
const waiting = { putLatencyMillis, waiting: true }
const unattended = { putLatencyMillis, waiting: false }
const sourceLoad: Load = { recordsPerSecond: 10_000, recordBytes }
const storedFor = Duration.days(30)

const settingsOf = (input: Partial<WalOptionsInput>) => resolveOptions({ nodeId: "node", streamId: "log", ...input })

const whole = (value: number): string => Math.round(value).toLocaleString("en-US")
const short = (value: number): string => value < 100 ? String(Math.round(value * 10) / 10) : whole(value)
const dollars = (value: number): string =>
  `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
const megabytes = (bytesPerSecond: number): string => `${short(bytesPerSecond / 1e6)} MB/s`
const terabytes = (bytes: number): string => `${short(bytes / 1e12)} TB`
const code = (text: string): string => `\`${text}\``

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

type Presets = ReadonlyArray<readonly [name: PresetName, settings: WalOptions]>

const presetRow = (name: PresetName, settings: WalOptions, recordsPerSecond: number): ReadonlyArray<string> => {
  const load = { recordsPerSecond, recordBytes }
  const { pipelineDepth, workers } = settings.parallelPut
  const head = [code(name), `${workers} × ${pipelineDepth}`, whole(recordsPerSecond)]
  const ceiling = throughputCeiling(settings, recordBytes, waiting).recordsPerSecond
  if (recordsPerSecond > ceiling) return [...head, `carries ${whole(ceiling)}/s`, "", "", ""]
  const { gets, lists, manifestPuts, segmentPuts } = costOf(settings, load, { ...waiting, storedFor }).dollarsPerMonth
  return [
    ...head,
    `${whole(medianAckMillis(settings, load, waiting))} ms`,
    short(segmentRhythm(settings, load, waiting).segmentsPerSecond),
    dollars(segmentPuts + manifestPuts + gets + lists),
    whole(usualLossWindow(settings, load, waiting).records)
  ]
}

/** Preset × rate: what waiting for durability takes, and what it costs. */
export const presetTable = (presets: Presets): string =>
  table(
    [
      "preset",
      "workers × depth",
      "records/s",
      "p50 until durable",
      "PUT/s",
      "requests a month",
      "at risk, store answering"
    ],
    presets.flatMap(([name, settings]) => [10, 100, 1_000, 10_000].map((rate) => presetRow(name, settings, rate)))
  )

/** Callers at a rate that linger alone would send ten PUTs a second or more for. */
const budgetLoad: Load = { recordsPerSecond: 100, recordBytes }

const budgetTable = Effect.fnUntraced(function*() {
  const row = Effect.fnUntraced(function*(preset: PresetName, flushInterval: "1s" | "10s", dollarsPerMonth: number) {
    const budget = dollarsPerMonth === Infinity ? {} : { budget: { dollarsPerMonth } }
    const settings = yield* settingsOf({ preset, segment: { flushInterval }, ...budget })
    const [, , , p50 = "", puts = "", spent = ""] = presetRow(preset, settings, budgetLoad.recordsPerSecond)
    const shown = dollarsPerMonth === Infinity ? "none" : dollars(dollarsPerMonth)
    return [code(preset), code(flushInterval), shown, p50, puts, spent]
  })
  const rows = yield* Effect.forEach(
    ([["balanced", "1s"], ["balanced", "10s"], ["aggressive", "10s"]] as const).flatMap(([preset, interval]) =>
      [Infinity, 50, 10, 1].map((budget) => [preset, interval, budget] as const)
    ),
    ([preset, interval, budget]) => row(preset, interval, budget)
  )
  const head = ["preset", "flush_interval", "budget a month", "p50 until durable", "segments/s", "requests a month"]
  return table(head, rows)
})

const exampleTable = (settings: WalOptions): string => {
  const cost = costOf(settings, sourceLoad, { ...unattended, storedFor })
  const { manifestPuts, segmentPuts, storage, total } = cost.dollarsPerMonth
  return table(["", "the source document", "in truth"], [
    ["segment PUTs an hour", "36", whole(cost.perHour.segmentPuts)],
    ["segment PUTs a month", "25,920", whole(cost.perMonth.segmentPuts)],
    ["", "$0.13", dollars(segmentPuts)],
    ["manifest PUTs a month", "324,000", whole(cost.perMonth.manifestPuts)],
    ["", "$1.62", dollars(manifestPuts)],
    ["stored after a month", "259 GB", terabytes(cost.storedBytes)],
    ["", "$5.96", dollars(storage)],
    ["total", "$7.71", dollars(total)]
  ])
}

const retentionTable = (settings: WalOptions): string =>
  table(
    ["a record is stored for", "compression", "stored", "storage a month"],
    ([["10 minutes", 1], ["1 day", 1], ["1 day", 4], ["30 days", 1], ["30 days", 4]] as const).map(([time, ratio]) => {
      const cost = costOf(settings, sourceLoad, {
        ...unattended,
        storedFor: Duration.fromInputUnsafe(time),
        compressionRatio: ratio
      })
      return [time, `${ratio} ×`, `${short(cost.storedBytes / 1e9)} GB`, dollars(cost.dollarsPerMonth.storage)]
    })
  )

const manifestTable = Effect.fnUntraced(function*() {
  const sealing = { segment: { maxEntries: 10, flushInterval: "1h" } } as const
  const batched = yield* settingsOf(sealing)
  const hasty = yield* settingsOf({ ...sealing, manifest: { maxDelay: "100ms" } })
  const rows = [0.1, 0.5, 0.8, 1, 10, 100].map((segmentsPerSecond) => {
    const load = { recordsPerSecond: segmentsPerSecond * 10, recordBytes }
    const requests = (settings: WalOptions) =>
      costOf(settings, load, { putLatencyMillis: 1, waiting: false, storedFor }).requestsPerSegment.toFixed(2)
    return [String(segmentsPerSecond), requests(hasty), requests(batched)]
  })
  return table(["segments/s", "8 segments or 100 ms", "8 segments or 10 s (default)"], rows)
})

const claimedLoss: Readonly<Record<PresetName, string>> = {
  aggressive: "100,000",
  balanced: "10,000",
  low_latency: "1,000"
}

const lossTable = (presets: Presets): string =>
  table(
    [
      "preset",
      "the source documents",
      "their formula",
      "most, store not answering",
      "of it open",
      "queued",
      "in flight"
    ],
    presets.map(([name, settings]) => {
      const most = lossWindow(settings, sourceLoad)
      const parts = [most.records, most.open, most.queued, most.inFlight].map(whole)
      return [code(name), claimedLoss[name], whole(sourceWindow(settings, sourceLoad)), ...parts]
    })
  )

const workersTable = Effect.fnUntraced(function*() {
  const row = Effect.fnUntraced(function*(preset: PresetName, workers: number, pipelineDepth: number) {
    const settings = yield* settingsOf({ preset, parallelPut: { workers, pipelineDepth } })
    const loss = lossWindow(settings, sourceLoad)
    const ceiling = throughputCeiling(settings, recordBytes, { putLatencyMillis })
    const limit = loss.limitedBy === "segments" ? "" : code(loss.limitedBy)
    const lanes = [String(workers), String(pipelineDepth)]
    return [code(preset), ...lanes, megabytes(ceiling.bytesPerSecond), whole(loss.records), limit]
  })
  const lanes = [[1, 1], [4, 1], [8, 1], [8, 8]] as const
  const rows = yield* Effect.forEach(
    presetNames.flatMap((preset) => lanes.map(([workers, depth]) => [preset, workers, depth] as const)),
    ([preset, workers, depth]) => row(preset, workers, depth)
  )
  return table(["preset", "workers", "pipeline_depth", "carries at most", "at risk at most", "bounded by"], rows)
})

const duplicateTable = Effect.fnUntraced(function*() {
  const claims = [["100ms", "100"], ["1s", "1,000"], ["10s", "10,000"]] as const
  const rows = yield* Effect.forEach(
    claims,
    Effect.fnUntraced(function*([interval, claimed]) {
      const settings = yield* settingsOf({ cursor: { interval } })
      const load = { recordsPerSecond: 1_000, putLatencyMillis }
      const { segmentsPerSecond } = segmentRhythm(settings, { recordsPerSecond: 1_000, recordBytes }, waiting)
      const windows = [
        duplicateWindow(settings, load),
        duplicateWindow(settings, { ...load, segmentEveryMillis: 1_000 / segmentsPerSecond })
      ]
      const found = windows.map(({ records, storedBy }) => `${whole(records)} (${storedBy.replaceAll("_", " ")})`)
      return [code(interval), claimed, ...found]
    })
  )
  return table(
    ["cursor.interval", "the source document", "nothing is appended", "1,000 a second are appended too"],
    rows
  )
})

const pricesText = (): string => {
  const { asOf, name, per1000Gets, per1000Lists, per1000Puts, perGigabyteMonth, url } = s3StandardUsEast1
  return `Prices: ${name}, ${asOf}, from the source document; <${url}> says what holds today.
$${per1000Puts} for 1,000 PUTs, $${per1000Gets} for 1,000 GETs, $${per1000Lists} for 1,000 LISTs, $${perGigabyteMonth} for a gigabyte
(10^9 bytes) a month of 30 days. Deletions are free. Not counted: traffic, the bytes of the format around the records, and
tries after a failure.`
}

/** The text of `docs/cost.md`. */
export const renderCostDocs = Effect.gen(function*() {
  const presets = yield* Effect.forEach(
    presetNames,
    (name) => Effect.map(settingsOf({ preset: name }), (settings) => [name, settings] as const)
  )
  const settings = yield* settingsOf({})
  const lanes = yield* settingsOf({ preset: "low_latency", parallelPut: { workers: 8, pipelineDepth: 2 } })
  return `<!-- Written by scripts/write-cost-docs.ts from packages/core/src/model; a test fails when it is edited by hand. -->

# What it costs, what a crash can lose, what comes twice

Every number here is computed by a function of \`packages/core/src/model\`, which tests hold against a real log on a store
with a clock of its own. They are models: records of ${
    whole(recordBytes)
  } bytes that come evenly spaced, and PUTs that all
take ${putLatencyMillis} ms. \`wal.status\` and the metrics say what a running log does.

${pricesText()}

## Latency against cost

Callers wait for durability. A segment is sealed \`linger\` after its first record where a worker is free; under load it
gathers until one is. Storage comes on top. An idle log makes no requests and costs nothing but its storage. \`linger\`
equal to \`flush_interval\` gives the rates of the source documents.

${presetTable([...presets, ["low_latency", lanes]])}

## A budget

\`budget\` says what all PUTs of a log may come to, in PUTs a second or in dollars a month. While more were sent of late,
\`linger\` is stretched for who waits for durability, up to \`flush_interval\` and never beyond it: that bounds the
wait, and with it how small a budget can be kept to. Full segments and flushes are not held back.
${whole(budgetLoad.recordsPerSecond)} records a second, one worker:

${yield* budgetTable()}

## The example of the source document

${whole(sourceLoad.recordsPerSecond)} records a second of ${
    whole(recordBytes)
  } bytes, preset \`balanced\`, nobody waits, everything is kept for a month.

${exampleTable(settings)}

Deletion makes storage a constant: what matters is how long a record stays.

${retentionTable(settings)}

## Requests a segment

One PUT, and its share of the manifest. A reader that fetches from the store adds a GET a segment; one that keeps up
inside the writer's process adds none. An opening is at most ${requestsOfOpening.puts} PUTs, ${requestsOfOpening.gets} GETs
and ${requestsOfOpening.lists} LIST, and a GET for each segment that is replayed.

${yield* manifestTable()}

## What a crash can lose

Records that were accepted and are not durable, at ${whole(sourceLoad.recordsPerSecond)} records a second. Who waits for
durability loses nothing.

${lossTable(presets)}

\`max_buffered_bytes\` (256 MiB by default) caps it; a record counts ${recordOverheadBytes} bytes more than its content. Then append waits.
Workers and \`pipeline_depth\` raise what is carried, segment size × lanes ÷ latency, and what is at risk. A
network of 1 Gbit/s carries ${megabytes(125e6)}, whatever stands here.

${yield* workersTable()}

## What is delivered again

Records that a cursor moved over and whose mark was not stored yet, with 1,000 a second committed and \`cursor.max_entries\`
of 1,000. Segments that are appended carry the cursor for nothing; else the manifest is written.

${yield* duplicateTable()}
`
})
