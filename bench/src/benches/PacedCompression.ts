/** How late the event loop is while a log compresses what flows in. */
import type { CompressionSetting } from "@effect-wal/core/codec/Compression"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { BenchContext } from "../Bench.ts"
import { logLines } from "../data/LogLines.ts"
import type { Measurement } from "../Line.ts"
import { type Contender, takeTurns } from "../Rounds.ts"
import { spreadOf } from "../Stats.ts"
import { bareCodec } from "../support/BareCodecs.ts"
import { loopDelayWhile } from "../support/LoopDelay.ts"
import * as NullStore from "../support/NullStore.ts"
import { withLog } from "../support/OpenLog.ts"
import { Pace } from "../support/Pace.ts"
import { recordsOf } from "../support/Payloads.ts"

const bytesPerSecond = 100e6
const segmentBytes = 1_048_576
/** Of one call. */
const batchBytes = 65_536
const batches = 32
const workers = 4

/** Works at that pace for so long and until what was begun is done; answers bytes. */
type Work = (millis: number) => Promise<number>

/** Megabytes a second of each round; the delay is what is compared. */
const contenderOf = (name: string, rates: Array<number>, work: Work): Contender => ({
  name,
  unit: "ms",
  round: (millis) =>
    loopDelayWhile(async () => {
      const startedAt = nowMillis()
      const bytes = await work(millis)
      rates.push(bytes / (nowMillis() - startedAt) / 1_000)
    })
})

interface Batch {
  readonly records: ReturnType<typeof recordsOf>
  readonly bytes: number
}

/** Lines as a server cuts them from the body of a request: views of one buffer. */
const batchOf = (seed: number): Batch => {
  const lines = logLines(batchBytes, seed)
  const body = new Uint8Array(Buffer.concat(lines))
  let end = 0
  const payloads = lines.map(({ length }) => body.subarray(end, end += length))
  return { records: recordsOf(payloads), bytes: body.length }
}

const appendAtPace = (wal: WalService, load: ReadonlyArray<Batch>): Work => (millis) =>
  Effect.runPromise(Effect.gen(function*() {
    const startedAt = nowMillis()
    const pace = new Pace(bytesPerSecond)
    let total = 0
    for (let nth = 0; nowMillis() - startedAt < millis; nth++) {
      const { bytes, records } = load[nth % load.length] ?? { bytes: 0, records: [] }
      const wait = pace.waitFor(bytes)
      // What is late comes call by call all the same: a server gets its requests from the event loop.
      yield* wait > 0 ? Effect.sleep(wait) : Effect.yieldNow
      yield* wal.append(records)
      total += bytes
    }
    yield* wal.flush
    return total
  }))

/** Segments by the bare codec, as many at one time as the log has workers. */
const packAtPace = (setting: CompressionSetting): Work => {
  const pack = bareCodec(setting)
  const body = Buffer.concat(logLines(segmentBytes, 1))
  return async (millis) => {
    const startedAt = nowMillis()
    const pace = new Pace(bytesPerSecond)
    let total = 0
    const lane = async () => {
      while (nowMillis() - startedAt < millis) {
        await pace.take(body.length)
        await pack(body)
        total += body.length
      }
    }
    await Promise.all(Array.from({ length: workers }, lane))
    return total
  }
}

/** `from` and `to`: of the whole bench. */
export const pacedCompression = async (
  context: BenchContext,
  [codec, setting]: readonly [name: string, setting: CompressionSetting],
  span: { readonly from: number; readonly to: number }
): Promise<ReadonlyArray<Measurement>> => {
  const { store } = await Effect.runPromise(NullStore.make)
  const options = {
    parallelPut: { workers },
    compression: setting,
    segment: { maxBytes: segmentBytes, maxEntries: 1_000_000 },
    // Few segments, so that a codec that cannot keep up holds back the load.
    maxBufferedBytes: 32 * segmentBytes
  }
  return withLog(store, options, (wal) =>
    Effect.promise(async () => {
      const load = Array.from({ length: batches }, (_, index) => batchOf(index + 1))
      const rates: Array<number> = []
      const results = await takeTurns(context, [
        contenderOf(`bare ${codec}`, [], packAtPace(setting)),
        contenderOf(codec, rates, appendAtPace(wal, load))
      ], span)
      const reached = spreadOf(rates.slice(1))
      const isReached = reached.median >= 0.95 * bytesPerSecond / 1e6
      const note = `reached ${reached.median.toFixed(0)} MB/s of logs with all that appending takes`
      if (!isReached) context.say(`${codec} does not get to 100 MB/s here: ${note}`)
      return [
        {
          metric: `p99 of the event loop's delay, ${codec}, logs at 100 MB/s`,
          value: results.spread(codec),
          unit: "ms",
          better: "lower",
          goal: 10,
          floor: results.named(`bare ${codec}`),
          note
        },
        {
          metric: `logs that are appended and packed, ${codec}, of 100 MB/s`,
          value: reached,
          unit: "MB/s",
          better: "higher"
        }
      ] as const
    }))
}
