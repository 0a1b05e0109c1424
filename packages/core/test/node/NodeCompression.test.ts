import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { compressFrameSync } from "lz4-napi"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import type { CodecError, CompressionService } from "../../src/codec/Compression.ts"
import { make, nodeCompression, syncCompressMaxBytes, syncDecompressMaxBytes } from "../../src/node/NodeCompression.ts"

const codecs = ["zstd", "lz4"] as const

/** Bytes that do not compress, the same on each run (xorshift). */
const noise = (length: number): Uint8Array => {
  let state = 0x9e3779b9
  return Uint8Array.from({ length }, () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state & 255
  })
}

const lines = (length: number): Uint8Array => {
  const text = new TextEncoder().encode("{\"user\":\"u-17\",\"event\":\"click\",\"value\":12.5}\n")
  return Uint8Array.from({ length }, (_, index) => text[index % text.length] ?? 0)
}

const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => new Uint8Array(Buffer.concat(parts))

const refusal = Effect.fnUntraced(
  function*(service: CompressionService, stored: Uint8Array, codec: "zstd" | "lz4", rawBytes: number) {
    const result = yield* Effect.result(service.decompress(stored, codec, rawBytes))
    if (Result.isSuccess(result)) return assert.fail(`unpacked ${result.success.length} bytes`)
    const error: CodecError = result.failure
    assert.strictEqual(error._tag, "CodecError")
    assert.strictEqual(error.codec, codec)
    return error.reason
  }
)

/** Counts the calls of a synchronous zstd that stands in for the addon. */
const countingZstd = () => {
  const calls = { compress: 0, decompress: 0 }
  return {
    calls,
    service: make({
      compress: (body, parameters) => {
        calls.compress++
        return zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: parameters.compressionLevel } })
      },
      decompress: (stored) => {
        calls.decompress++
        return zstdDecompressSync(stored)
      }
    })
  }
}

const variants: ReadonlyArray<readonly [string, CompressionService]> = [
  ["as installed", nodeCompression],
  ["without zstd-napi", make(undefined)]
]

