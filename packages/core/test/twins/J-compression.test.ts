/** Twins of the compression cases: objects whose checksums are right and whose frames are not what they should be. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { compressFrameSync } from "lz4-napi"
import { zstdCompressSync } from "node:zlib"
import type { CodecName } from "../../src/codec/Compression.ts"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { failing, skipping } from "../support/Harmed.ts"
import {
  drive,
  key,
  open,
  type Options,
  readAll,
  reopen,
  seqs,
  sized,
  still,
  store,
  stored
} from "../support/LogWorld.ts"

const packed: Options = {
  ...still,
  segment: { maxEntries: 1 },
  compression: { type: "zstd", level: 3, thresholdBytes: 1 }
}

/** A log of three segments, and the raw body of the second. */
const threeSegments = Effect.gen(function*() {
  const writer = yield* open(packed)
  for (const fill of [1, 2, 3]) yield* store(writer.wal, [sized(4_000, fill)])
  yield* writer.wal.close
  const log = yield* reopen(writer, packed)
  const { body, header } = yield* stored(log.memory, key(1))
  const replace = (codec: CodecName, stored: Uint8Array, rawBytes = header.rawBytes) => {
    const changed = { ...header, codec, rawBytes, storedBytes: stored.length, storedCrc: nodeDigest.crc32(stored) }
    log.memory.put(key(1), encodeSegment(changed, stored, nodeDigest))
  }
  return { log, body, replace }
})

const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => new Uint8Array(Buffer.concat(parts))

const lz4 = (body: Uint8Array): Uint8Array => compressFrameSync(Buffer.from(body))

/** A zstd frame that decoders skip, of eight bytes of content. */
const skippable = Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8)

const halves = (body: Uint8Array) => [body.subarray(0, 1_000), body.subarray(1_000)] as const

describe("a body whose checksums are right", () => {
  it.effect.each<readonly [string, (body: Uint8Array) => readonly [CodecName, Uint8Array]]>([
    ["bytes behind its zstd frame", (body) => ["zstd", concat(zstdCompressSync(body), Uint8Array.of(0))]],
    ["two zstd frames that together are the body", (body) => [
      "zstd",
      concat(...halves(body).map((half) => zstdCompressSync(half)))
    ]],
    ["an empty zstd frame before the real one", (body) => [
      "zstd",
      concat(zstdCompressSync(new Uint8Array(0)), zstdCompressSync(body))
    ]],
    ["a skippable frame before the real one", (body) => ["zstd", concat(skippable, zstdCompressSync(body))]],
    ["a skippable frame behind the real one", (body) => ["zstd", concat(zstdCompressSync(body), skippable)]],
    ["two lz4 frames that together are the body", (body) => [
      "lz4",
      concat(...halves(body).map((half) => lz4(half)))
    ]],
    ["bytes behind its lz4 frame", (body) => ["lz4", concat(lz4(body), Uint8Array.of(0, 0, 0, 0))]],
    ["a zstd frame that says lz4", (body) => ["lz4", zstdCompressSync(body)]],
    ["an lz4 frame that says zstd", (body) => ["zstd", lz4(body)]],
    ["a packed body that says that it is not", (body) => ["none", zstdCompressSync(body)]],
    ["nothing at all", () => ["zstd", new Uint8Array(0)]]
  ])("[kind J] %s: damage by its name, and the rest is read", ([, change]) =>
    Effect.gen(function*() {
      const { body, log, replace } = yield* threeSegments
      const [codec, bytes] = change(body)
      replace(codec, bytes)
      const { before, error } = yield* failing(log)
      assert.deepStrictEqual([error._tag, before], ["SegmentCorrupt", [1]])
      assert.deepStrictEqual(yield* skipping(log), [1, "lost 2-2", 3])
    }))

  it.effect("[kind J] one whole frame of either codec, whatever the log is configured with, is read", () =>
    Effect.gen(function*() {
      for (const [codec, pack] of [["zstd", zstdCompressSync], ["lz4", lz4]] as const) {
        const { body, log, replace } = yield* threeSegments
        replace(codec, pack(body))
        assert.deepStrictEqual(seqs(yield* drive(readAll(log.wal))), [1, 2, 3])
      }
    }))
})
