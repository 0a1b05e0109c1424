/** Calls of producers while the log is open: whole, once, and with the answer of the first time. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { callSpanOf } from "../../src/format/Extensions.ts"
import { decodeCalls } from "../../src/format/SegmentBody.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import type { WalService } from "../../src/WalService.ts"
import {
  encode,
  holdPuts,
  isDone,
  key,
  makeGates,
  open,
  type Options,
  range,
  readAll,
  records,
  refusePuts,
  seqs,
  settle,
  sized,
  slotKeys,
  start,
  still,
  store,
  stored,
  type TestLog,
  texts
} from "../support/LogWorld.ts"

const by = (sequence: number, id = "p") => ({ producer: { id, sequence } })

const tag = (wal: WalService, batch: ReadonlyArray<AppendRecord>, options: ReturnType<typeof by>) =>
  Effect.map(Effect.flip(wal.append(batch, options)), (error) => error._tag)

/** The calls of a stored segment as `id/sequence:first-last`. */
const callsAt = (log: TestLog, slot: number) =>
  Effect.map(stored(log.memory, key(slot)), ({ body, header }) => {
    const calls = decodeCalls(body, header)
    return "_tag" in calls ? [calls.reason] : calls.map((one) => `${one.id}/${one.sequence}:${one.first}-${one.last}`)
  })

const tens: Options = { ...still, segment: { maxEntries: 10, flushInterval: "1h" } }

describe("a call of a producer", () => {
  it.effect("is appended once: a repeat gets the numbers of the first, before it is durable and after", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      const first = yield* log.wal.append(records(3), by(0))
      assert.deepInclude(first, { first: 1, last: 3, epoch: 1 })
      assert.isUndefined(first.isRepeat)
      const pending = yield* log.wal.appendNow(records(3), by(0))
      assert.deepInclude(pending, { first: 1, last: 3, epoch: 1, isRepeat: true })
      assert.strictEqual((yield* log.wal.status).durable, 0)
      yield* pending.durable
      assert.strictEqual((yield* log.wal.status).durable, 3)
      const repeat = yield* log.wal.append(records(3), by(0))
      assert.deepInclude(repeat, { first: 1, last: 3, epoch: 1, isRepeat: true })
      yield* repeat.durable
      assert.deepInclude(yield* log.wal.append(records(1, 4), by(1)), { first: 4, last: 4 })
      assert.deepInclude(yield* log.wal.append(records(1, 5), by(0, "other")), { first: 5, last: 5 })
      yield* log.wal.flush
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 5))
    }))

  it.effect("whose first try is on its way makes a repeat wait for the same segment", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(tens, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append(records(2), by(0))
      const repeat = yield* log.wal.append(records(2), by(0))
      const waiting = yield* start(repeat.durable)
      yield* settle
      assert.isFalse(isDone(waiting))
      yield* gates.open(key(0))
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(slotKeys(log.memory), [key(0)])
    }))

  it.effect("that is not a repeat is refused under the same sequence, and below the newest", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(tens)
      yield* wal.append(records(2), by(7))
      const conflict = yield* Effect.flip(wal.append(records(2, 9), by(7)))
      assert.deepInclude(conflict, { _tag: "ProducerConflict", id: "p", sequence: 7, first: 1, last: 2 })
      assert.strictEqual(yield* tag(wal, records(1), by(7)), "ProducerConflict")
      // The same bytes, cut in another place.
      const cut = [{ payload: encode("r1r") }, { payload: encode("2") }]
      assert.strictEqual(yield* tag(wal, cut, by(7)), "ProducerConflict")
      const old = yield* Effect.flip(wal.appendNow(records(2), by(6)))
      assert.deepInclude(old, { _tag: "ProducerSequenceTooOld", id: "p", sequence: 6, newest: 7 })
      assert.strictEqual((yield* wal.status).lastAccepted, 2)
    }))

  it.effect("names a field of the producer that breaks a rule, and appends nothing", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(tens)
      for (const id of ["", "x".repeat(129), "tab\t", "ä"]) {
        assert.deepInclude(yield* Effect.flip(wal.append(records(1), by(0, id))), {
          _tag: "InvalidProducer",
          field: "id",
          rule: "must be 1 to 128 printable ASCII characters"
        })
      }
      for (const sequence of [-1, 0.5, Number.NaN, 2 ** 53]) {
        const error = yield* Effect.flip(wal.appendNow(records(1), by(sequence)))
        assert.deepInclude(error, { _tag: "InvalidProducer", field: "sequence", value: String(sequence) })
      }
      assert.strictEqual((yield* wal.status).lastAccepted, 0)
      yield* wal.append(records(1), by(Number.MAX_SAFE_INTEGER, "x".repeat(128)))
    }))

  it.effect("is answered as the first time while the disk is full: of a call that was accepted that is no refusal", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const log = yield* open(tens, { memory: { ...memory, store: { ...memory.store, disk: "/disk" } } })
      yield* store(log.wal, records(2))
      yield* (yield* log.wal.append(records(2), by(0))).durable
      const makesRoom = log.faults.rule(refusePuts("StoreFull"))
      const accepted = yield* log.wal.append(records(2), by(1))
      const waiting = yield* start(accepted.durable)
      yield* Effect.repeat(settle, {
        until: () => Effect.map(log.wal.status, (at) => at.lastStoreError !== undefined),
        times: 9
      })
      assert.strictEqual(yield* tag(log.wal, records(2), by(2)), "DiskFull")
      for (const append of [log.wal.append, log.wal.appendNow]) {
        assert.deepInclude(yield* append(records(2), by(0)), { first: 3, last: 4, isRepeat: true })
        assert.deepInclude(yield* append(records(2), by(1)), { first: 5, last: 6, isRepeat: true })
      }
      makesRoom()
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(waiting)
    }))

  it.effect("without records is answered and not remembered", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(tens)
      const empty = yield* wal.append([], by(3))
      assert.deepInclude(empty, { first: 1, last: 0 })
      yield* empty.durable
      assert.deepInclude(yield* wal.append(records(1), by(0)), { first: 1, last: 1 })
      assert.strictEqual(yield* tag(wal, [], by(0)), "ProducerConflict")
    }))
})