describe.each(variants)("NodeCompression %s", (_, service) => {
  it.effect(
    "[case 16] zero bytes, one byte and every size around the limits come back, by either codec",
    () =>
      Effect.gen(function*() {
        const sizes = [
          0,
          1,
          2,
          63,
          64,
          10_239,
          10_240,
          65_535,
          65_536,
          65_537,
          syncDecompressMaxBytes + 1,
          1 << 20,
          9 << 20
        ]
        for (const codec of codecs) {
          for (const body of sizes.map(lines)) {
            const stored = yield* service.compress(body, { type: codec })
            const raw = yield* service.decompress(stored, codec, body.length)
            assert.isTrue(Buffer.from(raw).equals(body), `${codec} ${body.length}`)
          }
        }
      }),
    30_000
  )

  it.effect("[case 16] random data comes back although it grows", () =>
    Effect.gen(function*() {
      const body = noise(1 << 20)
      for (const codec of codecs) {
        const stored = yield* service.compress(body, { type: codec })
        assert.isAtLeast(stored.length, body.length)
        assert.isTrue(Buffer.from(yield* service.decompress(stored, codec, body.length)).equals(body))
      }
    }))

  it.effect("[case 16] each level of the range works, each other one is an error instead of being clamped", () =>
    Effect.gen(function*() {
      const body = lines(20_000)
      const good = [
        ...[0, 1, 3, 6, 7, 19, 22].map((level) => ({ type: "zstd" as const, level })),
        ...[1, 4, 12, 16].map((level) => ({ type: "lz4" as const, level }))
      ]
      for (const setting of good) {
        const stored = yield* service.compress(body, setting)
        assert.isTrue(Buffer.from(yield* service.decompress(stored, setting.type, body.length)).equals(body))
      }
      const bad = [
        ...[23, 100, -1, 3.5, NaN].map((level) => ({ type: "zstd" as const, level })),
        ...[0, 17, 4.5].map((level) => ({ type: "lz4" as const, level }))
      ]
      for (const setting of bad) {
        const result = yield* Effect.result(service.compress(body, setting))
        assert.isTrue(Result.isFailure(result), `${setting.type} ${setting.level}`)
      }
    }))

  it.effect("a higher level of zstd packs more", () =>
    Effect.gen(function*() {
      const body = concat(noise(4_000), lines(30_000), noise(4_000), lines(30_000))
      const low = yield* service.compress(body, { type: "zstd", level: 1 })
      const high = yield* service.compress(body, { type: "zstd", level: 19 })
      assert.isBelow(high.length, low.length)
    }))

  it.effect("none leaves the body as it is", () =>
    Effect.gen(function*() {
      const body = lines(100)
      assert.strictEqual(yield* service.compress(body, { type: "none" }), body)
    }))

  it.effect("[case 15] 8 KB that unpack to 256 MiB, behind a header that says 1,000,000", () =>
    Effect.gen(function*() {
      const honest = new Uint8Array(zstdCompressSync(new Uint8Array(256 << 20)))
      assert.isBelow(honest.length, 10_000)
      assert.include(yield* refusal(service, honest, "zstd", 1_000_000), "268435456")
      // The same frame, which now itself claims 1,000,000 bytes.
      const lying = honest.slice()
      assert.strictEqual((lying[4] ?? 0) >>> 6, 2, "the frame has a content size of 4 bytes")
      new DataView(lying.buffer).setUint32(6, 1_000_000, true)
      yield* refusal(service, lying, "zstd", 1_000_000)
    }), 30_000)

  it.effect("[case 15] the same as lz4: counted without being unpacked", () =>
    Effect.gen(function*() {
      const bomb = new Uint8Array(compressFrameSync(Buffer.alloc(256 << 20)))
      const reason = yield* refusal(service, bomb, "lz4", 4_000_000)
      assert.include(reason, "4000000")
      // Few enough blocks for the length, so only counting tells; it stops at the first byte too many.
      const large = yield* service.compress(lines(9 << 20), { type: "lz4" })
      assert.include(yield* refusal(service, large, "lz4", 5 << 20), `at least ${8 << 20} bytes`)
    }), 30_000)

  it.effect("[case 15] a raw lz4 block with a size prefix of 4 GiB is not a frame", () =>
    Effect.gen(function*() {
      const block = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xcf, 0x68, 0x65, 0x6c, 0x6c, 0x6f)
      yield* refusal(service, block, "lz4", 1_000)
      yield* refusal(service, concat(block, new Uint8Array(20)), "lz4", 1_000)
    }))

  it.effect("[case 15] one byte more or less than the header says", () =>
    Effect.gen(function*() {
      for (const codec of codecs) {
        for (const length of [11, 100_000, 300_000]) {
          const stored = yield* service.compress(lines(length), { type: codec })
          yield* refusal(service, stored, codec, length - 1)
          yield* refusal(service, stored, codec, length + 1)
          assert.strictEqual((yield* service.decompress(stored, codec, length)).length, length)
        }
      }
    }))

  it.effect("[case 15] a frame whose own content size is right for the header and wrong for the data", () =>
    Effect.gen(function*() {
      for (const length of [50_000, 400_000]) {
        const stored = (yield* service.compress(lines(length), { type: "zstd" })).slice()
        const view = new DataView(stored.buffer)
        const flag = (stored[4] ?? 0) >>> 6
        const offset = ((stored[4] ?? 0) & 0x20) === 0 ? 6 : 5
        if (flag === 1) view.setUint16(offset, length + 1 - 256, true)
        else view.setUint32(offset, length + 1, true)
        yield* refusal(service, stored, "zstd", length + 1)
      }
    }))

  it.effect("two frames on end are an error, not the first one", () =>
    Effect.gen(function*() {
      for (const codec of codecs) {
        const one = yield* service.compress(lines(5_000), { type: codec })
        assert.include(yield* refusal(service, concat(one, one), codec, 5_000), "after the frame")
        yield* refusal(service, concat(one, one), codec, 10_000)
        yield* refusal(service, concat(one, Uint8Array.of(0)), codec, 5_000)
      }
    }))

  it.effect("a frame cut anywhere is an error, and so is one with the other codec's name", () =>
    Effect.gen(function*() {
      for (const codec of codecs) {
        const body = concat(lines(2_000), noise(200))
        const stored = yield* service.compress(body, { type: codec })
        for (let length = 0; length < stored.length; length++) {
          yield* refusal(service, stored.slice(0, length), codec, body.length)
        }
        yield* refusal(service, stored, codec === "zstd" ? "lz4" : "zstd", body.length)
      }
    }))

  it.effect("any flipped bit is an error or gives exactly as many bytes, never a defect", () =>
    Effect.gen(function*() {
      const body = lines(3_000)
      for (const codec of codecs) {
        const stored = yield* service.compress(body, { type: codec })
        for (let bit = 0; bit < stored.length * 8; bit++) {
          const damaged = stored.slice()
          damaged[bit >>> 3] = (damaged[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
          const result = yield* Effect.result(service.decompress(damaged, codec, body.length))
          if (Result.isSuccess(result)) assert.strictEqual(result.success.length, body.length)
        }
      }
    }), 30_000)

  it.effect("zstd frames without a content size, with a dictionary id or of skippable kind are refused", () =>
    Effect.gen(function*() {
      const params = { [constants.ZSTD_c_contentSizeFlag]: 0 }
      const unsized = new Uint8Array(zstdCompressSync(lines(5_000), { params }))
      assert.include(yield* refusal(service, unsized, "zstd", 5_000), "content size")
      const skippable = concat(Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4))
      yield* refusal(service, skippable, "zstd", 4)
    }))

  it.effect("what is unpacked does not hold on to a buffer much larger than itself", () =>
    Effect.gen(function*() {
      for (const codec of codecs) {
        for (const length of [20_000, 1 << 20]) {
          const stored = yield* service.compress(lines(length), { type: codec })
          const raw = yield* service.decompress(stored, codec, length)
          assert.isBelow(raw.buffer.byteLength, length * 1.2 + 128, codec)
        }
      }
    }))
})

