/** A long run of missing slots is passed over in few requests, whatever the listings of the store are like. */
import type { ListPage, ListRequest } from "@effect-wal/core/store/ObjectStore"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import { WalReader } from "@effect-wal/core/WalReader"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Stream } from "effect"
import type { Boundary } from "../../src/format/Boundary.ts"
import { boundaryAfter, chainSeed } from "../../src/format/ChainHash.ts"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import { SparseIndex } from "../../src/manifest/SparseIndex.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { EpochSpan, LogView, Place } from "../../src/read/LogView.ts"
import { passMissing } from "../../src/read/PassMissing.ts"
import { readSteps } from "../../src/read/SegmentReader.ts"
import { segmentHeader } from "../format/Samples.ts"
import { failing, skipping, tens } from "../support/Harmed.ts"
import { drive, encode, key, open, prefix, range, reopen, seqs, storeSegments } from "../support/LogWorld.ts"
import { makeRandom } from "../support/Seeded.ts"

type List = ObjectStore["Service"]["list"]

/** Keys in an order of their own, few to a page, one of them twice, and pages with nothing; `startAfter` is ignored. */
const strange = (list: List, pageSize = 3): List => ({ page, prefix }: ListRequest) =>
  Effect.gen(function*() {
    const all = yield* listAll(list, prefix)
    const keys = all.toSorted((left, right) => nodeDigest.crc32(encode(left.key)) - nodeDigest.crc32(encode(right.key)))
    const [at = 0, turn = 0] = (page ?? "0 0").split(" ").map(Number)
    if (turn === 0) return { objects: [], next: `${at} 1` } satisfies ListPage
    const objects = [...keys.slice(at, at + pageSize), ...keys.slice(at, at + 1)]
    return at + pageSize >= keys.length ? { objects } : { objects, next: `${at + pageSize} 0` }
  })

const listAll = Effect.fnUntraced(function*(list: List, prefix: string) {
  let page = yield* list({ prefix })
  const objects = [...page.objects]
  while (page.next !== undefined) {
    page = yield* list({ prefix, page: page.next })
    objects.push(...page.objects)
  }
  return objects
})

const logId = "1".repeat(32)
const chain = chainSeed(logId, nodeDigest)

/** The segment of a place: one record, whose number says where it is. */
const headerAt = ({ epoch, slot }: Place, before?: SegmentHeader): SegmentHeader => {
  const body = encode("x")
  const crc = nodeDigest.crc32(body)
  return segmentHeader({
    logId,
    nonce: "2".repeat(32),
    epoch,
    slot,
    firstSeq: epoch * 10_000_000 + slot,
    count: 1,
    rawBytes: body.length,
    storedBytes: body.length,
    rawCrc: crc,
    storedCrc: crc,
    firstAt: 1_000,
    lastAt: 1_000,
    watermarkSlot: slot,
    watermarkSeq: 0,
    chain: before === undefined ? chain : boundaryAfter(before, nodeDigest).chain
  })
}

/** A log of which only these places are stored, beside some foreign objects. */
const holed = Effect.fnUntraced(function*(spans: ReadonlyArray<EpochSpan>, places: ReadonlyArray<Place>) {
  const memory = yield* MemoryObjectStore.make()
  let before: SegmentHeader | undefined
  for (const place of places) {
    const follows = before?.epoch === place.epoch && before.slot + 1 === place.slot
    before = headerAt(place, follows ? before : undefined)
    const name = slotKey(prefix, place.epoch, place.slot)
    memory.put(name, encodeSegment(before, encode("x"), nodeDigest))
    memory.put(`${name}.bak`, encode("x"))
  }
  const last = spans.at(-1) ?? { epoch: 1, end: 0 }
  const start: Boundary = { epoch: 1, slot: 0, seq: 9_999_999, at: 0, chain }
  const view: LogView = {
    prefix,
    logId,
    store: memory.store,
    digest: nodeDigest,
    compression: nodeCompression,
    backoff: { base: Duration.millis(1), cap: Duration.millis(1) },
    maxSegmentBytes: 1_000_000,
    prefetch: 2,
    trim: () => start,
    durable: () => ({ ...start, epoch: last.epoch, slot: last.end, seq: last.epoch * 10_000_000 + last.end - 1 }),
    epochs: () => spans,
    index: new SparseIndex([], 10),
    beyond: () => Effect.never,
    refresh: Effect.void
  }
  return { memory, view, start, odd: { ...view, store: { ...view.store, list: strange(view.store.list) } } }
})

const at = (epoch: number, slots: ReadonlyArray<number>): ReadonlyArray<Place> => slots.map((slot) => ({ epoch, slot }))

