/** What an append can be given, and the request that it becomes. */
import type { Schema } from "effect"
import { Base64 } from "effect/encoding"
import { HttpBody } from "effect/http"
import type { AppendRequest } from "../api/Schemas.ts"

/** A record of an append. */
export interface RecordToAppend {
  /** Bytes are stored as they are; anything else as its JSON. */
  readonly payload: Uint8Array | Schema.Json
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The client's own time, any finite number; carried unchanged. */
  readonly timestamp?: number
}

/** Records in one of three forms. */
export type AppendBody =
  /** Lines of JSON; each is a record, its bytes kept as they are. */
  | { readonly ndjson: Uint8Array | string }
  /** Records with keys, headers and times. */
  | { readonly records: ReadonlyArray<RecordToAppend> }
  /** One record of any bytes. */
  | { readonly bytes: Uint8Array }

type JsonRecord = typeof AppendRequest.Encoded["records"][number]

const jsonRecord = ({ payload, ...rest }: RecordToAppend): JsonRecord =>
  payload instanceof Uint8Array ? { ...rest, payload_base64: Base64.encode(payload) } : { ...rest, payload }

/** The body of the request. */
export const httpBody = (body: AppendBody): HttpBody.HttpBody => {
  if ("bytes" in body) return HttpBody.uint8Array(body.bytes, "application/octet-stream")
  if ("records" in body) {
    const request: typeof AppendRequest.Encoded = { records: body.records.map(jsonRecord) }
    return HttpBody.text(JSON.stringify(request), "application/json")
  }
  return typeof body.ndjson === "string"
    ? HttpBody.text(body.ndjson, "application/x-ndjson")
    : HttpBody.uint8Array(body.ndjson, "application/x-ndjson")
}
