/**
 * `manifest.json`: the only mutable object of a log.
 *
 * It holds no list of segments, so its size does not grow with the log: recorded ends above the trim point, a sparse
 * index, the cursors and a checkpoint. The fields are described in `docs/format.md`.
 */
import { Effect, Predicate, Result, Schema } from "effect"
import { ManifestCorrupt, ManifestTooNew } from "../WalError.ts"
import { Boundary, Count, Epoch, Hex128, Slot } from "./Boundary.ts"
import { decodeText, encodeText } from "./Bytes.ts"
import { CursorSet, defaultCursor } from "./CursorSet.ts"
import { ArchivePointer } from "./EndsArchiveCodec.ts"
import { OriginMarks } from "./Extensions.ts"
import { StoredProducer } from "./StoredProducer.ts"

/** The version that this program writes, and the newest that it reads. */
export const manifestVersion = 1

/** At most so many ends stand in the manifest itself; older ones move to an archive object. */
export const maxEnds = 256

/** At most so many stretches of damaged slots are recorded. */
export const maxDamage = 256

const SpoolName = Schema.Struct({ id: Hex128, host: Schema.String, path: Schema.String })

/** Slots of an epoch whose damage a repair has recorded, `slot` to `through`, both inclusive, and the numbers lost with them. */
export const DamagedSlots = Schema.Struct({
  epoch: Epoch,
  slot: Slot,
  through: Slot,
  from: Schema.optionalKey(Count),
  to: Schema.optionalKey(Count)
})
export type DamagedSlots = typeof DamagedSlots.Type

const Fields = Schema.Struct({
  format: Schema.Literal("effect-wal manifest"),
  version: Schema.Int,
  log_id: Hex128,
  /** The newest epoch that was claimed, and by whom. */
  epoch: Epoch,
  nonce: Hex128,
  host: Schema.String,
  /** Names this very body. */
  commit_id: Hex128,
  /** The one epoch that was activated and has no recorded end; 0 in a log that has none. */
  live: Epoch,
  /** Slots that the writer of the live epoch can have in flight. */
  live_window: Count,
  trim: Boundary,
  /** Recorded ends of epochs above the trim point, ascending; `slot` is the end. */
  ends: Schema.Array(Boundary),
  /** Older recorded ends, in an immutable object. */
  ends_archive: Schema.NullOr(ArchivePointer),
  cursors: CursorSet,
  /** A point of the live epoch below which everything is durable; its start where nothing is. */
  checkpoint: Boundary,
  /** Some points above the trim point and below the checkpoint, ascending. */
  index: Schema.Array(Boundary),
  /** By spool: the last of its slots that is done with, durable itself or appended again. */
  origins: Schema.optionalKey(OriginMarks),
  /** The spool of the writer of the live epoch, where it has one. */
  spool: Schema.optionalKey(SpoolName),
  /** The spools of earlier writers that may hold something still, the newest last. */
  spools_left: Schema.optionalKey(Schema.Array(SpoolName)),
  /** What is remembered of producers, as of the checkpoint; absent where there is nothing. */
  producers: Schema.optionalKey(Schema.Array(StoredProducer)),
  /** Damage above the trim point that a repair has recorded, ascending; absent where there is none. */
  damage: Schema.optionalKey(Schema.Array(DamagedSlots))
})

/** The decoded manifest; `unknown` are fields of other versions, kept through a rewrite. */
export interface Manifest extends Omit<typeof Fields.Type, "format"> {
  readonly unknown: Readonly<Record<string, unknown>>
}

const decodeFields = Schema.decodeUnknownResult(Fields)
const knownFields = new Set(Object.keys(Fields.fields))

const parseJson = (text: string): Result.Result<unknown, string> =>
  Result.try({ try: () => JSON.parse(text) as unknown, catch: () => "it is not JSON" })

/** Levels of a field of another version: what is read must be writable again, and writing recurses. */
const maxUnknownDepth = 64

/** What a rewrite of fields of other versions would lose or could not do; `undefined`: nothing. */
const unknownProblem = (unknown: Manifest["unknown"]): string | undefined => {
  let level: ReadonlyArray<unknown> = [unknown]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxUnknownDepth) return `an unknown field is nested deeper than ${maxUnknownDepth}`
    if (level.some((value) => typeof value === "number" && !Number.isFinite(value))) {
      return "an unknown field holds a number that is too large"
    }
    level = level.flatMap((value) => typeof value === "object" && value !== null ? Object.values(value) : [])
  }
  return undefined
}

/** The bytes of a manifest. */
export const encodeManifest = (manifest: Manifest): Uint8Array => {
  const { unknown, ...fields } = manifest
  return encodeText(JSON.stringify({ format: "effect-wal manifest", ...fields, ...unknown }))
}

/**
 * Reads a manifest. A byte order mark is accepted. Fails `ManifestTooNew` for a higher version, `ManifestCorrupt` for
 * everything else that is not a manifest.
 */
export const decodeManifest = (
  key: string,
  bytes: Uint8Array
): Effect.Effect<Manifest, ManifestCorrupt | ManifestTooNew> => {
  const corrupt = (reason: string) => Effect.fail(new ManifestCorrupt({ key, reason }))
  if (bytes.length === 0) return corrupt("it is empty")
  const text = decodeText(bytes)
  if (text === undefined) return corrupt("it is not UTF-8")
  const parsed = parseJson(text.startsWith("\uFEFF") ? text.slice(1) : text)
  if (Result.isFailure(parsed)) return corrupt(parsed.failure)
  const value = parsed.success
  if (!Predicate.isObject(value) || Array.isArray(value)) return corrupt("it is not a JSON object")
  const version = value["version"]
  if (typeof version === "number" && version > manifestVersion) {
    return Effect.fail(new ManifestTooNew({ key, found: version, max: manifestVersion }))
  }
  const decoded = decodeFields(value)
  if (Result.isFailure(decoded)) return corrupt(String(decoded.failure.message).replaceAll("\n", " "))
  const { format: _, ...fields } = decoded.success
  if (fields.version !== manifestVersion) return corrupt(`version ${fields.version} does not exist`)
  if (fields.cursors.marks[defaultCursor] === undefined) return corrupt(`cursor ${defaultCursor} is missing`)
  const unknown = Object.fromEntries(Object.entries(value).filter(([name]) => !knownFields.has(name)))
  const problem = unknownProblem(unknown)
  return problem === undefined ? Effect.succeed({ ...fields, unknown }) : corrupt(problem)
}
