/** Logs side by side that have taken so many records, each really appended: into a store that forgets segments. */
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, type Scope } from "effect"
import type { BenchContext } from "../Bench.ts"
import * as NullStore from "../support/NullStore.ts"
import { openLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"

/** Records of a segment, as the preset `low_latency` has it. */
const recordsASegment = 100
const recordBytes = 16
/** Segments of one call. */
const segmentsACall = 64

export interface GrownLog {
  /** As they were when it was grown; measuring adds little. */
  readonly records: number
  readonly segments: number
  readonly wal: WalService
  /** Bytes of its manifest as it is stored. */
  readonly manifestBytes: Effect.Effect<number, unknown>
}

const openOne = Effect.fnUntraced(function*(records: number) {
  const { store } = yield* NullStore.make
  const wal = yield* openLog(store, {
    segment: { maxEntries: recordsASegment, linger: "0ms" },
    retention: { policy: "keep" },
    // What a commit takes is measured on its own.
    manifest: { maxSegments: 65_536, maxDelay: "1h" }
  })
  const manifestBytes = Effect.map(store.get("node/log/manifest.json"), ({ body }) => body.length)
  return { records, segments: records / recordsASegment, wal, manifestBytes } satisfies GrownLog
})

/** Opens a log for each size, for the life of the scope, and appends that many records to it. */
export const growLogs = (
  context: BenchContext,
  sizes: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<GrownLog>, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const logs = yield* Effect.forEach(sizes, openOne)
    const batch = recordsOf(payloadsOf(segmentsACall * recordsASegment, recordBytes))
    const total = sizes.reduce((sum, size) => sum + size, 0)
    let done = 0
    for (const { records, wal } of logs) {
      for (let left = records; left > 0; left -= batch.length) {
        yield* wal.append(left < batch.length ? batch.slice(0, left) : batch)
        done += Math.min(left, batch.length)
        context.progress(done / total, `${done.toLocaleString("en-US")} records`)
      }
      yield* wal.flush
    }
    return logs
  })
