import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { zstdCompressSync } from "node:zlib"
import { ownerOf } from "../../src/format/Extensions.ts"
import { encodeBody } from "../../src/format/SegmentBody.ts"
import {
  encodeEndMarker,
  encodeSegment,
  maxMarkerBytes,
  readHeader,
  readSegment,
  recordsOf
} from "../../src/format/SegmentCodec.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { columnsOf, segmentHeader } from "./Samples.ts"

const context = { digest: nodeDigest, compression: nodeCompression, maxSegmentBytes: 1_000_000 }
const key = "k/segments/0000000003/000000000017.seg"

const raw = encodeBody(
  columnsOf(Array.from({ length: 10 }, (_, index) => ({ payload: new Uint8Array(100).fill(index) })))
)

const object = (change: Partial<SegmentHeader> = {}, stored: Uint8Array = raw) =>
  encodeSegment(
    segmentHeader({
      rawBytes: raw.length,
      rawCrc: nodeDigest.crc32(raw),
      storedBytes: stored.length,
      storedCrc: nodeDigest.crc32(stored),
      ...change
    }),
    stored,
    nodeDigest
  )

const damage = (bytes: Uint8Array) =>
  Effect.flip(readSegment(key, bytes, context)).pipe(
    Effect.map((error) =>
      error._tag === "SegmentCorrupt" ? [error.key, error.offset, error.reason] : [error.key, error._tag, error.found]
    )
  )

describe("a stored segment", () => {
  it.effect("is read back, raw and packed; the codec is the object's", () =>
    Effect.gen(function*() {
      for (const type of ["none", "zstd", "lz4"] as const) {
        const stored = type === "none" ? raw : yield* nodeCompression.compress(raw, { type })
        const read = yield* readSegment(key, object({ codec: type }, stored), context)
        assert.deepEqual(read.body, raw)
        const records = yield* recordsOf(key, read, 175)
        assert.deepStrictEqual(records.map((record) => record.seq), [175, 176, 177, 178, 179, 180])
      }
    }))

  it.effect("[case 11] that is cut, zeroed at the end, without a body or longer than it says is damage", () =>
    Effect.gen(function*() {
      const whole = object()
      const body = whole.length - raw.length
      assert.deepStrictEqual(
        yield* damage(whole.slice(0, -7)),
        [key, body, `the body has ${raw.length - 7} bytes, the header says ${raw.length}`]
      )
      assert.deepStrictEqual(yield* damage(whole.slice().fill(0, -512)), [
        key,
        body,
        "the body checksum does not match"
      ])
      assert.deepStrictEqual(
        yield* damage(whole.slice(0, body)),
        [key, body, `the body has 0 bytes, the header says ${raw.length}`]
      )
      const longer = new Uint8Array(whole.length + 4 * 1_024 * 1_024)
      longer.set(whole)
      assert.strictEqual((yield* damage(longer))[1], body)
      assert.strictEqual((yield* damage(whole.slice(0, 100)))[2], "the header is cut")
    }))

  it.effect("with any bit of the body changed is damage", () =>
    Effect.gen(function*() {
      const whole = object()
      for (let at = whole.length - raw.length; at < whole.length; at += 13) {
        const flipped = whole.slice()
        flipped[at] = (flipped[at] ?? 0) ^ 16
        assert.strictEqual((yield* damage(flipped))[2], "the body checksum does not match")
      }
    }))

  it.effect("[case 15] that claims or unpacks to more than the limit is refused before it is unpacked", () =>
    Effect.gen(function*() {
      const bomb = zstdCompressSync(new Uint8Array(64 * 1_024 * 1_024))
      assert.deepStrictEqual(
        yield* damage(object({ codec: "zstd", rawBytes: 64 * 1_024 * 1_024 }, bomb)),
        [key, 76, "the body unpacks to 67108864 bytes, the limit is 1000000"]
      )
      const lying = yield* damage(object({ codec: "zstd", rawBytes: 1_000_000 }, bomb))
      assert.strictEqual(lying[1], 152)
      const zeros = zstdCompressSync(new Uint8Array(1_000_000))
      const atLimit = yield* readSegment(
        key,
        object({ codec: "zstd", rawBytes: 1_000_000, rawCrc: nodeDigest.crc32(new Uint8Array(1_000_000)) }, zeros),
        context
      )
      assert.strictEqual(atLimit.body.length, 1_000_000)
    }))

  it.effect("[case 15] whose lengths or checksums disagree is damage", () =>
    Effect.gen(function*() {
      const packed = yield* nodeCompression.compress(raw, { type: "zstd" })
      assert.strictEqual((yield* damage(object({ codec: "zstd", rawBytes: raw.length + 1 }, packed)))[1], 152)
      assert.strictEqual((yield* damage(object({ codec: "zstd", rawBytes: raw.length - 1 }, packed)))[1], 152)
      assert.deepStrictEqual(
        yield* damage(object({ codec: "zstd", rawCrc: 1 }, packed)),
        [key, 152, "the unpacked body's checksum does not match"]
      )
      assert.deepStrictEqual(
        yield* damage(object({ rawBytes: raw.length + 1 })),
        [key, 76, "a body that is not packed has two lengths"]
      )
      assert.deepStrictEqual(yield* damage(object({ rawCrc: 1 })), [
        key,
        84,
        "a body that is not packed has two checksums"
      ])
      assert.strictEqual((yield* damage(object({ codec: "lz4" }, raw)))[1], 152)
    }))

  it.effect("of a newer version is SegmentTooNew with the key", () =>
    Effect.gen(function*() {
      const newer = object({ extensions: [{ type: 20, critical: true, bytes: new Uint8Array(0) }] })
      assert.deepStrictEqual(yield* damage(newer), [key, "SegmentTooNew", "critical extension 20"])
    }))

  it.effect("whose body is not what its header counts is damage", () =>
    Effect.gen(function*() {
      const read = yield* readSegment(key, object({ count: 11 }), context)
      const error = yield* Effect.flip(recordsOf(key, read, 0))
      assert.deepStrictEqual([error._tag, error.key], ["SegmentCorrupt", key])
    }))
})

describe("an end marker", () => {
  it.effect("says whose it is, and is small whatever the host is called", () =>
    Effect.gen(function*() {
      for (const host of ["host-1", "x".repeat(5_000), "ü".repeat(5_000)]) {
        const bytes = encodeEndMarker(
          { logId: "a".repeat(32), nonce: "b".repeat(32), epoch: 3, slot: 17, owner: { epoch: 4, host } },
          nodeDigest
        )
        assert.isAtMost(bytes.length, maxMarkerBytes)
        const { header } = yield* readHeader(key, bytes, nodeDigest)
        assert.deepStrictEqual([header.kind, header.epoch, header.slot], ["end-marker", 3, 17])
        assert.deepStrictEqual(ownerOf(header), { epoch: 4, host: host.slice(0, 255) })
      }
    }))
})