describe("a call of a producer is in one segment", () => {
  it.effect("with what others append before and after it", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      yield* log.wal.append(records(4))
      yield* log.wal.append(records(4, 5), by(0, "a"))
      yield* log.wal.append(records(3, 9), by(0, "b"))
      yield* log.wal.append(records(2, 12))
      yield* log.wal.append(records(1, 14), by(1, "b"))
      yield* log.wal.flush
      yield* log.wal.append(records(2, 15))
      yield* log.wal.flush
      assert.deepStrictEqual(yield* callsAt(log, 0), ["a/0:5-8"])
      assert.deepStrictEqual(yield* callsAt(log, 1), ["b/0:9-11", "b/1:14-14"])
      assert.deepStrictEqual(yield* callsAt(log, 2), [])
      const headers = yield* Effect.forEach([0, 1, 2], (slot) =>
        Effect.map(stored(log.memory, key(slot)), ({ header }) => header))
      assert.deepStrictEqual(
        headers.map((header) =>
          header.count
        ),
        [8, 6, 2]
      )
      assert.deepStrictEqual(headers.map(callSpanOf), [{ first: 0, last: 0 }, { first: 0, last: 1 }, {
        first: 0,
        last: 1
      }])
      const critical = headers.map((header) => header.extensions.some((one) => one.critical && one.type === 5))
      assert.deepStrictEqual(critical, [true, true, false])
      assert.deepStrictEqual(texts(yield* readAll(log.wal)), range(1, 16).map((nth) => `r${nth}`))
    }))

  it.effect("also where its last records are empty and the bytes are used up", () =>
    Effect.gen(function*() {
      const options: Options = { ...still, segment: { maxBytes: 1_000 }, maxRecordBytes: 1_000 }
      const log = yield* open(options)
      yield* log.wal.append([sized(970), sized(0), sized(0)], by(0))
      yield* log.wal.flush
      assert.deepStrictEqual(yield* callsAt(log, 0), ["p/0:1-3"])
    }))

  it.effect("or is refused: too many records, too many bytes; one large record fits", () =>
    Effect.gen(function*() {
      const options: Options = { ...still, segment: { maxEntries: 10, maxBytes: 1_000 }, maxRecordBytes: 2_000 }
      const log = yield* open(options)
      const many = yield* Effect.flip(log.wal.append(records(11), by(0)))
      assert.deepInclude(many, { _tag: "ProducerCallTooLarge", records: 11, limitRecords: 10 })
      const large = yield* Effect.flip(log.wal.appendNow([sized(600), sized(600)], by(0)))
      assert.deepInclude(large, { _tag: "ProducerCallTooLarge", records: 2, sizeBytes: 1_200, limitBytes: 1_000 })
      assert.strictEqual((yield* log.wal.status).lastAccepted, 0)
      yield* log.wal.append([sized(2_000)], by(0))
      yield* log.wal.append([sized(400), sized(600)], by(1))
      yield* log.wal.flush
      assert.deepStrictEqual(yield* callsAt(log, 0), ["p/0:1-1"])
      assert.deepStrictEqual(yield* callsAt(log, 1), ["p/1:2-3"])
    }))

  it.effect("or is refused where the whole buffer is too small for it", () =>
    Effect.gen(function*() {
      const segment = { maxEntries: 1_000, maxBytes: 10 }
      const { wal } = yield* open({ ...still, segment, maxRecordBytes: 10, maxBufferedBytes: 1_000 })
      assert.strictEqual(yield* tag(wal, range(1, 40).map(() => sized(0)), by(0)), "ProducerCallTooLarge")
      yield* wal.append(range(1, 20).map(() => sized(0)), by(0))
    }))
})