describe("NodeCompression", () => {
  it.effect("[predecessor 14] what one program writes with one codec the other reads, whatever it is configured with", () =>
    Effect.gen(function*() {
      const body = lines(40_000)
      const plain = make(undefined)
      const byAddon = yield* nodeCompression.compress(body, { type: "zstd" })
      const byZlib = yield* plain.compress(body, { type: "zstd" })
      assert.isTrue(Buffer.from(yield* plain.decompress(byAddon, "zstd", body.length)).equals(body))
      assert.isTrue(Buffer.from(yield* nodeCompression.decompress(byZlib, "zstd", body.length)).equals(body))
      // The codec comes from the object: a reader set to lz4 or none still reads zstd.
      const lz4 = yield* nodeCompression.compress(body, { type: "lz4" })
      assert.isTrue(Buffer.from(yield* nodeCompression.decompress(lz4, "lz4", body.length)).equals(body))
    }))

  it.effect("the synchronous addon sees small bodies at low levels only", () =>
    Effect.gen(function*() {
      const { calls, service } = countingZstd()
      const small = yield* service.compress(lines(syncCompressMaxBytes), { type: "zstd", level: 6 })
      assert.deepStrictEqual(calls, { compress: 1, decompress: 0 })
      yield* service.decompress(small, "zstd", syncCompressMaxBytes)
      assert.deepStrictEqual(calls, { compress: 1, decompress: 1 })
      yield* service.compress(lines(syncCompressMaxBytes), { type: "zstd", level: 7 })
      yield* service.compress(lines(syncCompressMaxBytes + 1), { type: "zstd", level: 3 })
      const large = yield* service.compress(lines(syncDecompressMaxBytes + 1), { type: "zstd", level: 3 })
      yield* service.decompress(large, "zstd", syncDecompressMaxBytes + 1)
      assert.deepStrictEqual(calls, { compress: 1, decompress: 1 })
    }))
})
