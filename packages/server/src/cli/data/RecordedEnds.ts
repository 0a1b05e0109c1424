/**
 * The ends of epochs that a log records: those in its manifest, and those that were moved to the archive of ends, as
 * `docs/format.md` describes it.
 */
import { type Boundary, compareBoundaries } from "@effect-wal/core/format/Boundary"
import { type ArchivePointer, decodeArchive } from "@effect-wal/core/format/EndsArchiveCodec"
import type { Manifest } from "@effect-wal/core/format/ManifestCodec"
import { Effect, Result } from "effect"
import type { TaggedFailure } from "../Failure.ts"

/** What the archive leads to: the ends that could be read, and why not all of them. */
export interface RecordedEnds {
  /** Above the trim point, ascending. */
  readonly ends: ReadonlyArray<Boundary>
  readonly damage?: TaggedFailure
}

/** All recorded ends above the trim point; `get` reads an object of the log. Never fails: see `damage`. */
export const recordedEnds = Effect.fnUntraced(function*(
  manifest: Manifest,
  get: (key: string) => Effect.Effect<{ readonly body: Uint8Array }, TaggedFailure>
) {
  const found: Array<Boundary> = [...manifest.ends]
  const result = (damage?: TaggedFailure): RecordedEnds => ({
    ends: found.filter((end) => compareBoundaries(end, manifest.trim) > 0).sort(compareBoundaries),
    ...damage === undefined ? {} : { damage }
  })
  let pointer = manifest.ends_archive
  while (pointer !== null && pointer.through >= manifest.trim.epoch) {
    const here: ArchivePointer = pointer
    const archive = yield* Effect.result(Effect.flatMap(get(here.key), ({ body }) => decodeArchive(here, body)))
    if (Result.isFailure(archive)) return result(archive.failure)
    found.push(...archive.success.ends)
    pointer = archive.success.previous
  }
  return result()
})
