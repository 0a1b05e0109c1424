import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { AppendError, WalEnd } from "../../src/WalError.ts"
import {
  drive,
  encode,
  holdPuts,
  isDone,
  key,
  makeGates,
  open,
  puts,
  range,
  readAll,
  records,
  refusePuts,
  reopen,
  seqs,
  settle,
  slotKeys,
  start,
  still,
  store,
  stored,
  texts
} from "../support/LogWorld.ts"

const four = { ...still, segment: { maxEntries: 10 }, parallelPut: { workers: 4 } }

describe("durability", () => {
  it.effect("acks no record before its segment is stored [predecessor 1]", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const { wal } = yield* open(still, { rules: [holdPuts(gates.of)] })
      const { durable } = yield* wal.append(records(3))
      const waiting = yield* start(durable)
      const flushing = yield* start(wal.flush)
      yield* TestClock.adjust("1 hour")
      assert.isFalse(isDone(waiting) || isDone(flushing))
      assert.deepInclude(yield* wal.status, { durable: 0, lastAccepted: 3 })
      assert.deepInclude((yield* wal.status).atRisk, { records: 3 })
      yield* gates.open(key(0))
      yield* Fiber.join(waiting)
      assert.strictEqual(yield* Fiber.join(flushing), 3)
      assert.deepInclude((yield* wal.status).atRisk, { records: 0, bytes: 0, oldestAgeMillis: 0 })
    }))

  it.effect("acks in order only, whichever PUT ends first [predecessor 3] [case 8]", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(four, { rules: [holdPuts(gates.of)] })
      const waiting = yield* Effect.forEach(range(0, 3), (slot) =>
        Effect.flatMap(log.wal.append(records(10, slot * 10 + 1)), ({ durable }) => start(durable)))
      const flushing = yield* start(log.wal.flush)
      yield* settle
      for (const slot of [3, 1, 2]) {
        yield* gates.open(key(slot))
        assert.strictEqual((yield* log.wal.status).durable, 0)
        assert.deepStrictEqual(waiting.map(isDone), [false, false, false, false])
      }
      assert.deepStrictEqual(
        slotKeys(log.memory),
        [1, 2, 3].map((slot) =>
          key(slot)
        )
      )
      assert.deepStrictEqual(yield* readAll(log.wal), [])
      assert.isFalse(isDone(flushing))
      yield* gates.open(key(0))
      assert.deepStrictEqual(waiting.map(isDone), [true, true, true, true])
      assert.strictEqual(yield* Fiber.join(flushing), 40)
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 40))
    }))

  it.effect("delivers nothing behind a hole after a crash, and mixes no numbers [case 8]", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const first = yield* open(four, { rules: [holdPuts((name) => name === key(0) ? gates.of(name) : undefined)] })
      yield* first.wal.append(records(40))
      yield* settle
      assert.deepStrictEqual(slotKeys(first.memory), [1, 2, 3].map((slot) => key(slot)))
      const second = yield* reopen(first, four)
      assert.deepStrictEqual(yield* readAll(second.wal), [])
      yield* store(second.wal, [{ payload: encode("new") }])
      for (let start = 0; start < 2; start++) {
        const third = yield* reopen(second, four)
        assert.deepStrictEqual(texts(yield* readAll(third.wal)), ["new"])
      }
    }))

  it.effect("sends a failed PUT again: same key, same bytes, nothing merged in [predecessor 4] [predecessor 6]", () =>
    Effect.gen(function*() {
      const bodies: Array<string> = []
      let failures = 7
      const log = yield* open(still, {
        onCreate: (name, body) => {
          if (name === key(0)) bodies.push(Buffer.from(body).toString("hex"))
        },
        rules: [refusePuts("Unavailable", () => failures-- > 0)]
      })
      yield* log.wal.append(records(3))
      const flushing = yield* start(log.wal.flush)
      // Input goes on while the PUT fails.
      yield* TestClock.adjust("1 second")
      yield* log.wal.append(records(3, 4))
      yield* drive(Fiber.join(flushing))
      yield* drive(log.wal.flush)
      assert.deepStrictEqual(puts(log), [...Array.from({ length: 8 }, () => key(0)), key(1)])
      assert.strictEqual(bodies.length, 8)
      assert.strictEqual(new Set(bodies).size, 1)
      assert.deepStrictEqual(texts(yield* readAll(log.wal)), range(1, 6).map((n) => `r${n}`))
      assert.deepStrictEqual((yield* stored(log.memory, key(0))).header.count, 3)
    }))

  for (const reason of ["Unavailable", "TimedOut", "Throttled", "Conflict", "UnexpectedResponse"] as const) {
    it.effect(`takes its own stored object for success when the answer was lost: ${reason} [case 1]`, () =>
      Effect.gen(function*() {
        let lost = 1
        const log = yield* open(still, { rules: [refusePuts(reason, () => lost-- > 0, true)] })
        yield* drive(store(log.wal, records(3)))
        assert.deepStrictEqual(puts(log), [key(0), key(0)])
        assert.deepStrictEqual(slotKeys(log.memory), [key(0)])
        assert.deepStrictEqual(seqs(yield* readAll(log.wal)), [1, 2, 3])
        assert.strictEqual((yield* log.wal.status).state, "open")
      }))
  }

  it.effect("asks again when what took the key cannot be read or is not there yet", () =>
    Effect.gen(function*() {
      let lost = 1
      const answers = ["Unavailable", "AccessDenied", "NotFound"] as const
      let asked = 0
      const log = yield* open(still, { rules: [refusePuts("TimedOut", () => lost-- > 0, true)] })
      log.faults.rule((request) => {
        const reason = request.operation === "get" && request.key === key(0) ? answers[asked++] : undefined
        return reason === undefined ? undefined : { _tag: "Fail", reason }
      })
      yield* drive(store(log.wal, records(1)))
      // After "not found" the PUT is sent once more.
      assert.deepStrictEqual([puts(log).length, asked], [3, 4])
    }))

  it.effect("stops with SegmentConflict when a foreign object has its key, and leaves it alone", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      log.memory.put(key(0), encode("somebody's notes"))
      const { durable } = yield* log.wal.append(records(3))
      const error = yield* Effect.flip(durable)
      assert.strictEqual(error._tag, "SegmentConflict")
      assert.deepInclude(error, { key: key(0) })
      assert.strictEqual((yield* Effect.flip(log.wal.append(records(1))))._tag, "SegmentConflict")
      assert.strictEqual((yield* Effect.flip(log.wal.flush))._tag, "SegmentConflict")
      assert.deepStrictEqual(log.memory.objects.get(key(0))?.body, encode("somebody's notes"))
      assert.deepInclude(yield* log.wal.status, { state: "failed", durable: 0 })
    }))

  it.effect("stops with SegmentConflict when the same segment of another writer has its key", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      let sent = encode("")
      const log = yield* open(still, {
        rules: [holdPuts(gates.of)],
        onCreate: (name, bytes) => {
          if (name === key(0)) sent = bytes.slice()
        }
      })
      const { durable } = yield* log.wal.append(records(3))
      const failing = yield* start(Effect.flip(durable))
      yield* settle
      log.memory.put(key(0), sent)
      const { body, header } = yield* stored(log.memory, key(0))
      log.memory.put(key(0), encodeSegment({ ...header, nonce: "f".repeat(32) }, body, nodeDigest))
      yield* gates.open(key(0))
      assert.strictEqual((yield* Fiber.join(failing))._tag, "SegmentConflict")
    }))

  it.effect("who is told may append at once: order and live reads stay whole", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(four, { rules: [holdPuts((name) => name === key(0) ? gates.of(name) : undefined)] })
      const acks: Array<number> = []
      const told = (n: number): Effect.Effect<void, WalEnd | AppendError> =>
        Effect.flatMap(log.wal.append(records(10, n * 10 + 1)), ({ durable }) =>
          Effect.andThen(
            durable,
            Effect.suspend(() => {
              acks.push(n)
              return n < 20 ? told(n + 4) : Effect.void
            })
          ))
      // Slots 1 to 3 are stored; all are told when slot 0 is, each of them appends then.
      const all = yield* Effect.forEach(range(0, 3), (n) => start(told(n)))
      yield* settle
      assert.deepStrictEqual(acks, [])
      yield* gates.open(key(0))
      yield* Effect.forEach(all, Fiber.join)
      assert.deepStrictEqual(acks.slice(0, 4), [0, 1, 2, 3])
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 240))
    }))

  it.effect("who is told in the middle of another's call gets its own numbers", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10, linger: "1m", flushInterval: "1h" } })
      yield* settle
      const first = yield* start(Effect.gen(function*() {
        const { durable } = yield* log.wal.append(records(5))
        yield* durable
        return yield* log.wal.append(records(3, 16))
      }))
      // Fills the segment of the first call, which is stored and told before this call is done.
      const second = yield* log.wal.append(records(10, 6))
      const third = yield* Fiber.join(first)
      assert.deepStrictEqual([second.first, second.last], [6, 15])
      assert.deepStrictEqual([third.first, third.last], [16, 18])
      yield* log.wal.flush
      assert.deepStrictEqual(texts(yield* readAll(log.wal)), range(1, 18).map((n) => `r${n}`))
    }))

  it.effect("is fenced by a newer writer for good: waiting and later calls fail with it", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const first = yield* open(still, { rules: [holdPuts(gates.of)] })
      const { durable } = yield* first.wal.append(records(3))
      const waiting = yield* start(Effect.flip(durable))
      const ended = yield* start(first.wal.ended)
      yield* settle
      const second = yield* open(still, { memory: first.memory })
      yield* store(second.wal, [{ payload: encode("second") }])
      yield* gates.open(key(0))
      const error = yield* Fiber.join(waiting)
      assert.deepInclude(error, { _tag: "WriterFenced", epoch: 1, byEpoch: 2 })
      assert.strictEqual(yield* Fiber.join(ended), error)
      for (
        const call of [
          first.wal.append(records(1)),
          first.wal.flush,
          first.wal.commit(0),
          first.wal.ack(1),
          first.wal.trim(0)
        ]
      ) {
        assert.strictEqual(yield* Effect.flip(call as Effect.Effect<unknown, unknown>), error)
      }
      const before = first.memory.requests.length
      const report = yield* first.wal.close
      assert.deepInclude(report, { durable: 0, lost: { from: 1, to: 3 }, manifestWritten: false })
      assert.strictEqual(first.memory.requests.length, before)
      assert.deepStrictEqual(texts(yield* readAll(second.wal)), ["second"])
      assert.deepInclude(yield* first.wal.status, { state: "fenced", newOwner: "node" })
    }))
})

