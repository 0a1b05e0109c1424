/**
 * The manifest as it is now, looked at again before anything is called missing: a writer may have trimmed or ended what a
 * map that is older still holds.
 */
import { Effect } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import { highestMark } from "../format/CursorSet.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { type ManifestAccess, readManifest } from "../manifest/ManifestStore.ts"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { StoreError } from "../WalError.ts"

export interface LogLook {
  readonly epoch: number
  readonly live: number
  readonly trim: Boundary
  readonly checkpoint: Boundary
  readonly highestCursor: number
  /** Ends that are recorded now; those of an archive are not among them. */
  readonly ends: ReadonlyArray<Boundary>
}

/** `undefined`: there is no manifest that reads; then nothing is known. */
export type LookAgain = Effect.Effect<LogLook | undefined, StoreError, ObjectStore>

const lookOf = (manifest: Manifest): LogLook => ({
  ...manifest,
  highestCursor: highestMark(manifest.cursors)
})

/** Looks at the stored manifest; one of another log says nothing. */
export const lookAgain = (access: ManifestAccess, logId: string): LookAgain =>
  readManifest(access).pipe(
    Effect.map((held) => held === undefined || held.manifest.log_id !== logId ? undefined : lookOf(held.manifest)),
    Effect.catchTag(["ManifestCorrupt", "ManifestTooNew"], () => Effect.undefined)
  )

/** A look at a manifest that is in no store. */
export const lookOnly = (manifest: Manifest): LookAgain => Effect.succeed(lookOf(manifest))

/** Where an epoch that was live has ended since, by the manifest; 0 where it holds nothing; `undefined`: it is live, or not known. */
export const endedSince = (look: LogLook, epoch: number): number | undefined => {
  if (look.live === epoch) return undefined
  return look.ends.find((end) => end.epoch === epoch)?.slot
}
