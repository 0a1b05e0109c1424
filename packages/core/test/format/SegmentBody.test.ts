import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { viewOf } from "../../src/format/Bytes.ts"
import { decodeBody, encodeBody } from "../../src/format/SegmentBody.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import { columnsOf } from "./Samples.ts"

const Text = Schema.String.check(Schema.isMaxLength(12), Schema.makeFilter((text) => text.isWellFormed()))
const Records = Schema.Array(Schema.Struct({
  payload: Schema.Uint8Array.check(Schema.isMaxLength(40)),
  key: Schema.optionalKey(Text),
  headers: Schema.optionalKey(Schema.Record(Text, Text)),
  contentType: Schema.optionalKey(Text),
  timestamp: Schema.optionalKey(Schema.Finite)
})).check(Schema.isMinLength(1), Schema.isMaxLength(20))

const full: ReadonlyArray<AppendRecord> = [
  { payload: Uint8Array.of(1, 2, 3), key: "k", headers: { a: "b" }, contentType: "text/plain", timestamp: -1.5 },
  { payload: new Uint8Array(0) },
  { payload: Uint8Array.of(9), key: "", timestamp: 9e15 }
]

const failed = (bytes: Uint8Array, count = full.length) => {
  const decoded = decodeBody(bytes, { firstSeq: 1, count })
  return "_tag" in decoded ? decoded.reason : "decoded"
}

describe("a segment body", () => {
  it.prop("comes back as it went in, from any record on", [Records, Schema.Int], ([records, skip]) => {
    const body = encodeBody(columnsOf(records))
    const from = 1 + Math.abs(skip % records.length)
    const decoded = decodeBody(body, { firstSeq: 1, count: records.length }, from)
    assert.deepEqual(
      decoded,
      records.map((record, index) => ({ ...record, seq: index + 1, appendedAt: 1_000 + index })).slice(from - 1)
    )
  }, { arbitrary: { runs: 300 } })

  it("that is cut at any byte is damage", () => {
    const body = encodeBody(columnsOf(full))
    for (let length = 0; length < body.length; length++) assert.notStrictEqual(failed(body.slice(0, length)), "decoded")
  })

  it("with bytes after the last payload is damage", () => {
    const body = encodeBody(columnsOf(full))
    assert.strictEqual(failed(Uint8Array.of(...body, 0)), "1 bytes follow the last payload")
  })

  it("with a count that is not that of the header is damage, without room for what it claims", () => {
    const body = encodeBody(columnsOf(full))
    for (const count of [0, 2, 4, 1_000, 0xffff_ffff]) assert.notStrictEqual(failed(body, count), "decoded")
    assert.strictEqual(failed(body, 0xffff_ffff), "lengths and times are cut")
  })

  it("names what is wrong with each column", () => {
    const damaged = (records: ReadonlyArray<AppendRecord>, change: (bytes: Uint8Array, view: DataView) => void) => {
      const body = encodeBody(columnsOf(records))
      change(body, viewOf(body))
      return failed(body, records.length)
    }
    const one = [{ payload: Uint8Array.of(1, 2), key: "kk" }]
    assert.strictEqual(damaged(one, (_, view) => view.setUint32(0, 32, true)), "unknown columns 32")
    assert.strictEqual(damaged(one, (_, view) => view.setUint32(4, 900, true)), "a payload is longer than the body")
    assert.strictEqual(damaged(one, (_, view) => view.setUint32(4, 1, true)), "1 bytes follow the last payload")
    assert.strictEqual(damaged(one, (_, view) => view.setFloat64(8, Number.NaN, true)), "a time is not finite")
    assert.strictEqual(
      damaged(one, (_, view) => view.setUint32(17, 0xffff_ffff, true)),
      "a column is longer than the body"
    )
    assert.strictEqual(damaged(one, (bytes) => void bytes.set([0xff], 21)), "a column is not UTF-8")
    const two = [{ payload: Uint8Array.of(1) }, { payload: Uint8Array.of(2) }]
    assert.strictEqual(damaged(two, (_, view) => view.setFloat64(20, 5, true)), "the times fall")
    const headers = [{ payload: Uint8Array.of(1), headers: { a: "b" } }]
    assert.strictEqual(damaged(headers, (bytes) => void bytes.set([0x5b], 21)), "headers of a record do not decode")
  })
})
