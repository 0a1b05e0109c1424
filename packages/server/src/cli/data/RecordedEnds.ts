/**
 * The ends of epochs that a log records: those in its manifest, and those that were moved to the archive of ends, as
 * `docs/format.md` describes it.
 */
import { Boundary, compareBoundaries, Count } from "@effect-wal/core/format/Boundary"
import { decodeText } from "@effect-wal/core/format/Bytes"
import type { Manifest } from "@effect-wal/core/format/ManifestCodec"
import { ManifestCorrupt } from "@effect-wal/core/WalError"
import { Effect, Option, Schema } from "effect"
import type { TaggedFailure } from "../Failure.ts"

const Archive = Schema.fromJsonString(Schema.Struct({
  format: Schema.Literal("effect-wal ends"),
  version: Schema.Literal(1),
  ends: Schema.Array(Boundary),
  previous: Schema.NullOr(Schema.Struct({ key: Schema.String, through: Count }))
}))

const decodeArchive = Schema.decodeUnknownOption(Archive)

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
    const { key, through }: NonNullable<Manifest["ends_archive"]> = pointer
    const object = yield* Effect.result(get(key))
    if (object._tag === "Failure") return result(object.failure)
    const archive = decodeArchive(decodeText(object.success.body))
    if (Option.isNone(archive)) return result(new ManifestCorrupt({ key, reason: "it is no archive of ends" }))
    const { ends, previous } = archive.value
    found.push(...ends)
    // Archives that lead to each other would be followed for ever.
    if (previous !== null && previous.through >= through) {
      return result(new ManifestCorrupt({ key, reason: "previous.through must be below the through of this archive" }))
    }
    pointer = previous
  }
  return result()
})
