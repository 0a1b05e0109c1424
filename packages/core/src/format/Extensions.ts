/**
 * The extensions of this version: what they hold, and how they are read.
 *
 * | type | name | critical | holds |
 * |---|---|---|---|
 * | 1 | cursors | no | JSON of the cursor set as it was when the segment was first sent |
 * | 2 | trim | no | JSON of the trim point then (a copy; nothing is deleted because of it) |
 * | 3 | link | no | JSON of the boundary that the first segment of an epoch follows |
 * | 4 | owner | no | JSON `{ epoch, host }` of the opener that put an end marker |
 * | 5 | calls | yes | nothing: the body says which records are calls of producers |
 * | 6 | call-span | no | JSON `{ first, last }`: the slots of the epoch, up to this one, between which segments hold calls |
 * | 7 | origins | no | JSON `{ marks, copy }`: by spool the last slot of ended epochs that was appended again, up to here; `copy`: this segment is the last of them |
 *
 * Types from 16 up are free for later versions.
 */
import { Result, Schema } from "effect"
import { Boundary, Count, Hex128 } from "./Boundary.ts"
import { decodeText, encodeText } from "./Bytes.ts"
import { CursorSet } from "./CursorSet.ts"
import type { Extension, SegmentHeader } from "./SegmentHeader.ts"

export const cursorsExtension = 1
export const trimExtension = 2
export const linkExtension = 3
export const ownerExtension = 4
export const callsExtension = 5
export const callSpanExtension = 6
export const originsExtension = 7

/** The types that may be critical: a program that does not know one of them refuses the segment by name. */
export const knownCriticalExtensions: ReadonlySet<number> = new Set([callsExtension])

export const Owner = Schema.Struct({ epoch: Count, host: Schema.String })
export type Owner = typeof Owner.Type

/** A slot in a spool. */
export interface SpoolPlace {
  /** The spool's id. */
  readonly spool: string
  readonly epoch: number
  readonly slot: number
}

/** By spool: the last of its slots that was appended again. */
export const OriginMarks = Schema.Record(Hex128, Schema.Struct({ epoch: Count, slot: Count }))
export type OriginMarks = typeof OriginMarks.Type

/** What a header says of what was appended again. */
export const Origins = Schema.Struct({ marks: OriginMarks, copy: Schema.Boolean })
export type Origins = typeof Origins.Type
/** First and last slot of an epoch whose segments hold calls of producers. */
export const CallSpan = Schema.Struct({ first: Count, last: Count })
export type CallSpan = typeof CallSpan.Type

const jsonExtension = (type: number, value: unknown): Extension => ({
  type,
  critical: false,
  bytes: encodeText(JSON.stringify(value))
})

export const encodeCursors = (cursors: CursorSet): Extension => jsonExtension(cursorsExtension, cursors)
export const encodeTrim = (trim: Boundary): Extension => jsonExtension(trimExtension, trim)
export const encodeLink = (link: Boundary): Extension => jsonExtension(linkExtension, link)
export const encodeOwner = (owner: Owner): Extension => jsonExtension(ownerExtension, owner)
export const encodeCallSpan = (span: CallSpan): Extension => jsonExtension(callSpanExtension, span)

/** Marks a segment whose body holds calls. */
export const encodeCallsMark = (): Extension => ({ type: callsExtension, critical: true, bytes: new Uint8Array(0) })

export const encodeOrigins = (origins: Origins): Extension => jsonExtension(originsExtension, origins)

const reader = <A>(type: number, schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(schema))
  return (header: SegmentHeader): A | undefined => {
    const extension = header.extensions.find((one) => one.type === type)
    const text = extension === undefined ? undefined : decodeText(extension.bytes)
    if (text === undefined) return undefined
    return Result.getOrUndefined(decode(text))
  }
}

/** Each answers `undefined` where the header has none: these are copies, a missing one is not damage. */
export const cursorsOf = reader(cursorsExtension, CursorSet)
export const trimOf = reader(trimExtension, Boundary)
export const linkOf = reader(linkExtension, Boundary)
export const ownerOf = reader(ownerExtension, Owner)
export const originsOf = reader(originsExtension, Origins)
export const callSpanOf = reader(callSpanExtension, CallSpan)
