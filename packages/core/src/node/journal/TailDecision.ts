/**
 * What the end of a file means that nobody closed: its writer died, or the machine.
 *
 * ```
 * start          synced            good                end
 *   |  durable     |  copied         |  the torn tail    |
 * ```
 *
 * A frame says up to where the file was durable when it was written. Everything before the highest such point was durable:
 * what is bad there was damaged later. From there on frames may stand in the page cache only, so they are written again
 * into the next file; and the first thing there that is no frame is where the last write was torn.
 */
import type { ByteRange, ScanResult } from "./FrameScan.ts"

export interface TailDecision {
  /** Everything before this offset was durable. */
  readonly syncedBytes: number
  /** From `syncedBytes` to here frames are whole and are to be copied. */
  readonly goodBytes: number
  /** What lies behind `goodBytes`: never answered, so it never existed. */
  readonly droppedBytes: number
  /** What was durable and is bad now. */
  readonly damage: ReadonlyArray<ByteRange>
}

/** Decides by the scan of a file of `sizeBytes`, whose frames begin at `startBytes`. */
export const decideTail = (
  scan: ScanResult,
  file: { readonly startBytes: number; readonly sizeBytes: number }
): TailDecision => {
  const syncedBytes = Math.max(file.startBytes, scan.syncedThrough)
  const torn = scan.bad.find((range) => range.to > syncedBytes)
  const goodBytes = torn === undefined ? Math.max(syncedBytes, file.sizeBytes) : Math.max(syncedBytes, torn.from)
  return {
    syncedBytes,
    goodBytes,
    droppedBytes: Math.max(0, file.sizeBytes - goodBytes),
    damage: scan.bad
      .filter((range) => range.from < syncedBytes)
      .map((range) => ({ from: range.from, to: Math.min(range.to, syncedBytes) }))
  }
}
