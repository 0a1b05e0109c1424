/** What each preset brings with how many workers, in front of a store like S3. */
import { type PresetName, presetNames, presets } from "@effect-wal/core/config/Presets"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Effect, References } from "effect"
import type { BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { quantile, spreadOf } from "../Stats.ts"
import { type StoreProcess, withStore } from "../store/StoreProcess.ts"
import { serveEffect } from "../support/Callers.ts"
import { likeS3 } from "../support/LikeS3.ts"
import { durably, fill, fullSpeed, replaySpeed } from "../support/LogLoad.ts"
import { type LogOptions, openLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withClient } from "../support/RemoteLog.ts"

type Client = ObjectStore["Service"]

const workersTried = [1, 4, 8] as const
const recordBytes = 1_024
const callers = 64
/** Segments of a log that is read again, as far as that is not too much. */
const replaySegments = 48
const mostReplayBytes = 24 * 1_048_576

/** What was measured of one preset with so many workers, pass by pass. */
interface Combination {
  readonly preset: PresetName
  readonly workers: number
  readonly speeds: Array<number>
  readonly puts: Array<number>
  readonly waits: Array<number>
  readonly replays: Array<number>
}

const combinations = (): ReadonlyArray<Combination> =>
  presetNames.flatMap((preset) =>
    workersTried.map((workers) => ({ preset, workers, speeds: [], puts: [], waits: [], replays: [] }))
  )

/** Memory for little more than what is under way: at the end of a pass all of it is stored before the next one. */
const optionsOf = ({ preset, workers }: Pick<Combination, "preset" | "workers">, prefix: string): LogOptions => ({
  preset,
  prefix,
  parallelPut: { workers },
  maxBufferedBytes: (2 * workers + 2) * presets[preset].maxBytes,
  maxRecordBytes: "16KiB",
  retention: { policy: "keep" }
})

/** A log of its own for each pass: the store keeps no segments, so that none can be opened again. */
const prefixOf = (use: string, { preset, workers }: Combination, nth: number): string =>
  `${use}-${nth}-${preset}-${workers}`

/** As much as it takes: durable megabytes a second, and PUTs a second. */
const atFullSpeed = Effect.fnUntraced(
  function*(client: Client, store: StoreProcess, combination: Combination, nth: number, millis: number) {
    const records = recordsOf(payloadsOf(100, recordBytes))
    const wal = yield* openLog(client, optionsOf(combination, prefixOf("full", combination, nth)))
    const counts = Effect.promise(() => store.counts())
    const reached = yield* fullSpeed(wal, records, millis, counts)
    combination.speeds.push(reached.megabytesPerSecond)
    combination.puts.push((yield* counts).PUT / reached.millis * 1_000)
  },
  Effect.scoped
)

/** A few callers that wait for durability: the median of what they wait. They take so little that all can be seen at once. */
const waits = Effect.fnUntraced(function*(client: Client, combination: Combination, nth: number, millis: number) {
  const wal = yield* openLog(client, optionsOf(combination, prefixOf("wait", combination, nth)))
  const served = yield* serveEffect({ callers, batch: 1 }, millis, durably(wal, recordsOf(payloadsOf(1, recordBytes))))
  combination.waits.push(quantile(served.waits, 0.5))
}, Effect.scoped)

const replay = Effect.fnUntraced(
  function*(client: Client, combination: Combination) {
    const wal = yield* openLog(client, optionsOf(combination, `replay-${combination.preset}`))
    combination.replays.push(yield* replaySpeed(wal))
  },
  Effect.scoped,
  Effect.provideService(References.MinimumLogLevel, "None")
)

/** A log of each preset, to be read. */
const fillAll = (client: Client) =>
  Effect.forEach(presetNames, (preset) => {
    const records = recordsOf(payloadsOf(100, recordBytes))
    const options = optionsOf({ preset, workers: 8 }, `replay-${preset}`)
    const bytes = Math.min(mostReplayBytes, replaySegments * presets[preset].maxBytes)
    return Effect.scoped(Effect.flatMap(openLog(client, options), (wal) => fill(wal, records, bytes)))
  }, { discard: true })

const pass = Effect.fnUntraced(
  function*(context: BenchContext, all: ReadonlyArray<Combination>, store: StoreProcess, client: Client, nth: number) {
    for (const combination of all) {
      yield* atFullSpeed(client, store, combination, nth, Math.max(500, context.roundMillis / 2))
    }
    // Long enough for the preset with the longest linger.
    yield* Effect.forEach(all, (combination) => waits(client, combination, nth, 2_200), {
      concurrency: "unbounded",
      discard: true
    })
  }
)

const linesOf = ({ preset, puts, replays, speeds, waits, workers }: Combination): ReadonlyArray<Measurement> => {
  const name = `${preset}, ${workers} ${workers === 1 ? "worker" : "workers"}`
  return [
    { metric: `${name}: durable while nobody waits`, value: spreadOf(speeds), unit: "MB/s", better: "higher" },
    { metric: `${name}: PUTs meanwhile`, value: spreadOf(puts), unit: "PUT/s", better: "lower" },
    { metric: `${name}: durable, ${callers} callers, p50`, value: spreadOf(waits), unit: "ms", better: "lower" },
    { metric: `${name}: replay`, value: spreadOf(replays), unit: "MB/s", better: "higher" }
  ]
}

/** Takes the second half of the bench. With `quick` once through, else as often as there are rounds. */
export const comparePresets = async (context: BenchContext): Promise<ReadonlyArray<Measurement>> => {
  const all = combinations()
  const passes = context.quick ? 1 : context.rounds
  await withStore({ ...likeS3, keepsSegments: false }, (store) =>
    withClient(store, (client) =>
      Effect.gen(function*() {
        for (let nth = 0; nth < passes; nth++) {
          context.progress(0.5 + 0.3 * nth / passes, "presets and workers")
          yield* pass(context, all, store, client, nth)
        }
      })))
  await withStore(
    { ...likeS3, latency: { kind: "none" }, keepsSegments: true },
    (store) =>
      withClient(store, (client) =>
        Effect.gen(function*() {
          context.progress(0.8, "logs to replay")
          yield* fillAll(client)
          yield* Effect.promise(() => store.setLatency(likeS3.latency))
          for (let nth = 0; nth < passes; nth++) {
            context.progress(0.82 + 0.18 * nth / passes, "replay by preset")
            for (const combination of all) yield* replay(client, combination)
          }
        }))
  )
  return all.flatMap(linesOf)
}
