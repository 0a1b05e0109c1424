/**
 * The flags that describe a log and its load to the models of cost and loss: a preset and what overrides it, or a stream of
 * a configuration.
 */
import { presetNames } from "@effect-wal/core/config/Presets"
import { resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import type { Conditions, Load } from "@effect-wal/core/model/SegmentRhythm"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { Duration, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { configFlag, loadNamedConfig } from "./ConfigFlag.ts"
import { CommandFailed, usageError } from "./Failure.ts"
import { amountFlag, countFlag, durationFlag, sizeFlag } from "./QuantityFlags.ts"
import { chooseStream, streamFlag } from "./StreamFlag.ts"

/** Flags of `cost` and `loss-window`. */
export const loadFlags = {
  rate: amountFlag("rate", 0).pipe(
    Flag.withDescription("Records a second that flow in; default: 1000"),
    Flag.withDefault(1_000)
  ),
  recordBytes: sizeFlag("record-bytes").pipe(
    Flag.withDescription("Size of a record: payload, key and headers; default: 1000"),
    Flag.withDefault(1_000)
  ),
  preset: Flag.Literals("preset", presetNames).pipe(
    Flag.withDescription("What a segment gathers; default: balanced"),
    Flag.optional
  ),
  workers: countFlag("workers", 1, 8).pipe(Flag.withDescription("Uploads side by side; default: 1"), Flag.optional),
  depth: countFlag("pipeline-depth", 1, 8).pipe(
    Flag.withDescription("PUTs in flight for each worker; default: 1"),
    Flag.optional
  ),
  latency: durationFlag("put-latency").pipe(
    Flag.withDescription("How long the store takes for one PUT, which `doctor` measures; default: 60ms"),
    Flag.withDefault(Duration.millis(60))
  ),
  unattended: Flag.Boolean("nobody-waits").pipe(
    Flag.withDescription("Nobody waits for durability, so segments are not sealed on demand"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  config: configFlag.pipe(Flag.withDescription("Take the settings of a stream of this file instead of a preset")),
  stream: streamFlag
}

/** What the flags of a log and its load parse to. */
export interface LoadInput {
  readonly rate: number
  readonly recordBytes: number
  readonly preset: Option.Option<(typeof presetNames)[number]>
  readonly workers: Option.Option<number>
  readonly depth: Option.Option<number>
  readonly latency: Duration.Duration
  readonly unattended: boolean
  readonly config: Option.Option<string>
  readonly stream: Option.Option<string>
}

/** A log and its load, for the models. */
export interface ModelInput {
  /** What is modelled, for people. */
  readonly name: string
  readonly settings: WalOptions
  readonly load: Load
  readonly conditions: Conditions
  /** Segments are put into a store that takes money for requests. */
  readonly isLocal: boolean
}

const contradiction = (flag: string): CommandFailed =>
  new CommandFailed({
    code: "flags_contradict",
    message: `--${flag} and --config say the same thing twice`,
    next: `Leave out one of the two: with --config the settings are those of the stream.`,
    exit: "usage"
  })

const settingsOf = Effect.fnUntraced(function*(input: LoadInput) {
  if (Option.isSome(input.config)) {
    if (Option.isSome(input.preset)) return yield* contradiction("preset")
    if (Option.isSome(input.workers)) return yield* contradiction("workers")
    if (Option.isSome(input.depth)) return yield* contradiction("pipeline-depth")
    const stream = yield* Effect.flatMap(
      loadNamedConfig(input.config),
      (loaded) => chooseStream(loaded, input.stream)
    )
    return { name: `stream ${stream.id}`, settings: stream.options, isLocal: stream.store.type === "local" }
  }
  if (Option.isSome(input.stream)) {
    return yield* usageError(
      "--stream names a stream of a configuration",
      "Name the file with --config, or leave it out."
    )
  }
  const preset = Option.getOrElse(input.preset, () => "balanced" as const)
  const workers = Option.getOrElse(input.workers, () => 1)
  const pipelineDepth = Option.getOrElse(input.depth, () => 1)
  const settings = yield* resolveOptions({
    nodeId: "node",
    streamId: "log",
    preset,
    parallelPut: { workers, pipelineDepth }
  })
  return { name: `preset ${preset}, ${workers} × ${pipelineDepth} PUTs at a time`, settings, isLocal: false }
})

/** The log and its load that the flags describe. */
export const modelInput = Effect.fnUntraced(function*(input: LoadInput) {
  const model = yield* settingsOf(input)
  return {
    ...model,
    load: { recordsPerSecond: input.rate, recordBytes: input.recordBytes },
    conditions: { putLatencyMillis: Duration.toMillis(input.latency), waiting: !input.unattended }
  } satisfies ModelInput
})