/** Room for about two records of 1,000 bytes. */
const small: Options = { ...still, segment: { maxBytes: 1_024 }, maxRecordBytes: 1_024, maxBufferedBytes: 3_300 }

describe("a call of a producer without room", () => {
  it.effect("waits, whole, and gets one segment; `appendNow` appends nothing of it", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(small, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append([sized(1_000), sized(1_000), sized(900)])
      assert.strictEqual((yield* Effect.flip(log.wal.appendNow([sized(400), sized(500)], by(0))))._tag, "BufferFull")
      assert.strictEqual((yield* log.wal.status).lastAccepted, 3)
      const waiting = yield* start(log.wal.append([sized(400), sized(500)], by(0)))
      yield* settle
      assert.isFalse(isDone(waiting))
      assert.strictEqual((yield* log.wal.status).lastAccepted, 3)
      yield* gates.open(key(0))
      assert.deepInclude(yield* Fiber.join(waiting), { first: 4, last: 5 })
      for (const slot of [1, 2, 3]) yield* gates.open(key(slot))
      yield* log.wal.flush
      assert.deepStrictEqual(yield* callsAt(log, 3), ["p/0:4-5"])
    }))

  it.effect("that is repeated while it waits is appended once", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(small, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append([sized(1_000), sized(1_000), sized(900)])
      const calls = yield* Effect.forEach([1, 2, 3], () => start(log.wal.append([sized(400), sized(500)], by(0))))
      yield* settle
      for (const slot of [0, 1, 2, 3]) yield* gates.open(key(slot))
      const answers = yield* Effect.forEach(calls, (fiber) => Fiber.join(fiber))
      assert.deepStrictEqual(answers.map(({ first, isRepeat, last }) => [first, last, isRepeat]), [
        [4, 5, undefined],
        [4, 5, true],
        [4, 5, true]
      ])
      yield* log.wal.flush
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 5))
    }))

  it.effect("waits for a place in the queue too", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const options: Options = { ...still, segment: { maxEntries: 2 } }
      const log = yield* open(options, { rules: [holdPuts(gates.of)] })
      // One in flight, 16 in the queue, one record in the open segment.
      yield* log.wal.append(records(35))
      assert.strictEqual((yield* Effect.flip(log.wal.appendNow(records(2, 36), by(0))))._tag, "BufferFull")
      const waiting = yield* start(log.wal.append(records(2, 36), by(0)))
      yield* settle
      assert.isFalse(isDone(waiting))
      yield* gates.open(key(0))
      assert.deepInclude(yield* Fiber.join(waiting), { first: 36, last: 37 })
      for (const slot of range(1, 18)) yield* gates.open(key(slot))
      yield* log.wal.flush
      assert.deepStrictEqual(yield* callsAt(log, 18), ["p/0:36-37"])
    }))

  it.effect("that is interrupted while it waits was never made", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(small, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append([sized(1_000), sized(1_000), sized(900)])
      const waiting = yield* start(log.wal.append([sized(400), sized(500)], by(0)))
      yield* settle
      yield* Fiber.interrupt(waiting)
      for (const slot of [0, 1, 2]) yield* gates.open(key(slot))
      yield* log.wal.flush
      assert.deepInclude(yield* log.wal.append(records(1), by(0)), { first: 4, last: 4 })
      yield* gates.open(key(3))
    }))
})

describe("producers are forgotten", () => {
  it.effect("beyond `max`, the one whose newest call is oldest first", () =>
    Effect.gen(function*() {
      const { wal } = yield* open({ ...tens, producers: { max: 2 } })
      for (const id of ["a", "b", "c"]) yield* wal.append(records(1), by(0, id))
      yield* wal.flush
      assert.isTrue((yield* wal.append(records(1), by(0, "b"))).isRepeat)
      assert.deepInclude(yield* wal.append(records(1), by(0, "a")), { first: 4 })
    }))

  it.effect("`ttl` after their newest call", () =>
    Effect.gen(function*() {
      const { wal } = yield* open({ ...tens, producers: { ttl: "10s" } })
      yield* wal.append(records(1), by(4))
      yield* wal.flush
      yield* TestClock.adjust("10 seconds")
      assert.isTrue((yield* wal.append(records(1), by(4))).isRepeat)
      yield* TestClock.adjust("1 seconds")
      assert.deepInclude(yield* wal.append(records(1), by(4)), { first: 2, last: 2 })
    }))
})
