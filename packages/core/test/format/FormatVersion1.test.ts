/**
 * A log of format version 1 as it was stored, byte for byte. It must open for ever: a change that fails here is a new
 * version of the format, with its own fixture beside this one.
 */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { readFileSync } from "node:fs"
import { encodeText, fromHex } from "../../src/format/Bytes.ts"
import { cursorsOf, linkOf, ownerOf, trimOf } from "../../src/format/Extensions.ts"
import { decodeManifest } from "../../src/format/ManifestCodec.ts"
import { readHeader, readSegment } from "../../src/format/SegmentCodec.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { decode, drive, encode, World } from "../scenarios/World.ts"

const stored: { readonly objects: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(new URL("../fixtures/log-v1.json", import.meta.url), "utf8")
)

const bodies = new Map(
  Object.entries(stored.objects).map(([key, value]) =>
    [key, typeof value === "string" ? fromHex(value) : encodeText(JSON.stringify(value))] as const
  )
)

const body = (key: string): Uint8Array => bodies.get(`node/log/${key}`) ?? new Uint8Array(0)
const context = { digest: nodeDigest, compression: nodeCompression, maxSegmentBytes: 1_000_000 }
const text = (seq: number) => `${"payload of some length, so that it packs well ".repeat(6)}${seq}`

describe("format version 1", () => {
  it.effect("a segment: header, copies, records", () =>
    Effect.gen(function*() {
      const { header } = yield* readSegment("k", body("segments/0000000001/000000000000.seg"), context)
      assert.deepStrictEqual([header.kind, header.codec, header.epoch, header.slot], ["segment", "none", 1, 0])
      assert.deepStrictEqual([header.firstSeq, header.count, header.firstAt], [1, 3, 1_790_000_000_000])
      assert.deepStrictEqual([header.watermarkSlot, header.watermarkSeq], [0, 0])
      assert.deepStrictEqual(cursorsOf(header)?.marks, { default: 0 })
      assert.deepStrictEqual([trimOf(header)?.epoch, linkOf(header)?.seq], [1, 0])
      const second = yield* readHeader("k", body("segments/0000000001/000000000001.seg"), nodeDigest)
      assert.deepStrictEqual([second.header.watermarkSlot, second.header.watermarkSeq], [1, 3])
      assert.deepStrictEqual(cursorsOf(second.header)?.marks, { default: 1 })
      assert.isUndefined(linkOf(second.header))
    }))

  it.effect("packed segments name their codec", () =>
    Effect.gen(function*() {
      for (const [epoch, codec] of [[2, "zstd"], [3, "lz4"]] as const) {
        const read = yield* readSegment("k", body(`segments/000000000${epoch}/000000000000.seg`), context)
        assert.strictEqual(read.header.codec, codec)
        assert.isBelow(read.header.storedBytes, read.header.rawBytes)
      }
    }))

  it.effect("an end marker", () =>
    Effect.gen(function*() {
      const { header } = yield* readHeader("k", body("segments/0000000001/000000000002.seg"), nodeDigest)
      assert.deepStrictEqual([header.kind, header.epoch, header.slot], ["end-marker", 1, 2])
      assert.deepStrictEqual(ownerOf(header), { epoch: 2, host: "host-b" })
    }))

  it.effect("a manifest", () =>
    Effect.gen(function*() {
      const manifest = yield* decodeManifest("k", body("manifest.json"))
      assert.deepStrictEqual([manifest.epoch, manifest.live, manifest.host], [3, 3, "host-c"])
      assert.deepStrictEqual(manifest.ends.map((end) => [end.epoch, end.slot, end.seq]), [[1, 2, 4], [2, 1, 7]])
      assert.deepStrictEqual(manifest.cursors.marks, { default: 2, audit: 0 })
      assert.deepStrictEqual(manifest.unknown, {})
    }))

  it.effect("the whole log opens, reads and goes on", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      for (const [key, bytes] of bodies) memory.put(key, bytes)
      const wal = yield* drive(new World(memory, {}).process("now").open())
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual(read.map((record) => record.seq), [1, 2, 3, 4, 5, 6, 7, 8, 9])
      const [first, second, third, fourth, ...packed] = read
      assert.deepStrictEqual(first, {
        seq: 1,
        appendedAt: 1_790_000_000_000,
        payload: encode("first"),
        key: "k1",
        headers: { a: "1", "ü": "é" },
        contentType: "text/plain",
        timestamp: 1.5
      })
      assert.deepEqual(second?.payload, new Uint8Array(0))
      assert.deepEqual([third?.payload, third?.timestamp], [Uint8Array.of(0xff, 0, 0xfe), -1])
      assert.strictEqual(decode(fourth?.payload ?? new Uint8Array(0)), "fourth")
      assert.deepStrictEqual(packed.map((record) => decode(record.payload)), [5, 6, 7, 8, 9].map(text))
      const { cursors } = yield* wal.status
      assert.deepStrictEqual([cursors["default"]?.mark, cursors["audit"]?.mark], [2, 0])
      const { first: next } = yield* wal.append([{ payload: encode("tenth") }])
      assert.strictEqual(next, 10)
    }))
})