describe("the window", () => {
  it.effect("sends no slot further than the window beyond the first that is not stored", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const options = { ...still, segment: { maxEntries: 1 }, parallelPut: { workers: 2, pipelineDepth: 2 } }
      const log = yield* open(options, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append(records(10))
      yield* settle
      assert.deepStrictEqual(puts(log), range(0, 3).map((slot) => key(slot)))
      for (const slot of [1, 2, 3]) yield* gates.open(key(slot))
      assert.strictEqual(puts(log).length, 4)
      yield* gates.open(key(0))
      assert.deepStrictEqual(puts(log), range(0, 7).map((slot) => key(slot)))
      yield* gates.open(key(4))
      assert.deepStrictEqual(puts(log), range(0, 8).map((slot) => key(slot)))
    }))

  it.effect("lets any free worker take the next segment: a slow PUT stalls nobody else [predecessor 21]", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const options = { ...still, segment: { maxEntries: 1 }, parallelPut: { workers: 2, pipelineDepth: 4 } }
      const log = yield* open(options, { rules: [holdPuts((name) => name === key(0) ? gates.of(name) : undefined)] })
      yield* log.wal.append(records(8))
      yield* settle
      assert.deepStrictEqual(slotKeys(log.memory), range(1, 7).map((slot) => key(slot)))
      yield* gates.open(key(0))
      assert.strictEqual((yield* log.wal.status).durable, 8)
    }))

  for (const pipelineDepth of [1, 2, 8]) {
    it.effect(`has workers × pipeline_depth PUTs in flight: depth ${pipelineDepth}`, () =>
      Effect.gen(function*() {
        const gates = makeGates()
        const options = { ...still, segment: { maxEntries: 1 }, parallelPut: { workers: 2, pipelineDepth } }
        const log = yield* open(options, { rules: [holdPuts(gates.of)] })
        yield* log.wal.append(records(30))
        yield* settle
        assert.strictEqual(puts(log).length, 2 * pipelineDepth)
        assert.deepInclude((yield* log.wal.status).segments, { inFlight: 2 * pipelineDepth })
      }))
  }
})
