import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { setUint64, viewOf } from "../../src/format/Bytes.ts"
import {
  type DecodedHeader,
  decodeHeader,
  encodedHeaderBytes,
  encodeHeader,
  type HeaderFailure,
  maxHeaderBytes,
  type SegmentHeader
} from "../../src/format/SegmentHeader.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { segmentHeader } from "./Samples.ts"

const encode = (header: SegmentHeader): Uint8Array => {
  const bytes = new Uint8Array(encodedHeaderBytes(header))
  encodeHeader(header, bytes, nodeDigest)
  return bytes
}

const decode = (bytes: Uint8Array, critical: ReadonlyArray<number> = []): DecodedHeader | HeaderFailure =>
  decodeHeader(bytes, nodeDigest, new Set(critical))

/** What a header that was changed on purpose says, with its checksum made right again. */
const changed = (header: SegmentHeader, change: (bytes: Uint8Array, view: DataView) => void) => {
  const bytes = encode(header)
  const view = viewOf(bytes)
  change(bytes, view)
  view.setUint32(bytes.length - 4, nodeDigest.crc32(bytes.subarray(0, bytes.length - 4)), true)
  return decode(bytes)
}

const Hex = Schema.String.check(Schema.isPattern(/^[0-9a-f]{32}$/))
const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))

const Headers = Schema.Struct({
  kind: Schema.Literals(["segment", "end-marker"]),
  codec: Schema.Literals(["none", "zstd", "lz4"]),
  logId: Hex,
  nonce: Hex,
  epoch: Count,
  slot: Count,
  // So that the last number is one too, whatever the count is.
  firstSeq: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 0xffff_ffff })),
  count: Small,
  rawBytes: Small,
  storedBytes: Small,
  rawCrc: Small,
  storedCrc: Small,
  firstAt: Schema.Finite,
  lastAt: Schema.Finite,
  watermarkSlot: Count,
  watermarkSeq: Count,
  chain: Hex,
  extensions: Schema.Array(Schema.Struct({
    type: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0x7fff })),
    critical: Schema.Literal(false),
    bytes: Schema.Uint8Array.check(Schema.isMaxLength(200))
  })).check(Schema.isMaxLength(4))
})

