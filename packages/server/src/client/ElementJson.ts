/**
 * Records as the server writes them, one line of JSON each. A payload that stands in the line is cut out of it, so that
 * its bytes are those that were appended.
 */
import type { LostRange, WalRecord } from "@effect-wal/core/WalRecord"
import { Effect, Result, Schema } from "effect"
import { Base64 } from "effect/encoding"
import { LostRangeJson, RecordJson } from "../api/Schemas.ts"
import { scanDocument, scanString, scanValue, skipSpace } from "../body/JsonScanner.ts"
import type { WalClientError } from "./ClientError.ts"
import { failWith } from "./Transport.ts"

/** What a reader gets: a record, or the range that damage took away. */
export type Element = WalRecord | LostRange

const comma = 0x2c
const openBrace = 0x7b

const text = new TextDecoder("utf-8", { ignoreBOM: true })
const decodeText = (bytes: Uint8Array, start: number, end: number): unknown =>
  JSON.parse(text.decode(bytes.subarray(start, end)))

interface Line {
  /** The members but `payload`. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly payload: Uint8Array | undefined
}

/** The members of the object that a line is; `undefined` where it is none. */
const takeApart = (line: Uint8Array): Line | undefined => {
  const end = line.length
  if (line[0] !== openBrace || scanDocument(line, 0, end) < 0) return undefined
  const fields = new Map<string, unknown>()
  let payload: Uint8Array | undefined
  for (let position = skipSpace(line, 1, end); position < end - 1;) {
    const nameEnd = scanString(line, position, end)
    const name = String(decodeText(line, position, nameEnd))
    const behindColon = skipSpace(line, nameEnd, end) + 1
    const start = skipSpace(line, behindColon, end)
    const valueEnd = scanValue(line, start, end)
    position = skipSpace(line, valueEnd, end)
    // The server puts nothing around a payload: blanks there were appended with it.
    if (name === "payload") payload = line.slice(behindColon, position)
    else fields.set(name, decodeText(line, start, valueEnd))
    if (line[position] === comma) position = skipSpace(line, position + 1, end)
  }
  return { fields: Object.fromEntries(fields), payload }
}

const decodeRecord = Schema.decodeUnknownResult(RecordJson)
const decodeLost = Schema.decodeUnknownResult(LostRangeJson)

const recordOf = ({ fields, payload }: Line): WalRecord | undefined => {
  const decoded = decodeRecord(fields)
  if (Result.isFailure(decoded)) return undefined
  const { appended_at: appendedAt, payload_base64: base64, seq, ...rest } = decoded.success
  if (payload !== undefined) return { seq, appendedAt, ...rest, payload }
  const bytes = Base64.decode(base64 ?? "")
  return base64 === undefined || Result.isFailure(bytes)
    ? undefined
    : { seq, appendedAt, ...rest, payload: bytes.success }
}

const lostRangeOf = ({ fields }: Line): LostRange | undefined => {
  const decoded = decodeLost(fields)
  return Result.isFailure(decoded) ? undefined : { _tag: "LostRange", ...decoded.success.lost }
}

/** The element that a line is; fails `UnexpectedAnswer`. */
export const decodeElement = (line: Uint8Array): Effect.Effect<Element, WalClientError> => {
  const parts = takeApart(line)
  const element = parts === undefined ? undefined : "lost" in parts.fields ? lostRangeOf(parts) : recordOf(parts)
  return element === undefined
    ? failWith({ _tag: "UnexpectedAnswer", status: 200, message: "a line of the answer is not a record" })
    : Effect.succeed(element)
}
