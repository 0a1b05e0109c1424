/** A log of many small segments, as a writer has left it. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Effect } from "effect"
import { type LogOptions, openLog } from "./OpenLog.ts"
import { payloadsOf, recordsOf } from "./Payloads.ts"

export const recordsASegment = 10
const recordBytes = 100

/** How such a log is opened: nothing of it is deleted, whatever is committed. */
export const storedLogOptions: LogOptions = {
  segment: { maxEntries: recordsASegment, linger: "0ms" },
  parallelPut: { workers: 8, pipelineDepth: 8 },
  retention: { policy: "keep" }
}

/** Writes so many segments, and closes the log. */
export const writeLog = Effect.fnUntraced(function*(store: ObjectStore["Service"], segments: number) {
  const wal = yield* openLog(store, storedLogOptions)
  const batch = recordsOf(payloadsOf(100 * recordsASegment, recordBytes))
  for (let left = segments * recordsASegment; left > 0; left -= batch.length) {
    yield* wal.append(batch.slice(0, Math.min(left, batch.length)))
  }
  yield* wal.flush
}, Effect.scoped)

/** Moves the cursor of the log, and closes it. */
export const commitTo = Effect.fnUntraced(function*(store: ObjectStore["Service"], seq: number) {
  const wal = yield* openLog(store, storedLogOptions)
  yield* wal.commit(seq)
}, Effect.scoped)
