import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { zstdCompressSync } from "node:zlib"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { failing, harmed, tens } from "../support/Harmed.ts"
import { key, open, reopen, still, store, stored } from "../support/LogWorld.ts"

describe("a header that lies about sizes", () => {
  const lying = Effect.fnUntraced(
    function*(packed: Uint8Array, codec: "zstd" | "lz4", rawBytes: number, limit = 1_000_000) {
      const log = yield* harmed(() => undefined, 0, {
        ...tens,
        maxSegmentBytes: limit,
        maxRecordBytes: 1_000,
        segment: { maxEntries: 10, maxBytes: 1_000 }
      })
      const { header } = yield* stored(log.memory, key(4))
      const storedCrc = nodeDigest.crc32(packed)
      log.memory.put(
        key(4),
        encodeSegment({ ...header, codec, rawBytes, storedBytes: packed.length, storedCrc }, packed, nodeDigest)
      )
      return (yield* failing(log)).error
    }
  )

  it.effect("8 KB that unpack to 256 MiB are not unpacked [case 15]", () =>
    Effect.gen(function*() {
      const bomb = zstdCompressSync(new Uint8Array(256 * 1_048_576))
      const before = process.memoryUsage().rss
      assert.deepInclude(yield* lying(bomb, "zstd", 1_000_000), { _tag: "SegmentCorrupt", key: key(4) })
      assert.isBelow(process.memoryUsage().rss - before, 100 * 1_048_576)
    }))

  it.effect("more than max_segment_bytes is refused before anything is unpacked [case 15]", () =>
    Effect.gen(function*() {
      const zeros = zstdCompressSync(new Uint8Array(1_000_001))
      assert.deepInclude(yield* lying(zeros, "zstd", 1_000_001), { _tag: "SegmentCorrupt", offset: 76 })
    }))

  it.effect("an lz4 length prefix that claims 4 GiB is refused at once [case 15]", () =>
    Effect.gen(function*() {
      const lie = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xcf, 0x68, 0x65, 0x6c, 0x6c, 0x6f)
      assert.deepInclude(yield* lying(lie, "lz4", 1_000), { _tag: "SegmentCorrupt", key: key(4) })
    }))

  it.effect("11 bytes where the header says 10 [case 15]", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* lying(zstdCompressSync(new Uint8Array(11)), "zstd", 10), { _tag: "SegmentCorrupt" })
      assert.deepInclude(yield* lying(zstdCompressSync(new Uint8Array(9)), "zstd", 10), { _tag: "SegmentCorrupt" })
    }))

  it.effect("exactly at the limit is read [case 15]", () =>
    Effect.gen(function*() {
      // One record of 2,000 bytes: a body of 2,016.
      const options = { ...still, maxRecordBytes: 2_000, segment: { maxBytes: 2_000 } }
      const writer = yield* open(options)
      yield* store(writer.wal, [{ payload: new Uint8Array(2_000) }])
      const read = (maxSegmentBytes: number) =>
        Effect.flatMap(
          reopen(writer, { ...options, maxRecordBytes: 500, segment: { maxBytes: 500 }, maxSegmentBytes }),
          (log) => Effect.exit(Stream.runCollect(log.wal.read()))
        )
      assert.strictEqual((yield* read(2_016))._tag, "Success")
      assert.strictEqual((yield* read(2_015))._tag, "Failure")
    }))
})
