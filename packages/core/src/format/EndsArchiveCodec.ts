/**
 * Recorded ends of epochs that no longer fit the manifest, as an object of their own: `docs/format.md` describes it. Each
 * names the one before it.
 */
import { Effect, Result, Schema } from "effect"
import { ManifestCorrupt } from "../WalError.ts"
import { Boundary, Count } from "./Boundary.ts"
import { decodeText, encodeText } from "./Bytes.ts"

/** Names an archive, and the newest epoch whose end is in it. */
export const ArchivePointer = Schema.Struct({ key: Schema.String, through: Count })
export type ArchivePointer = typeof ArchivePointer.Type

const Archive = Schema.fromJsonString(Schema.Struct({
  format: Schema.Literal("effect-wal ends"),
  version: Schema.Literal(1),
  ends: Schema.Array(Boundary),
  previous: Schema.NullOr(ArchivePointer)
}))

const decode = Schema.decodeUnknownResult(Archive)

/** What an archive holds: the ends, and the next older archive; `null` where there is none. */
export interface EndsArchive {
  readonly ends: ReadonlyArray<Boundary>
  readonly previous: ArchivePointer | null
}

/** The bytes of an archive. */
export const encodeArchive = ({ ends, previous }: EndsArchive): Uint8Array =>
  encodeText(JSON.stringify({ format: "effect-wal ends", version: 1, ends, previous }))

/** The archive that a pointer names. Fails `ManifestCorrupt` for one that does not decode or leads to one that is not older. */
export const decodeArchive = (
  { key, through }: ArchivePointer,
  body: Uint8Array
): Effect.Effect<EndsArchive, ManifestCorrupt> => {
  const archive = decode(decodeText(body))
  if (Result.isFailure(archive)) return Effect.fail(new ManifestCorrupt({ key, reason: archive.failure.message }))
  const { previous } = archive.success
  // Each one leads further back: archives that lead to each other would be followed for ever.
  if (previous === null || previous.through < through) return Effect.succeed(archive.success)
  const reason = `previous.through must be below ${through}, the through of this archive; it is ${previous.through}`
  return Effect.fail(new ManifestCorrupt({ key, reason }))
}
