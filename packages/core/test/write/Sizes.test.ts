import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { BufferBudgetState } from "../../src/BufferBudget.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { LogStats } from "../../src/observe/LogStats.ts"
import { LogFate } from "../../src/write/LogFate.ts"
import { ProducerTable } from "../../src/write/ProducerTable.ts"
import type { PendingSegment } from "../../src/write/Segment.ts"
import { SegmentOpener } from "../../src/write/Segment.ts"
import { Segmenter } from "../../src/write/Segmenter.ts"
import { SegmentQueue } from "../../src/write/SegmentQueue.ts"
import {
  decode,
  encode,
  fills,
  holdPuts,
  isDone,
  key,
  makeGates,
  manifest,
  open,
  range,
  readAll,
  records,
  reopen,
  seqs,
  settle,
  sized,
  slotKeys,
  start,
  still,
  store,
  stored
} from "../support/LogWorld.ts"

const mebibyte = 1_048_576

describe("sizes", () => {
  it.effect("keeps records of zero bytes as real ones [case 25]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxBytes: mebibyte } })
      yield* store(log.wal, [sized(0)])
      const three = yield* store(log.wal, [sized(0), sized(0), sized(0)])
      assert.deepStrictEqual([three.first, three.last], [2, 4])
      const again = yield* reopen(log, still)
      const read = yield* readAll(again.wal)
      assert.deepStrictEqual(
        read.map((record) => [record.seq, record.payload.length]),
        range(1, 4).map((seq) => [seq, 0])
      )
    }))

  it.effect("gives a record above max_bytes its own segment, and neighbours theirs [case 25]", () =>
    Effect.gen(function*() {
      const { memory, wal } = yield* open({ ...still, segment: { maxBytes: mebibyte } })
      const sizes = [10, mebibyte, 20, mebibyte + 1, 30, 10 * mebibyte, 40]
      yield* store(wal, sizes.map((size, index) => sized(size, index)))
      const parts = yield* Effect.forEach(slotKeys(memory), (at) => stored(memory, at))
      assert.deepStrictEqual(
        parts.map(({ header }) => [header.firstSeq, header.count]),
        range(1, 7).map((seq) => [seq, 1])
      )
      const read = yield* readAll(wal)
      assert.deepStrictEqual(
        read.map((record) => [record.payload.length, record.payload.at(-1)]),
        sizes.map((size, index) => [size, index])
      )
    }))

  it.effect("fills a segment to max_bytes exactly [case 25]", () =>
    Effect.gen(function*() {
      const { memory, wal } = yield* open({ ...still, segment: { maxBytes: 100 } })
      yield* store(wal, [sized(60), sized(40), sized(60), sized(41)])
      const parts = yield* Effect.forEach(slotKeys(memory), (at) => stored(memory, at))
      assert.deepStrictEqual(parts.map(({ header }) => header.count), [2, 1, 1])
    }))

  it.effect("leaves nothing of a call out where full segments and records of zero bytes meet a queue with one place", () =>
    Effect.gen(function*() {
      const options = { ...still, segment: { maxBytes: 100, maxEntries: 2 } }
      for (const how of ["append", "appendNow"] as const) {
        const gates = makeGates()
        const log = yield* open(options, { rules: [holdPuts(gates.of)] })
        // One is under way, 15 of 16 places are taken.
        yield* Effect.forEach(range(0, 15), () => Effect.andThen(log.wal.append([sized(100)]), settle))
        const call = [sized(100), sized(0), sized(50), sized(50)]
        const appending = yield* start(Effect.result(log.wal[how](call)))
        yield* settle
        const { lastAccepted } = yield* log.wal.status
        if (how === "appendNow") {
          assert.deepInclude(yield* Fiber.join(appending), { _tag: "Failure" })
          assert.strictEqual(lastAccepted, 16)
        } else {
          // The last one has to wait for room, and the call for it.
          assert.isFalse(isDone(appending))
          yield* gates.open(key(0))
          assert.deepInclude(yield* Effect.fromResult(yield* Fiber.join(appending)), { first: 17, last: 20 })
        }
      }
    }))

  it.effect("refuses a record above max_record_bytes for that call only [case 25]", () =>
    Effect.gen(function*() {
      const { wal } = yield* open({ ...still, maxRecordBytes: 1_000 })
      yield* wal.append([sized(1_000)])
      for (const append of [wal.append, wal.appendNow]) {
        const error = yield* Effect.flip(append([sized(1), sized(1_001), sized(1)]))
        assert.strictEqual(error._tag, "RecordTooLarge")
        assert.deepInclude(error, { index: 1, sizeBytes: 1_001, limitBytes: 1_000 })
      }
      // Optional fields count too.
      const withKey = yield* Effect.flip(wal.append([{ ...sized(1_000), key: "k" }]))
      assert.strictEqual(withKey._tag, "RecordTooLarge")
      const next = yield* store(wal, [sized(2)])
      assert.strictEqual(next.first, 2)
      assert.deepStrictEqual((yield* readAll(wal)).map((record) => record.payload.length), [1_000, 2])
    }))

  it.effect("takes 200,000 records of one byte in one call: 200 segments [case 25]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 1_000 }, parallelPut: { workers: 4 } })
      const payload = encode("x")
      const appended = yield* store(log.wal, Array.from({ length: 200_000 }, () => ({ payload })))
      assert.deepStrictEqual([appended.first, appended.last], [1, 200_000])
      assert.strictEqual(slotKeys(log.memory).length, 200)
      const last = yield* stored(log.memory, key(199))
      assert.deepInclude(last.header, { firstSeq: 199_001, count: 1_000 })
    }))

  it.effect("an idle log sends nothing for 5 s [case 25]", () =>
    Effect.gen(function*() {
      const log = yield* open({ segment: { flushInterval: "100ms" } })
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(log.memory.requests, [])
    }))

  it.effect("takes a batch larger than the buffer piece by piece, within the bound [case 25]", () =>
    Effect.gen(function*() {
      const limit = 4_000
      const options = { ...still, segment: { maxBytes: 1_000 }, maxRecordBytes: 1_000, maxBufferedBytes: limit }
      const gates = makeGates()
      const log = yield* open(options, { rules: [holdPuts(gates.of)] })
      const appending = yield* start(log.wal.append(range(0, 39).map((fill) => sized(500, fill))))
      yield* settle
      for (let slot = 0; !isDone(appending); slot++) {
        assert.isAtMost((yield* log.wal.status).buffered.bytes, limit)
        yield* gates.open(key(slot))
      }
      const { durable, first, last } = yield* Fiber.join(appending)
      assert.deepStrictEqual([first, last], [1, 40])
      for (const slot of range(0, 30)) yield* gates.open(key(slot))
      yield* durable
      assert.deepStrictEqual(fills(yield* readAll(log.wal)), range(0, 39))
    }))

  it.effect("takes a batch of more than workers × 16 segments [case 25]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 1 }, parallelPut: { workers: 2 } })
      const appended = yield* store(log.wal, records(100))
      assert.strictEqual(appended.last, 100)
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 100))
    }))

  it.effect("makes room by sealing where nobody else would: periodic, no interval in sight [case 25]", () =>
    Effect.gen(function*() {
      const log = yield* open({
        ...still,
        sync: "periodic",
        segment: { maxBytes: 1_000, flushInterval: "30d" },
        maxRecordBytes: 1_000,
        maxBufferedBytes: 3_000
      })
      // Records of zero bytes fill the buffer, never the segment.
      const appended = yield* log.wal.append(range(1, 500).map(() => sized(0)))
      assert.strictEqual(appended.last, 500)
    }))

  it.effect("never makes a segment that a reader refuses", () =>
    Effect.gen(function*() {
      const options = {
        ...still,
        maxRecordBytes: 1_000,
        maxSegmentBytes: 2_000,
        segment: { maxBytes: 1_000, maxEntries: 1_000_000 }
      }
      const log = yield* open(options)
      // The columns of tiny records weigh more than the records; control characters weigh six bytes each in headers.
      const heavy = {
        payload: new Uint8Array(0),
        key: "",
        contentType: "",
        timestamp: 1,
        headers: { "\u0001": "\u0002" }
      }
      yield* store(log.wal, [...range(1, 300).map(() => sized(0)), ...range(1, 300).map(() => heavy)])
      const again = yield* reopen(log, options)
      assert.deepStrictEqual(seqs(yield* readAll(again.wal)), range(1, 600))
    }))
})