describe("a hole of a million slots", () => {
  const spans = [{ epoch: 1, end: 2_500_000 }, { epoch: 2, end: 3 }]
  const places = [
    ...at(1, range(0, 2)),
    ...at(1, range(1_023_456, 1_023_457)),
    ...at(1, [2_123_000]),
    ...at(2, range(0, 2))
  ]
  const expected = [
    ...range(10_000_000, 10_000_002),
    "lost 10000003-11023455",
    ...range(11_023_456, 11_023_457),
    "lost 11023458-12122999",
    12_123_000,
    "lost 12123001-19999999",
    ...range(20_000_000, 20_000_002)
  ]

  it.effect("is no loss where the trim point has passed it meanwhile", () =>
    Effect.gen(function*() {
      const { memory, start, view } = yield* holed(spans, places)
      let trim = start
      const trimmed: LogView = {
        ...view,
        trim: () => trim,
        refresh: Effect.sync(() => {
          trim = { ...start, slot: 1_023_456, seq: 11_023_455 }
        })
      }
      const error = yield* drive(Effect.flip(Stream.runDrain(readSteps(trimmed, start, 1))))
      assert.deepInclude(error, { _tag: "Trimmed", from: 10_000_003, trimmedTo: 11_023_455 })
      assert.strictEqual(memory.count("list"), 0)
    }))

  for (const isOdd of [false, true]) {
    it.effect(`is passed over in few requests, as is one to the end of an epoch${isOdd ? "; odd listings" : ""}`, () =>
      Effect.gen(function*() {
        const { memory, odd, start, view } = yield* holed(spans, places)
        const steps = yield* drive(Stream.runCollect(readSteps(isOdd ? odd : view, start, 1)))
        assert.deepStrictEqual(
          steps.map((step) => step._tag === "Segment" ? step.segment.header.firstSeq : `lost ${step.from}-${step.to}`),
          expected
        )
        // Of each hole: those fetched ahead three times, sixteen looked at, and a few listings for each digit.
        assert.isBelow(memory.count("get"), 150)
        assert.isBelow(memory.count("list"), isOdd ? 250 : 150)
      }))
  }
})

describe("passMissing", () => {
  /** The answer from what is stored. */
  const naive = (places: ReadonlyArray<Place>, { epoch, slot }: Place, end: number): Place =>
    places.find((one) => one.epoch === epoch && one.slot >= slot && one.slot < end) ?? { epoch: epoch + 1, slot: 0 }

  it.effect("finds the next one that is listed below the end, near or far, in each order of a listing", () =>
    Effect.gen(function*() {
      const random = makeRandom(7)
      const below = (limit: number) => Math.floor(random() * limit)
      for (let round = 0; round < 60; round++) {
        const end = 17 + below(10 ** (2 + below(6)))
        const far = 10 ** (1 + below(8))
        const slots = [...new Set(Array.from({ length: below(12) }, () => below(far)))].sort((a, b) => a - b)
        const places = [...at(1, slots), ...at(2, [0, 5])]
        const { odd, view } = yield* holed([{ epoch: 1, end }, { epoch: 2, end: 6 }], places)
        for (let tries = 0; tries < 8; tries++) {
          const place = { epoch: 1, slot: Math.max(0, Math.min(below(far), end - 17)) }
          for (const one of [view, odd]) {
            assert.deepStrictEqual(yield* passMissing(one, place), naive(places, place, end), `${place.slot}/${end}`)
          }
        }
      }
    }))

  it.effect("asks nothing where listing would help nothing", () =>
    Effect.gen(function*() {
      const { memory, view } = yield* holed([{ epoch: 1, end: 100 }], at(1, [99]))
      assert.deepStrictEqual(yield* passMissing(view, { epoch: 1, slot: 84 }), { epoch: 1, slot: 84 })
      assert.deepStrictEqual(yield* passMissing(view, { epoch: 7, slot: 0 }), { epoch: 7, slot: 0 })
      assert.strictEqual(memory.count("list"), 0)
    }))
})

describe("a thousand segments that are gone", () => {
  const options = { ...tens, segment: { maxEntries: 1 }, tailBufferBytes: 0 }
  const lost = "lost 21-1020"
  const expected = [...range(1, 20), lost, ...range(1_021, 1_050)]

  const log = Effect.fnUntraced(function*(list: (ordinary: List) => List = (ordinary) => ordinary) {
    const writer = yield* open(options)
    yield* storeSegments(writer.wal, 1_050, 1)
    yield* writer.wal.close
    const { memory } = writer
    const opened = yield* reopen(
      { ...writer, memory: { ...memory, store: { ...memory.store, list: list(memory.store.list) } } },
      options
    )
    for (let slot = 20; slot < 1_020; slot++) memory.objects.delete(key(slot))
    memory.clearRequests()
    return opened
  })

  it.effect("are told in few requests, when failing and when skipping", () =>
    Effect.gen(function*() {
      const opened = yield* log()
      const { before, error } = yield* failing(opened)
      assert.deepInclude(error, { _tag: "SegmentMissing", key: key(20), from: 21, to: 1_020 })
      assert.deepStrictEqual(before, range(1, 20))
      assert.isBelow(opened.memory.count("get"), 130)
      opened.memory.clearRequests()
      assert.deepStrictEqual(yield* skipping(opened), expected)
      assert.isBelow(opened.memory.count("get"), 180)
      assert.isBelow(opened.memory.count("list"), 5)
    }))

  it.effect("are told to a reader on another node, whatever the listings are like", () =>
    Effect.gen(function*() {
      const opened = yield* log((list) => strange(list, 200))
      assert.deepStrictEqual(yield* skipping(opened), expected)
      const reader = yield* WalReader.make({ nodeId: "node", streamId: "log" }).pipe(
        Effect.provideService(ObjectStore, opened.memory.store)
      )
      assert.deepStrictEqual(seqs(yield* drive(Stream.runCollect(reader.read({ onDamage: "skip" })))), expected)
    }))

  const refusing = (reason: Reason) =>
    Effect.gen(function*() {
      const opened = yield* log()
      opened.faults.rule(({ operation }) => operation === "list" ? { _tag: "Fail", reason } : undefined)
      return opened
    })

  it.effect("are told slot by slot where the store does not list by a part of a name", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* skipping(yield* refusing("UnexpectedResponse")), expected)
    }))

  it.effect("are not told where the store does not say", () =>
    Effect.gen(function*() {
      const { before, error } = yield* failing(yield* refusing("AccessDenied"))
      assert.strictEqual(error._tag, "AccessDenied")
      assert.deepStrictEqual(before, range(1, 20))
    }))
})
