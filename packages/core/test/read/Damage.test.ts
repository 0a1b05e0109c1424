import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { WalReader } from "@effect-wal/core/WalReader"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { encodeEndMarker, encodeSegment } from "../../src/format/SegmentCodec.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { bodyOf, failing, harmed, skipping, tens } from "../support/Harmed.ts"
import { drive, encode, key, open, range, seqs, still, stored, storeSegments } from "../support/LogWorld.ts"

const cut = (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 7)
const zeroed = (bytes: Uint8Array) => bytes.fill(0, bytes.length - 40)
const longer = (bytes: Uint8Array) => {
  const grown = new Uint8Array(bytes.length + 4 * 1_048_576)
  grown.set(bytes)
  return grown
}
const flipped = (at: number) => (bytes: Uint8Array) => {
  bytes[at < 0 ? bytes.length + at : at]! ^= 1
  return bytes
}

describe("a damaged segment", () => {
  const kinds: ReadonlyArray<readonly [string, (bytes: Uint8Array) => Uint8Array]> = [
    ["the last 7 bytes are missing", cut],
    ["the last 40 bytes are zero", zeroed],
    ["4 MiB of zeros follow", longer],
    ["only the header is there", (bytes) => bytes.subarray(0, 200)],
    ["nothing is there", () => encode("")],
    ["it is a zip file", () => Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0)],
    ["it is somebody's text", () => encode("hello, world ".repeat(100))],
    ["a bit of the header is flipped", flipped(70)],
    ["a bit of the body is flipped", flipped(-30)],
    ["the last bit is flipped", flipped(-1)]
  ]
  for (const [name, damage] of kinds) {
    it.effect(`${name}: loud by default, one lost range with skip [case 11] [case 12] [predecessor 7] [predecessor 22]`, () =>
      Effect.gen(function*() {
        const log = yield* harmed(({ memory }) => memory.damage(key(4), damage))
        const bucket = new Map(log.memory.objects)
        const { before, error } = yield* failing(log)
        assert.strictEqual(error._tag, "SegmentCorrupt")
        if (error._tag === "SegmentCorrupt") {
          assert.strictEqual(error.key, key(4))
          assert.isAtLeast(error.offset, 0)
        }
        assert.deepStrictEqual(before, range(1, 40))
        assert.deepStrictEqual(yield* skipping(log), [...range(1, 40), "lost 41-50", ...range(51, 100)])
        assert.deepStrictEqual(new Map(log.memory.objects), bucket)
      }))
  }

  it.effect("every byte counts: a flipped bit anywhere is noticed [predecessor 7]", () =>
    Effect.gen(function*() {
      const log = yield* harmed(() => undefined)
      const whole = bodyOf(log, 4)
      for (let at = 0; at < whole.length; at++) {
        log.memory.put(key(4), flipped(at)(whole.slice()))
        const read = yield* Effect.exit(Stream.runDrain(log.wal.read({ from: 41, limit: 10 })))
        assert.strictEqual(read._tag, "Failure", `byte ${at} of ${whole.length}`)
      }
    }))

  it.effect("the last segments: the loss ends at the durable end", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => {
        memory.damage(key(8), cut)
        memory.damage(key(9), cut)
      })
      assert.deepStrictEqual(yield* skipping(log), [...range(1, 80), "lost 81-90", "lost 91-100"])
    }))

  it.effect("neighbours: each loss is told once, what can be read between is delivered", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => {
        memory.objects.delete(key(1))
        memory.objects.delete(key(2))
        // Its header still says where the loss before it ends.
        memory.damage(key(3), cut)
        memory.objects.delete(key(4))
        memory.damage(key(6), flipped(-1))
      })
      assert.deepStrictEqual(yield* skipping(log), [
        ...range(1, 10),
        "lost 11-30",
        "lost 31-50",
        ...range(51, 60),
        "lost 61-70",
        ...range(71, 100)
      ])
    }))
})

describe("a segment in the wrong place", () => {
  it.effect("another slot's: SegmentCorrupt", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => memory.put(key(4), memory.objects.get(key(7))?.body ?? encode("")))
      const { error } = yield* failing(log)
      assert.deepInclude(error, { _tag: "SegmentCorrupt", key: key(4) })
      assert.deepStrictEqual(yield* skipping(log), [...range(1, 40), "lost 41-50", ...range(51, 100)])
    }))

  it.effect("an end marker below the durable end: SegmentCorrupt", () =>
    Effect.gen(function*() {
      const log = yield* harmed(() => undefined)
      const { header } = yield* stored(log.memory, key(4))
      const marker = { logId: header.logId, nonce: header.nonce, epoch: 1, slot: 4, owner: { epoch: 9, host: "x" } }
      log.memory.put(key(4), encodeEndMarker(marker, nodeDigest))
      assert.deepInclude((yield* failing(log)).error, { _tag: "SegmentCorrupt", key: key(4) })
    }))

  const changed = (
    name: string,
    change: (header: SegmentHeader) => SegmentHeader,
    expected: ReadonlyArray<string | number>,
    tag = "SegmentCorrupt"
  ) =>
    it.effect(name, () =>
      Effect.gen(function*() {
        const log = yield* harmed(() => undefined)
        const { body: raw, header } = yield* stored(log.memory, key(4))
        log.memory.put(key(4), encodeSegment(change(header), raw, nodeDigest))
        const { before, error } = yield* failing(log)
        assert.strictEqual(error._tag, tag)
        assert.deepInclude(error, { key: key(4) })
        assert.deepStrictEqual(before, range(1, 40))
        assert.deepStrictEqual(yield* skipping(log), [...range(1, 40), ...expected])
      }))

  changed("of another log", (header) => ({ ...header, logId: "e".repeat(32) }), ["lost 41-50", ...range(51, 100)])
  changed("with another chain", (header) => ({ ...header, chain: "e".repeat(32) }), ["lost 41-50", ...range(51, 100)])
  changed("with numbers that were used before", (header) => ({ ...header, firstSeq: 39 }), [
    "lost 41-50",
    ...range(51, 100)
  ])
  changed("with fewer records than its body holds", (header) => ({ ...header, count: 9 }), [
    "lost 41-49",
    "lost 50-50",
    ...range(51, 100)
  ])
})

describe("a search that meets a segment of another log", () => {
  it.effect("does not believe its numbers: what can be read is read", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      yield* storeSegments(log.wal, 40, 10)
      const other = yield* open({ ...still, segment: { maxEntries: 1 } })
      yield* storeSegments(other.wal, 40, 1)
      // Where the binary search of a reader without an index looks first.
      log.memory.put(key(20), other.memory.objects.get(key(20))?.body ?? encode(""))
      const reader = yield* WalReader.make({ nodeId: "node", streamId: "log" }).pipe(
        Effect.provideService(ObjectStore, log.memory.store)
      )
      const read = (options: { readonly limit: number; readonly onDamage?: "skip" }) =>
        drive(Effect.map(Stream.runCollect(reader.read({ from: 150, ...options })), seqs))
      assert.deepStrictEqual(yield* read({ limit: 51 }), range(150, 200))
      assert.deepStrictEqual(yield* read({ limit: 62, onDamage: "skip" }), [
        ...range(150, 200),
        "lost 201-210",
        ...range(211, 220)
      ])
    }))
})