describe("sequence numbers", () => {
  const makeSegmenter = Effect.fnUntraced(function*(lastSeq: number, queue: SegmentQueue) {
    return new Segmenter({
      streamId: "log",
      epoch: 1,
      maxEntries: 1,
      maxBytes: 100,
      maxSegmentBytes: 10_000,
      flushIntervalMillis: 1_000,
      lingerMillis: 0,
      sync: "group_commit",
      maxBufferedBytes: 10_000,
      maxRecordBytes: 100,
      lastSeq,
      lastAt: 0
    }, {
      fate: new LogFate(),
      queue,
      budget: new BufferBudgetState(Number.POSITIVE_INFINITY),
      producers: new ProducerTable({ max: 1, ttlMillis: 1 }),
      digest: nodeDigest,
      segments: new SegmentOpener(),
      workerFree: () => false,
      stats: new LogStats(),
      onSealed: () => undefined,
      refusal: () => undefined,
      clock: yield* Effect.clockWith(Effect.succeed)
    })
  })
  const max = Number.MAX_SAFE_INTEGER

  it.effect("end at 2^53 - 1 with a typed error, and never repeat", () =>
    Effect.gen(function*() {
      const segmenter = yield* makeSegmenter(max - 2, new SegmentQueue(16))
      assert.strictEqual((yield* Effect.flip(segmenter.append(records(3))))._tag, "SequenceExhausted")
      assert.deepInclude(yield* segmenter.append(records(2)), { first: max - 1, last: max })
      assert.strictEqual((yield* Effect.flip(segmenter.append(records(1))))._tag, "SequenceExhausted")
      assert.strictEqual((yield* Effect.flip(segmenter.appendNow(records(1))))._tag, "SequenceExhausted")
      assert.strictEqual(segmenter.lastAccepted, max)
    }))

  it.effect("are read back up to the last one, by the next writer too", () =>
    Effect.gen(function*() {
      const fresh = yield* open(still)
      yield* fresh.wal.close
      const { memory } = fresh
      const object = memory.objects.get(manifest) ?? (yield* Effect.die("no manifest"))
      const text = decode(object.body).replaceAll("\"seq\":0,", `"seq":${max - 2},`)
      memory.objects.set(manifest, { ...object, body: encode(text) })
      const log = yield* reopen(fresh, still)
      assert.deepInclude(yield* store(log.wal, records(2)), { first: max - 1, last: max })
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), [max - 1, max])
      const next = yield* reopen(log, still)
      assert.deepStrictEqual(seqs(yield* readAll(next.wal)), [max - 1, max])
      assert.strictEqual((yield* Effect.flip(next.wal.append(records(1))))._tag, "SequenceExhausted")
      yield* next.wal.commit(max)
    }))

  it.effect("end for those that waited for room too", () =>
    Effect.gen(function*() {
      const queue = new SegmentQueue(1)
      const segmenter = yield* makeSegmenter(max - 4, queue)
      yield* segmenter.append(records(2))
      const waiting = yield* Effect.forEach([1, 2], () => start(Effect.exit(segmenter.append(records(2)))))
      yield* settle
      const taken: Array<PendingSegment> = []
      for (let round = 0; round < 4; round++) {
        taken.push(...queue.drain())
        segmenter.poke()
        yield* settle
      }
      const [first, second] = yield* Effect.forEach(waiting, Fiber.join)
      assert.deepInclude(first, { _tag: "Success" })
      assert.deepInclude(second, { _tag: "Failure" })
      assert.strictEqual(segmenter.lastAccepted, max)
    }))
})