describe("a header", () => {
  it.prop("comes back as it went in", [Headers], ([header]) => {
    const bytes = encode(header)
    const decoded = decode(bytes)
    assert.deepEqual(decoded, { header, headerBytes: bytes.length })
  }, { arbitrary: { runs: 300 } })

  it("with any byte changed does not decode to another header", () => {
    const header = segmentHeader({ extensions: [{ type: 9, critical: false, bytes: Uint8Array.of(1, 2, 3) }] })
    const bytes = encode(header)
    for (let at = 0; at < bytes.length; at++) {
      for (const bit of [1, 128]) {
        const flipped = bytes.slice()
        flipped[at] = (flipped[at] ?? 0) ^ bit
        const decoded = decode(flipped)
        assert.isTrue("_tag" in decoded, `byte ${at}`)
      }
    }
  })

  it("that is cut at any byte is damage, at the place of the cut", () => {
    const bytes = encode(segmentHeader({ extensions: [{ type: 9, critical: false, bytes: new Uint8Array(40) }] }))
    for (let length = 8; length < bytes.length; length++) {
      assert.deepEqual(decode(bytes.slice(0, length)), { _tag: "Corrupt", offset: length, reason: "the header is cut" })
    }
  })

  it("[case 12] of something else says what was found", () => {
    assert.deepEqual(decode(Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0)), {
      _tag: "Corrupt",
      offset: 0,
      reason: "not a segment: it starts with 504b0304"
    })
    assert.deepEqual(decode(new Uint8Array(0)), { _tag: "Corrupt", offset: 0, reason: "the object is empty" })
  })

  it("with a lying length is damage", () => {
    for (const total of [0, 151, maxHeaderBytes + 1, 0xffff_ffff]) {
      const decoded = changed(segmentHeader(), (_, view) => view.setUint32(12, total, true))
      assert.deepEqual(decoded, { _tag: "Corrupt", offset: 12, reason: `header length ${total} is out of range` })
    }
    const longer = changed(segmentHeader(), (_, view) => view.setUint32(12, 200, true))
    assert.deepEqual(longer, { _tag: "Corrupt", offset: 152, reason: "the header is cut" })
  })

  it("whose extension is longer than the header is damage", () => {
    const header = segmentHeader({ extensions: [{ type: 9, critical: false, bytes: new Uint8Array(4) }] })
    for (const length of [5, 1_000, 0xffff_ffff]) {
      assert.deepEqual(changed(header, (_, view) => view.setUint32(150, length, true)), {
        _tag: "Corrupt",
        offset: 148,
        reason: "an extension is longer than the header"
      })
    }
    assert.deepEqual(changed(header, (_, view) => view.setUint32(150, 1, true)), {
      _tag: "Corrupt",
      offset: 155,
      reason: "an extension is cut"
    })
  })

  it("with a wrong checksum is damage", () => {
    const bytes = encode(segmentHeader())
    bytes[60] = 1
    assert.deepEqual(decode(bytes), { _tag: "Corrupt", offset: 148, reason: "the header checksum does not match" })
  })

  it("with a number beyond 2^53-1 is damage", () => {
    for (const offset of [48, 56, 64, 112, 120]) {
      const decoded = changed(segmentHeader(), (_, view) => view.setUint32(offset + 4, 0x20_0000, true))
      assert.deepEqual(decoded, { _tag: "Corrupt", offset: 48, reason: "a number is beyond 2^53-1" })
      const header = segmentHeader({ count: 0 })
      const highest = changed(header, (_, view) => setUint64(view, offset, Number.MAX_SAFE_INTEGER))
      assert.isFalse("_tag" in highest)
    }
  })

  it("whose last record has a number beyond 2^53-1 is damage", () => {
    const beyond = decode(encode(segmentHeader({ firstSeq: Number.MAX_SAFE_INTEGER, count: 2 })))
    assert.deepEqual(beyond, { _tag: "Corrupt", offset: 64, reason: "the last number is beyond 2^53-1" })
    const last = decode(encode(segmentHeader({ firstSeq: Number.MAX_SAFE_INTEGER - 1, count: 2 })))
    assert.isFalse("_tag" in last)
  })

  it("with a time that is not finite is damage", () => {
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      for (const header of [segmentHeader({ firstAt: time }), segmentHeader({ lastAt: time })]) {
        assert.deepEqual(decode(encode(header)), { _tag: "Corrupt", offset: 96, reason: "a time is not finite" })
      }
    }
  })

  it("of a newer version, kind, codec or with an unknown critical extension is too new", () => {
    const tooNew = (found: string): HeaderFailure => ({ _tag: "TooNew", found })
    const set = (offset: number, value: number) => changed(segmentHeader(), (bytes) => void bytes.set([value], offset))
    assert.deepEqual(set(8, 2), tooNew("format version 2"))
    assert.deepEqual(set(10, 3), tooNew("object kind 3"))
    assert.deepEqual(set(11, 3), tooNew("codec 3"))
    const header = segmentHeader({ extensions: [{ type: 77, critical: true, bytes: Uint8Array.of(1) }] })
    assert.deepEqual(decode(encode(header)), tooNew("critical extension 77"))
    assert.deepEqual(decode(encode(header), [77]), { header, headerBytes: 159 })
    assert.deepEqual(set(8, 0), { _tag: "Corrupt", offset: 8, reason: "format version 0 does not exist" })
  })

  it("with an unknown extension that is not critical is read, and the extension is kept", () => {
    const header = segmentHeader({ extensions: [{ type: 12_345, critical: false, bytes: Uint8Array.of(1, 2) }] })
    assert.deepEqual(decode(encode(header)), { header, headerBytes: 160 })
  })
})
