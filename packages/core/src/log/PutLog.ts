/** The log lines about segment PUTs, in the form of the source documents. */
import { Effect } from "effect"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"
import type { StoredSegment } from "../write/PutWorker.ts"

/** At most one warning in this time, so that an outage does not flood the log. */
const warningEveryMillis = 1_000

export const makePutLog = () => {
  let nextWarningAt = Number.NEGATIVE_INFINITY
  let suppressed = 0
  return {
    complete: (stored: StoredSegment) =>
      Effect.logInfo(
        `Segment PUT complete: ${stored.stamped.key}, ${stored.objectBytes} bytes in ${Math.round(stored.millis)}ms`
      ),
    failed: (key: string, error: ObjectStoreError) =>
      Effect.flatMap(monotonicNow, (now) => {
        if (now < nextWarningAt) {
          suppressed++
          return Effect.void
        }
        nextWarningAt = now + warningEveryMillis
        const more = suppressed === 0 ? "" : ` (and ${suppressed} more)`
        suppressed = 0
        return Effect.logWarning(`Segment PUT failed: ${error.message}, retrying...${more}`).pipe(
          Effect.annotateLogs({ key })
        )
      })
  }
}
