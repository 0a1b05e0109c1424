import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { splitLines } from "../src/body/Ndjson.ts"
import { decodeRecords } from "../src/body/RecordsJson.ts"

const Sent = Schema.Struct({
  payload: Schema.Json,
  key: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  timestamp: Schema.optionalKey(Schema.Finite)
})

const decoded = (text: string) => Result.getOrThrow(decodeRecords(Buffer.from(text)))

describe("RecordsJson", () => {
  it.prop("agrees with JSON.parse on every field, in any layout", [
    Schema.Array(Sent),
    Schema.Literals(["", " ", "\t", "\n  "])
  ], ([records, indent]) => {
    const text = JSON.stringify({ records }, null, indent)
    const parsed: { records: ReadonlyArray<typeof Sent.Type> } = JSON.parse(text)
    const found = decoded(text)
    assert.strictEqual(found.length, records.length)
    for (const [index, { payload, ...rest }] of found.entries()) {
      assert.deepStrictEqual({ payload: JSON.parse(Buffer.from(payload).toString()), ...rest }, parsed.records[index])
    }
  })

  it.prop("cuts payloads out without a byte more or less", [Schema.Array(Schema.Json)], ([payloads]) => {
    const texts = payloads.map((payload) => JSON.stringify(payload))
    const body = `{ "records" : [ ${texts.map((text) => `{ "payload" :\t${text}\r\n}`).join(" , ")} ] }`
    assert.deepStrictEqual(decoded(body).map(({ payload }) => Buffer.from(payload).toString()), texts)
  })

  it.prop("takes any bytes as base64", [Schema.Uint8Array], ([bytes]) => {
    const [record] = decoded(JSON.stringify({ records: [{ payload_base64: Buffer.from(bytes).toString("base64") }] }))
    assert.deepStrictEqual(Uint8Array.from(record?.payload ?? []), bytes)
  })

  it("keeps a header of any name", () => {
    const [record] = decoded("{\"records\":[{\"payload\":1,\"headers\":{\"__proto__\":\"x\",\"\":\"y\"}}]}")
    assert.deepStrictEqual(Object.entries(record?.headers ?? {}), [["__proto__", "x"], ["", "y"]])
  })
})

describe("Ndjson", () => {
  it.prop("gives back the lines that were joined, with either line end", [
    Schema.Array(Schema.Json),
    Schema.Literals(["\n", "\r\n", "\n\n"])
  ], ([values, lineEnd]) => {
    const lines = values.map((value) => JSON.stringify(value))
    for (const last of ["", lineEnd]) {
      const found = Result.getOrThrow(splitLines(Buffer.from(lines.join(lineEnd) + last)))
      assert.deepStrictEqual(found.map((line) => Buffer.from(line).toString()), lines)
    }
  })
})
