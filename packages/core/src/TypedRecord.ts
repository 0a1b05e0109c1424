/**
 * Records of a Schema's type: what comes out of a typed log, and how a value becomes bytes and comes back.
 */
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import type { LostRange, SequenceNumber, WalRecord } from "./WalRecord.ts"

/** A record as it was stored, with its value in place of the payload. */
export interface TypedRecord<A> extends Pick<WalRecord, "seq" | "appendedAt" | "key" | "headers" | "timestamp"> {
  readonly value: A
}

/** A record that does not decode, delivered in its place where the policy is `skip`. It is acknowledged like any other. */
export interface UndecodableRecord {
  readonly _tag: "UndecodableRecord"
  readonly seq: SequenceNumber
  /** Place and rule, for people. */
  readonly reason: string
  /** As it is stored, to be kept elsewhere or decoded otherwise. */
  readonly record: WalRecord
}

/** Tells a record that does not decode from the others. */
export const isUndecodable = <A>(
  element: TypedRecord<A> | LostRange | UndecodableRecord
): element is UndecodableRecord => "_tag" in element && element._tag === "UndecodableRecord"

/**
 * The value of a stored record is not what the schema says. The record is durable and unharmed: acknowledge it to go on
 * behind it, read with `onDecodeError: "skip"`, or read with a schema that takes it.
 */
export class RecordDecodeError extends Schema.TaggedError<RecordDecodeError>()("RecordDecodeError", {
  seq: Schema.Number,
  /** Place and rule, for people. */
  reason: Schema.String
}) {
  override get message(): string {
    return `record ${this.seq} does not decode: ${this.reason}`
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** Text as UTF-8; bytes that are none do not decode. */
const TextFromBytes = Schema.Uint8Array.pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transformEffect({
      decode: (bytes: Uint8Array) =>
        Effect.fromResult(
          Result.mapError(
            Result.try(() => decoder.decode(bytes)),
            () => new SchemaIssue.InvalidValue({ message: "must be UTF-8" })
          )
        ),
      encode: (text: string) => Effect.succeed(encoder.encode(text))
    })
  )
)

/** Values as JSON in UTF-8, in the schema's canonical form: dates as text, and so on. */
export const json = <A, E, RD, RE>(schema: Schema.Codec<A, E, RD, RE>): Schema.Codec<A, Uint8Array, RD, RE> =>
  TextFromBytes.pipe(Schema.decodeTo(Schema.fromJsonString(Schema.toCodecJson(schema))))

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first thing that is wrong with a value, and its place. */
export const problemOf = ({ issue }: Schema.SchemaError): { readonly field: string; readonly rule: string } => {
  const first = format(issue).issues[0]
  const path = (first?.path ?? []).map((part) =>
    `[${typeof part === "number" ? part : JSON.stringify(String(typeof part === "object" ? part.key : part))}]`
  )
  return { field: `value${path.join("")}`, rule: first?.message ?? issue._tag }
}
