import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { encodeText, equalBytes, viewOf } from "../../src/format/Bytes.ts"
import { callSpanOf, encodeCallsMark, encodeCallSpan, knownCriticalExtensions } from "../../src/format/Extensions.ts"
import { OpenColumns } from "../../src/format/OpenColumns.ts"
import { encodedCallBytes, isProducerId, type SegmentCall } from "../../src/format/ProducerCalls.ts"
import { decodeBody, decodeCalls, encodeBody } from "../../src/format/SegmentBody.ts"
import { encodeSegment, readHeader } from "../../src/format/SegmentCodec.ts"
import { decodeHeader } from "../../src/format/SegmentHeader.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { segmentHeader } from "./Samples.ts"

/** Calls of so many records each, with so many records of nobody before each; one record of nobody at the end. */
const bodyOf = (calls: ReadonlyArray<Omit<SegmentCall, "index">>, gap: number) => {
  const columns = new OpenColumns()
  const push = (count: number) => {
    for (let nth = 0; nth < count; nth++) columns.push({ payload: encodeText("p"), key: "k" }, 1_000 + columns.count)
  }
  for (const call of calls) {
    push(gap)
    columns.openCall(call)
    push(call.count)
  }
  push(1)
  return { body: encodeBody(columns), count: columns.count, calls: columns.calls ?? [] }
}

const Call = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^[ -~]{1,128}$/)),
  sequence: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 })),
  fingerprint: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))
})

const one = { id: "p", sequence: 7, count: 2, fingerprint: 9 }

describe("calls in a body", () => {
  it.prop("come back as they went in, with their numbers and times, and records do not notice", [
    Schema.Array(Call).check(Schema.isMaxLength(6)),
    Schema.Literals([0, 3])
  ], ([calls, gap]) => {
    const made = bodyOf(calls, gap)
    const segment = { firstSeq: 101, count: made.count }
    assert.deepStrictEqual(
      decodeCalls(made.body, segment),
      made.calls.map(({ count, fingerprint, id, index, sequence }) => ({
        id,
        sequence,
        fingerprint,
        first: 101 + index,
        last: 100 + index + count,
        at: 1_000 + index
      }))
    )
    const records = decodeBody(made.body, segment)
    assert.strictEqual("_tag" in records ? records.reason : records.length, made.count)
  }, { arbitrary: { runs: 100 } })

  it("take nothing where there are none, and what is said where there are", () => {
    const none = bodyOf([], 0).body
    assert.strictEqual(viewOf(none).getUint32(0, true) & 16, 0)
    assert.deepStrictEqual(decodeCalls(none, { firstSeq: 1, count: 1 }), [])
    const with1 = bodyOf([{ ...one, count: 1, id: "abc" }], 0).body
    const with2 = bodyOf([{ ...one, count: 1, id: "abc" }, { ...one, count: 1, id: "de" }], 0).body
    const record = bodyOf([{ ...one, count: 2, id: "abc" }], 0).body.length - with1.length
    assert.strictEqual(with2.length - with1.length, encodedCallBytes("de") + record)
  })

  it("that are cut or do not fit the records are damage", () => {
    const { body, count } = bodyOf([{ ...one, id: "ab" }, { ...one, id: "cd" }], 1)
    const segment = { firstSeq: 1, count }
    for (let length = 0; length < body.length - count; length++) {
      assert.isTrue("_tag" in decodeCalls(body.slice(0, length), segment), `${length} bytes`)
    }
    // From the end: 7 payloads of a byte, and two calls of 24 bytes, whose number stands before them.
    const second = body.length - count - 24
    const reasonOf = (change: (view: DataView, bytes: Uint8Array) => void) => {
      const damaged = body.slice()
      change(viewOf(damaged), damaged)
      const read = decodeBody(damaged, segment)
      return "_tag" in read ? read.reason : "decoded"
    }
    const fits = "the calls do not fit the records"
    assert.strictEqual(reasonOf((view) => view.setUint32(second + 10, 2, true)), fits)
    assert.strictEqual(reasonOf((view) => view.setUint32(second + 10, 6, true)), fits)
    assert.strictEqual(reasonOf((view) => view.setUint32(second + 14, 0, true)), fits)
    assert.strictEqual(reasonOf((view) => view.setUint32(second + 14, 0xffff_ffff, true)), fits)
    assert.strictEqual(
      reasonOf((view) => view.setUint32(second + 6, 0xffff_ffff, true)),
      "a producer's sequence is beyond 2^53-1"
    )
    assert.strictEqual(
      reasonOf((_, bytes) => bytes.set([0x0a], second + 22)),
      "a producer id is not printable ASCII"
    )
    assert.strictEqual(
      reasonOf((view) => view.setUint16(second, 0, true)),
      "a producer id is not printable ASCII"
    )
    assert.strictEqual(
      reasonOf((view) => view.setUint16(second, 0xffff, true)),
      "a producer id is longer than the body"
    )
    assert.strictEqual(reasonOf((view) => view.setUint32(second - 28, 0xffff_ffff, true)), "the calls are cut")
  })

  it.effect("make the segment one that an older program refuses by name", () =>
    Effect.gen(function*() {
      const extensions = [encodeCallsMark(), encodeCallSpan({ first: 3, last: 17 })]
      const object = encodeSegment(segmentHeader({ extensions }), new Uint8Array(0), nodeDigest)
      assert.deepStrictEqual(decodeHeader(object, nodeDigest, new Set()), {
        _tag: "TooNew",
        found: "critical extension 5"
      })
      assert.deepStrictEqual([...knownCriticalExtensions], [5])
      const { header } = yield* readHeader("k", object, nodeDigest)
      assert.deepStrictEqual(callSpanOf(header), { first: 3, last: 17 })
      assert.isTrue(equalBytes(header.extensions[0]?.bytes ?? Uint8Array.of(1), new Uint8Array(0)))
    }))

  it("a producer id is 1 to 128 printable ASCII characters", () => {
    for (const id of ["a", " ", "~", "\"quoted\"", "x".repeat(128)]) assert.isTrue(isProducerId(id), id)
    for (const id of ["", "x".repeat(129), "a\nb", "a\n", "\u007f", "ä", "\u0000", "😀"]) {
      assert.isFalse(isProducerId(id), JSON.stringify(id))
    }
  })
})
