/** `effect-wal bench`: what a configured stream's settings carry on its store, measured in a log that is thrown away. */
import { s3StandardUsEast1 } from "@effect-wal/core/StorePrices"
import { Console, Effect, type Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { StreamConfig } from "../config/ServerConfig.ts"
import { type BenchLoad, type BenchResult, runBench } from "./bench/BenchRun.ts"
import { openThrowAway } from "./bench/ThrowAwayLog.ts"
import { configFlag, loadNamedConfig } from "./ConfigFlag.ts"
import { exitWith, untilSignal } from "./ExitCode.ts"
import { CommandFailed } from "./Failure.ts"
import { runHandler } from "./Handler.ts"
import { humanBytes, humanText } from "./HumanText.ts"
import { type Column, fieldsView, Json, print } from "./Output.ts"
import { progress } from "./Progress.ts"
import { countFlag, sizeFlag } from "./QuantityFlags.ts"
import { chooseStream, streamFlag } from "./StreamFlag.ts"

interface BenchInput extends BenchLoad {
  readonly config: Option.Option<string>
  readonly stream: Option.Option<string>
  readonly yes: boolean
}

interface Measured extends BenchResult {
  readonly stream: string
  /** Keys of the throw-away log that could not be removed. */
  readonly left: ReadonlyArray<string>
}

const puts = ({ requests }: BenchResult): number => requests.create + requests.replace

const columns: ReadonlyArray<Column<Measured>> = [
  { name: "stream", title: "settings of stream", kind: "text", value: (row) => row.stream },
  { name: "records", kind: "count", value: (row) => row.records },
  { name: "record_bytes", title: "record size", kind: "bytes", value: (row) => row.recordBytes },
  { name: "batch", title: "records an append", kind: "count", value: (row) => row.batch },
  { name: "concurrency", title: "callers at a time", kind: "count", value: (row) => row.concurrency },
  { name: "payload", kind: "text", value: (row) => row.payload },
  { name: "took_ms", kind: "millis", value: (row) => row.millis },
  { name: "records_per_second", title: "records", kind: "rate", value: (row) => row.recordsPerSecond },
  { name: "bytes_per_second", title: "payload", kind: "byteRate", value: (row) => row.bytesPerSecond },
  { name: "ack_p50_ms", title: "until durable, p50", kind: "millis", value: (row) => row.ackMillis.p50 },
  { name: "ack_p90_ms", title: "until durable, p90", kind: "millis", value: (row) => row.ackMillis.p90 },
  { name: "ack_p99_ms", title: "until durable, p99", kind: "millis", value: (row) => row.ackMillis.p99 },
  { name: "ack_max_ms", title: "until durable, max", kind: "millis", value: (row) => row.ackMillis.max },
  { name: "segments", kind: "count", value: (row) => row.segments },
  { name: "compression_ratio", title: "compression", kind: "ratio", value: (row) => row.compressionRatio },
  { name: "puts", title: "PUTs", kind: "count", value: puts },
  { name: "gets", title: "GETs", kind: "count", value: (row) => row.requests.get },
  { name: "lists", title: "LISTs", kind: "count", value: (row) => row.requests.list }
]

const leftText = ({ left }: Measured): string =>
  left.length === 0
    ? "The throw-away log is removed. In a versioned bucket, old versions of its objects stay."
    : [
      `${left.length} objects of the throw-away log could not be removed; remove them by hand:`,
      ...left.slice(0, 10).map((each) => `  ${each}`),
      ...left.length > 10 ? [`  and ${left.length - 10} more`] : []
    ].join("\n")

const show = (result: Measured) => {
  const view = fieldsView(columns, result)
  return print({
    text: () => `${view.text()}\n\n${leftText(result)}`,
    json: [{ ...Object.fromEntries(columns.map(({ name, value }) => [name, value(result)])), left: result.left }]
  })
}

/** What the run would do to a bucket, said before anything is done. */
const needsYes = ({ id, options, store }: StreamConfig, load: BenchLoad): CommandFailed => {
  const bytes = load.records * load.recordBytes
  const segments = Math.ceil(Math.max(bytes / options.segment.maxBytes, load.records / options.segment.maxEntries))
  const dollars = segments * 2 * s3StandardUsEast1.per1000Puts / 1_000
  return new CommandFailed({
    code: "confirmation_needed",
    message:
      `this would store ${humanText("count", load.records)} records, ${humanBytes(bytes)} before compression, in ` +
      `bucket ${
        store.type === "s3" ? store.bucket : ""
      } with the settings of stream ${id}, in a log of its own that is ` +
      `removed at the end: at least ${humanText("count", segments)} PUTs, about ${humanText("dollars", dollars)}; ` +
      "nothing was written",
    next: "Add --yes to do it.",
    exit: "usage"
  })
}

/** Measures in a log of its own; what stays of it is known when the log is closed and removed. */
const measure = Effect.fnUntraced(function*(stream: StreamConfig, load: BenchLoad) {
  let left: ReadonlyArray<string> = []
  const run = Effect.gen(function*() {
    const log = yield* openThrowAway(stream, (keys) => {
      left = keys
    })
    const shown = yield* progress({ label: "appending", kind: "count", unit: "records", total: load.records })
    return yield* runBench(log, load, shown.advance)
  })
  const tellLeft = Effect.suspend(() =>
    left.length === 0 ? Effect.void : Console.error(`effect-wal: not removed: ${left.slice(0, 10).join(", ")}`)
  )
  const result = yield* Effect.scoped(run).pipe(Effect.onError(() => tellLeft))
  return { ...result, stream: stream.id, left } satisfies Measured as Measured
})

/** The time of each append is kept until the end. */
const maxAppends = 1_000_000

const tooManyAppends = ({ batch, records }: BenchLoad): CommandFailed =>
  new CommandFailed({
    code: "too_many_appends",
    message: `--records ${records} in calls of ${batch}: more than ${humanText("count", maxAppends)} appends`,
    next: `Give --batch ${Math.ceil(records / maxAppends)} or more, or fewer records.`,
    exit: "usage"
  })

const bench = Effect.fnUntraced(function*(input: BenchInput) {
  const stream = yield* Effect.flatMap(loadNamedConfig(input.config), (config) => chooseStream(config, input.stream))
  const { batch, concurrency, payload, recordBytes, records } = input
  if (recordBytes > stream.options.maxRecordBytes) {
    return yield* new CommandFailed({
      code: "record_too_large",
      message:
        `--record-bytes ${recordBytes}: stream ${stream.id} takes records of up to ${stream.options.maxRecordBytes}`,
      next: "Give a smaller size, or raise max_record_bytes.",
      exit: "usage"
    })
  }
  const load: BenchLoad = { batch, concurrency, payload, recordBytes, records }
  if (Math.ceil(records / batch) > maxAppends) return yield* tooManyAppends(load)
  if (stream.store.type === "s3" && !input.yes) return yield* needsYes(stream, load)
  if (stream.spool !== undefined && !(yield* Json)) {
    yield* Console.error("effect-wal: the spool is left out: it is for outages, and would leave files behind")
  }
  // Ctrl-C ends the run, and what it has stored is removed as after any other end.
  const ended = yield* untilSignal(measure(stream, load))
  yield* show(ended)
  if (ended.left.length > 0) return yield* exitWith("failed")
}, runHandler)

const flags = {
  config: configFlag,
  stream: streamFlag.pipe(Flag.withDescription("Whose settings and store are measured; its own log is not touched")),
  records: countFlag("records", 1, 100_000_000).pipe(
    Flag.withDescription("Records in all, in up to 1,000,000 appends; default: 10000"),
    Flag.withDefault(10_000)
  ),
  recordBytes: sizeFlag("record-bytes").pipe(
    Flag.withDescription("Size of a payload; default: 1000"),
    Flag.withDefault(1_000)
  ),
  batch: countFlag("batch", 1, 100_000).pipe(
    Flag.withDescription("Records of one append; default: 100"),
    Flag.withDefault(100)
  ),
  concurrency: countFlag("concurrency", 1, 10_000).pipe(
    Flag.withDescription("Callers at a time; each waits for durability before its next append; default: 16"),
    Flag.withDefault(16)
  ),
  payload: Flag.Literals("payload", ["json", "random"]).pipe(
    Flag.withDescription(
      "json: lines that resemble each other, which pack well; random: bytes that do not pack at all; default: json"
    ),
    Flag.withDefault("json")
  ),
  yes: Flag.Boolean("yes").pipe(
    Flag.withAlias("y"),
    Flag.withDescription("Write into the bucket of the configuration without asking"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  )
}

/** The command. */
export const benchCommand = Command.make("bench", flags, bench).pipe(
  Command.withDescription(
    "Measure what the settings of a stream carry on its store: records are appended to a log of their own below the same " +
      "prefix, with an id that nobody has, which is removed at the end, also after Ctrl-C. Into a bucket only with --yes, " +
      "as requests cost money. For a comparison run it twice: the first run warms up connections and caches of the store."
  ),
  Command.withShortDescription("Measure your settings on your store"),
  Command.withExamples([
    { command: "effect-wal bench --config wal.yaml --yes", description: "10,000 records of 1 kB, in calls of 100" },
    {
      command: "effect-wal bench --config wal.yaml --stream orders --records 1000 --batch 1 --concurrency 1 --yes",
      description: "One caller with one record at a time: the latency of an acknowledgement"
    }
  ])
)
