/**
 * Proving that a log is whole: from the bytes of its objects alone, in bounded memory, without writing anything.
 *
 * `verify` tells as it goes; `report` runs it to its end. Both work on any store: give the `ObjectStore` of the log, of a
 * local log that no process has open the one of `@effect-wal/core/node`'s `LocalObjectStore.make`. A writer may be at
 * work meanwhile: what is checked is the log as it was at the start.
 */
import { Effect, Stream } from "effect"
import { lookContext, type LookOptions } from "./log/LookOptions.ts"
import type { ObjectStore } from "./store/ObjectStore.ts"
import type { Finding, VerifyEvent, VerifyProgress, VerifyReport } from "./verify/Finding.ts"
import { verifyLog } from "./verify/Verify.ts"
import {
  type ConfigError,
  type InvalidId,
  type ManifestMissing,
  type ManifestTooNew,
  type StoreError
} from "./WalError.ts"

export type * from "./verify/Finding.ts"
export { adviceOf, describeFinding } from "./verify/Finding.ts"

/** Which log, and how it is looked at; `prefetch` (default 16) segments are held at one time. */
export type VerifyOptions = LookOptions

/**
 * `ConfigError` and `InvalidId` before any request; `ManifestMissing` where there is no log; `ManifestTooNew` where it needs
 * a newer program; what the store answers, after retries. Damage is no error: it is a finding.
 */
export type VerifyError = ConfigError | InvalidId | ManifestMissing | ManifestTooNew | StoreError

/**
 * Reads the whole log and tells what is wrong with it: `Finding` and `Progress` in any order, one `Report` last.
 *
 * Checked are the manifest and its archives; that an end marker stands at each recorded end; that nothing is stored of
 * which the manifest should know and does not; and of each segment from the trim point to the durable end: header, lengths,
 * both checksums, records, times, place, log and writer, that numbers and chain follow the segment before, and that the
 * points in the manifest are those of the segments. Orphans and what late requests have left are counted, not reported.
 *
 * It asks for each segment once, and for each small object outside of the log once; 16 requests at a time.
 */
export const verify = (options: VerifyOptions): Stream.Stream<VerifyEvent, VerifyError, ObjectStore> =>
  Stream.unwrap(Effect.map(lookContext(options), verifyLog))

/** A finished verification. */
export interface VerifyResult {
  readonly report: VerifyReport
  /** The first findings, at most `maxFindings`; `report` counts all of them. */
  readonly findings: ReadonlyArray<Finding>
}

/** How `report` runs. */
export interface ReportOptions extends VerifyOptions {
  /** Findings that are kept, 0 or more; default 100. */
  readonly maxFindings?: number
  /** Told now and then, about every 100 segments. */
  readonly onProgress?: (progress: VerifyProgress) => Effect.Effect<void>
}

/** Runs `verify` to its end. Memory does not grow with what is found. */
export const report = Effect.fnUntraced(function*(options: ReportOptions): Effect.fn.Return<
  VerifyResult,
  VerifyError,
  ObjectStore
> {
  const { maxFindings = 100, onProgress, ...rest } = options
  const findings: Array<Finding> = []
  let last: VerifyReport | undefined
  yield* Stream.runForEach(verify(rest), (event) => {
    if (event._tag === "Progress") return onProgress?.(event) ?? Effect.void
    if (event._tag === "Report") last = event
    else if (findings.length < maxFindings) findings.push(event)
    return Effect.void
  })
  // The stream ends with its report, or fails.
  return last === undefined
    ? yield* Effect.die(new Error("a verification ended without a report"))
    : { report: last, findings }
})
