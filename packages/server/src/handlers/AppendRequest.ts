/**
 * What a request to append asks for, as far as its head and its query say: in what form the records come, and when it is
 * answered. Plain functions: every append passes through here.
 */
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import { Effect, Result } from "effect"
import type { AckLevel } from "../api/Schemas.ts"
import { type Body, wholeBody } from "../body/Body.ts"
import { splitLines } from "../body/Ndjson.ts"
import type { ParseBounds } from "../body/ParseBounds.ts"
import { decodeRecords } from "../body/RecordsJson.ts"
import { RequestProblem } from "../RequestProblem.ts"

/** Makes records of a body; payloads are views into it where they can be. */
export type Decoder = (
  body: Body,
  bounds: ParseBounds
) => Effect.Effect<ReadonlyArray<AppendRecord>, RequestProblem>

const ndjson: Decoder = (body, bounds) =>
  Effect.map(splitLines(body, bounds), (lines) => lines.map((payload) => ({ payload })))

/** By media type, in lower case. */
const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["application/x-ndjson", ndjson],
  ["application/ndjson", ndjson],
  ["application/jsonl", ndjson],
  ["application/json", (body, bounds) => decodeRecords(wholeBody(body), bounds)],
  ["application/octet-stream", (body) => Effect.succeed([{ payload: wholeBody(body) }])]
])

/** The decoder for a content type, with parameters and in any case; fails `unsupported_media_type`. */
export const decoderFor = (contentType = ""): Result.Result<Decoder, RequestProblem> => {
  const decoder = decoders.get(contentType) ?? decoders.get(contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "")
  return decoder === undefined
    ? Result.fail(
      new RequestProblem({
        code: "unsupported_media_type",
        message: `content-type ${
          JSON.stringify(contentType)
        }: send application/x-ndjson, application/json or application/octet-stream`
      })
    )
    : Result.succeed(decoder)
}

/** The level that the query names, `durable` without one; fails `invalid_request`. */
export const ackLevel = (
  query: Readonly<Record<string, string | ReadonlyArray<string>>>
): Result.Result<AckLevel, RequestProblem> => {
  for (const name in query) {
    if (name !== "ack") {
      return Result.fail(
        new RequestProblem({ code: "invalid_request", message: `${name}: is not a parameter of this route` })
      )
    }
  }
  const value = query["ack"]
  if (value === undefined || value === "durable") return Result.succeed("durable")
  if (value === "accepted" || value === "spooled") return Result.succeed(value)
  return Result.fail(
    new RequestProblem({
      code: "invalid_request",
      message: `ack: must be durable, spooled or accepted, found ${JSON.stringify(value)}`
    })
  )
}
