import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { splitLines } from "../src/body/Ndjson.ts"
import { decodeRecords } from "../src/body/RecordsJson.ts"
import { parseBounds } from "./support/Bounds.ts"

const Sent = Schema.Struct({
  payload: Schema.Json,
  key: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  timestamp: Schema.optionalKey(Schema.Finite)
})

const decoded = (text: string) => decodeRecords(Buffer.from(text), parseBounds())

describe("RecordsJson", () => {
  it.effect.prop("agrees with JSON.parse on every field, in any layout", [
    Schema.Array(Sent),
    Schema.Literals(["", " ", "\t", "\n  "])
  ], ([records, indent]) =>
    Effect.gen(function*() {
      const text = JSON.stringify({ records }, null, indent)
      const parsed: { records: ReadonlyArray<typeof Sent.Type> } = JSON.parse(text)
      const found = yield* decoded(text)
      assert.strictEqual(found.length, records.length)
      for (const [index, { payload, ...rest }] of found.entries()) {
        assert.deepStrictEqual({ payload: JSON.parse(Buffer.from(payload).toString()), ...rest }, parsed.records[index])
      }
    }))

  it.effect.prop(
    "cuts payloads out without a byte more or less",
    [Schema.Array(Schema.Json)],
    ([payloads]) =>
      Effect.gen(function*() {
        const texts = payloads.map((payload) => JSON.stringify(payload))
        const body = ` { "records" : [ ${texts.map((text) => `{ "payload" :\t${text}\r\n}`).join(" , ")} ] } `
        assert.deepStrictEqual(
          (yield* decoded(body)).map(({ payload }) => Buffer.from(payload).toString()),
          texts
        )
      })
  )

  it.effect.prop("takes any bytes as base64", [Schema.Uint8Array], ([bytes]) =>
    Effect.gen(function*() {
      const base64 = Buffer.from(bytes).toString("base64")
      const [record] = yield* decoded(JSON.stringify({ records: [{ payload_base64: base64 }] }))
      assert.deepStrictEqual(Uint8Array.from(record?.payload ?? []), bytes)
    }))

  it.effect("keeps a header of any name", () =>
    Effect.gen(function*() {
      const [record] = yield* decoded("{\"records\":[{\"payload\":1,\"headers\":{\"__proto__\":\"x\",\"\":\"y\"}}]}")
      assert.deepStrictEqual(Object.entries(record?.headers ?? {}), [["__proto__", "x"], ["", "y"]])
    }))

  it.effect("takes 1,000 headers of a record, and not one more", () =>
    Effect.gen(function*() {
      const withHeaders = (count: number) =>
        decoded(JSON.stringify({
          records: [{
            payload: 1,
            headers: Object.fromEntries(Array.from({ length: count }, (_, nth) => [`h${nth}`, ""]))
          }]
        }))
      const [record] = yield* withHeaders(1_000)
      assert.strictEqual(Object.keys(record?.headers ?? {}).length, 1_000)
      const refused = yield* Effect.flip(withHeaders(1_001))
      assert.deepStrictEqual([refused.code, refused.details], ["invalid_request", { path: "records[0].headers" }])
      assert.include(refused.message, "at most 1000")
    }))

  it.effect("tells where a text stops to be JSON, wherever that is", () =>
    Effect.gen(function*() {
      const offsets = {
        "": 0,
        "{\"records\":[{]}": 13,
        "{\"records\":[1 2]}": 14,
        "{\"records\":[1,]}": 14,
        "{\"records\":[1": 13,
        "{\"records\":[1]": 14,
        "{\"records\":[1],}": 15,
        "{\"records\":[1]} x": 16,
        "{\"records\" [1]}": 11
      }
      for (const [text, offset] of Object.entries(offsets)) {
        const refused = yield* Effect.flip(decoded(text))
        assert.deepStrictEqual([refused.code, refused.details], ["invalid_json", { offset }], text)
      }
    }))
})

describe("Ndjson", () => {
  it.effect.prop("gives back the lines that were joined, with either line end", [
    Schema.Array(Schema.Json),
    Schema.Literals(["\n", "\r\n", "\n\n"])
  ], ([values, lineEnd]) =>
    Effect.gen(function*() {
      const lines = values.map((value) => JSON.stringify(value))
      for (const last of ["", lineEnd]) {
        const found = yield* splitLines([Buffer.from(lines.join(lineEnd) + last)], parseBounds())
        assert.deepStrictEqual(found.map((line) => Buffer.from(line).toString()), lines)
      }
    }))

  it.effect("gives back the same lines, or names the same one, wherever the body is cut", () =>
    Effect.gen(function*() {
      const texts = ["\ufeff{\"a\":1}\r\n\r\n\"♡\"\n2", "1\n\n{\"a\":\n3\n", "1\n2\n\"\n\"", "\n", "1", ""]
      for (const text of texts) {
        const bytes = Buffer.from(text)
        const split = (body: ReadonlyArray<Uint8Array>) =>
          Effect.map(
            Effect.result(splitLines(body, parseBounds())),
            Result.match({
              onFailure: ({ code, message }): unknown => [code, message],
              onSuccess: (lines): unknown => lines.map((line) => Buffer.from(line).toString())
            })
          )
        const expected = yield* split([bytes])
        for (let first = 0; first <= bytes.length; first++) {
          for (let second = first; second <= bytes.length; second++) {
            const body = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
            assert.deepStrictEqual(
              yield* split(body),
              expected,
              `${JSON.stringify(text)} cut at ${first} and ${second}`
            )
          }
        }
      }
    }))

  it.effect("copies only the lines that lie in two pieces", () =>
    Effect.gen(function*() {
      const [first, second] = [new TextEncoder().encode("1\n2\n3"), new TextEncoder().encode("4\n5\n6\n")]
      const lines = yield* splitLines([first, second], parseBounds())
      const owners = lines.map(({ buffer }) =>
        buffer === first.buffer ? "first" : buffer === second.buffer ? "second" : "copy"
      )
      assert.deepStrictEqual(lines.map((line) => Buffer.from(line).toString()), ["1", "2", "34", "5", "6"])
      assert.deepStrictEqual(owners, ["first", "first", "copy", "second", "second"])
    }))
})
