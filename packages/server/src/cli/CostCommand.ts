/** `effect-wal cost`: what a log costs, from flags or from the counters of a running server. */
import { formatDuration } from "@effect-wal/core/config/DurationText"
import { s3StandardUsEast1 } from "@effect-wal/core/StorePrices"
import { Clock, Console, Duration, Effect, Option, type Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { clientErrorOf, makeTransport } from "../client/Transport.ts"
import { costView, pricesText } from "./CostTable.ts"
import { tellClientError } from "./data/ServerTarget.ts"
import { serverAt, targetFlags } from "./data/TargetFlags.ts"
import { CommandFailed, usageError } from "./Failure.ts"
import { runHandler } from "./Handler.ts"
import { liveCostColumns, liveCosts } from "./LiveCost.ts"
import { loadFlags, type LoadInput, modelInput } from "./LoadFlags.ts"
import { parseMetrics } from "./MetricsText.ts"
import { Json, print, rowsView } from "./Output.ts"
import { amountFlag, durationFlag } from "./QuantityFlags.ts"

interface CostInput extends LoadInput {
  readonly ratio: number
  readonly readers: number
  readonly storedFor: Duration.Duration
  readonly url: Option.Option<string>
  readonly token: Option.Option<Redacted.Redacted>
  readonly tokenFile: Option.Option<string>
  readonly over: Duration.Duration
}

const flags = {
  ...loadFlags,
  ratio: amountFlag("compression-ratio", 0.01).pipe(
    Flag.withDescription(
      "Raw bytes for each stored byte, as the metric wal_compression_ratio says it of a running log; default: 1"
    ),
    Flag.withDefault(1)
  ),
  readers: amountFlag("store-readers", 0).pipe(
    Flag.withDescription(
      "Readers that fetch every segment from the store; those that keep up with the writer need none; default: 0"
    ),
    Flag.withDefault(0)
  ),
  storedFor: durationFlag("stored-for").pipe(
    Flag.withDescription(
      "How long a record stays stored, until it is committed and deleted or as retention says; default: 1d"
    ),
    Flag.withDefault(Duration.days(1))
  ),
  url: Flag.String("url").pipe(
    Flag.withMetavar("url"),
    Flag.withDescription("Of the logs of a running server, by their own counters"),
    Flag.optional
  ),
  token: targetFlags.token,
  tokenFile: targetFlags.tokenFile,
  over: durationFlag("over").pipe(
    Flag.withDescription("With --url: how long the counters are watched; default: 10s"),
    Flag.withDefault(Duration.seconds(10))
  )
}

const localCosts = (name: string): CommandFailed =>
  new CommandFailed({
    code: "local_log",
    message: `${name} is kept on this machine's disk: it makes no requests, so there is nothing to compute`,
    next: "Name a stream with type: object_store, or give a preset instead of --config.",
    exit: "usage"
  })

const live = Effect.fnUntraced(function*(url: string, input: CostInput) {
  const { over, storedFor, stream } = input
  const { token, url: address } = yield* serverAt(input, url)
  const { checked } = yield* makeTransport({ url: address, ...token === undefined ? {} : { token } })
  const look = checked.get("/metrics").pipe(
    Effect.flatMap((answer) => Effect.mapError(answer.text, clientErrorOf)),
    Effect.mapError(tellClientError),
    Effect.map(parseMetrics),
    Effect.flatMap((samples) => Effect.map(Clock.currentTimeMillis, (millis) => ({ samples, millis })))
  )
  const before = yield* look
  if (!(yield* Json)) yield* Console.error(`watching the counters for ${formatDuration(over)} ...`)
  yield* Effect.sleep(over)
  const after = yield* look
  const all = liveCosts({
    before: before.samples,
    after: after.samples,
    millis: Math.max(1, after.millis - before.millis),
    storedForMillis: Duration.toMillis(storedFor)
  })
  const rows = all.filter((row) => Option.isNone(stream) || row.stream === stream.value)
  if (rows.length === 0) return yield* noSuchLog(stream, all.map((row) => row.stream))
  const view = rowsView(liveCostColumns, rows)
  yield* print({ ...view, text: () => `${view.text()}\n\n${pricesText(s3StandardUsEast1)}` })
}, Effect.provide(FetchHttpClient.layer))

const noSuchLog = (stream: Option.Option<string>, open: ReadonlyArray<string>): CommandFailed =>
  new CommandFailed({
    code: "stream_not_found",
    message: Option.isNone(stream) ? "the server has no open log" : `the server has no open log ${stream.value}`,
    next: open.length === 0
      ? "See why with `effect-wal status --url`."
      : `Name one of ${open.join(", ")} with --stream.`,
    exit: "notFound"
  })

/** Of a running server its counters say what the settings of a log would say of another one. */
const checkLive = Effect.fnUntraced(function*({ config, depth, preset, workers }: CostInput) {
  const given = [["config", config], ["preset", preset], ["workers", workers], ["pipeline-depth", depth]] as const
  const wrong = given.find(([, value]) => Option.isSome<unknown>(value))
  if (wrong === undefined) return
  return yield* usageError(
    `--url and --${wrong[0]}: the cost is that of a running server, by its counters, or of settings`,
    "Give one of them."
  )
})

const cost = Effect.fnUntraced(function*(input: CostInput) {
  if (Option.isSome(input.url)) {
    yield* checkLive(input)
    return yield* live(input.url.value, input)
  }
  if (Option.isSome(input.token) || Option.isSome(input.tokenFile)) {
    return yield* usageError("--token and --token-file are for a server", "Name it with --url, or leave the token out.")
  }
  const model = yield* modelInput(input)
  if (model.isLocal) return yield* localCosts(model.name)
  yield* print(costView(model, {
    ...model.conditions,
    storedFor: input.storedFor,
    compressionRatio: input.ratio,
    storeReaders: input.readers
  }))
}, runHandler)

/** The command. */
export const costCommand = Command.make("cost", flags, cost).pipe(
  Command.withDescription(
    "Compute requests, storage and dollars a month of a steady load on an object store. With --url: of a running server, " +
      "by its own counters, at its present rate. docs/cost.md says what is modelled."
  ),
  Command.withShortDescription("Requests, storage and dollars a month"),
  Command.withExamples([
    {
      command: "effect-wal cost --rate 10000 --record-bytes 1kB --preset balanced",
      description: "Of a preset at a rate"
    },
    {
      command: "effect-wal cost --config wal.yaml --stream orders --rate 500 --compression-ratio 4 --stored-for 30d",
      description: "Of a configured stream whose records stay for a month"
    },
    { command: "effect-wal cost --url http://127.0.0.1:8180 --over 60s", description: "Of what a server does now" }
  ])
)
