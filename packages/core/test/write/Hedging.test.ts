/** Slow PUTs that are sent once more: one segment, one answer, no more requests than was said. */
import type { Fault, FaultyRequest } from "@effect-wal/testing/FaultyObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { encodeEndMarker } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { HedgePolicy } from "../../src/write/HedgePolicy.ts"
import {
  drive,
  isDone,
  key,
  open,
  type Options,
  readAll,
  records,
  seqs,
  start,
  still,
  store,
  stored,
  type TestLog
} from "../support/LogWorld.ts"

const known = 8
const usualMillis = 10
const hedged: Options = { ...still, parallelPut: { hedge: "p95" } }

/** A log that knows how long its PUTs take, and what becomes of the next ones, request by request. */
const openKnown = Effect.fnUntraced(function*(next: ReadonlyArray<Fault | undefined>, options: Options = hedged) {
  let nth = 0
  const rule = (request: FaultyRequest) =>
    request.operation === "create" && request.key === key(known) ? next[nth++] : undefined
  const log = yield* open(options, { latencyMillis: usualMillis, rules: [rule] })
  for (let slot = 0; slot < known; slot++) yield* drive(store(log.wal, records(1, slot + 1)))
  return log
})

const requestsOf = ({ faults }: TestLog): ReadonlyArray<string> =>
  faults.requests.filter((one) => one.key === key(known)).map(({ operation }) => operation)

const appendNext = ({ wal }: TestLog) =>
  Effect.flatMap(wal.append(records(1, known + 1)), ({ durable }) => start(durable))

describe("a slow PUT", () => {
  it.effect("whose request is lost is stored by a second one", () =>
    Effect.gen(function*() {
      const log = yield* openKnown([{ _tag: "Silence" }])
      const waiting = yield* appendNext(log)
      yield* TestClock.adjust(`${3 * usualMillis} millis`)
      assert.isTrue(isDone(waiting))
      assert.deepStrictEqual(requestsOf(log), ["create", "create"])
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }))

  it.effect("that has landed and is not answered is found by a second one, and counts once", () =>
    Effect.gen(function*() {
      const log = yield* openKnown([{ _tag: "Silence", applied: true }])
      const waiting = yield* appendNext(log)
      yield* TestClock.adjust(`${3 * usualMillis} millis`)
      assert.isTrue(isDone(waiting))
      assert.deepStrictEqual(requestsOf(log), ["create", "create", "get"])
      assert.deepInclude(yield* log.wal.status, { durable: 9 })
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }))

  it.effect("is answered by its first request where the second one fails", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const log = yield* openKnown([{ _tag: "HoldBefore", gate }, { _tag: "Fail", reason: "Unavailable" }])
      const waiting = yield* appendNext(log)
      yield* TestClock.adjust("1 minute")
      assert.isFalse(isDone(waiting))
      assert.deepStrictEqual(requestsOf(log), ["create", "create"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(requestsOf(log), ["create", "create"])
    }))

  it.effect("that meets an end marker with its second request is fenced", () =>
    Effect.gen(function*() {
      const log = yield* openKnown([{ _tag: "Silence" }])
      const { header } = yield* stored(log.memory, key(known - 1))
      const owner = { epoch: 2, host: "other" }
      const place = { logId: header.logId, epoch: 1, slot: known, nonce: "0".repeat(32), owner }
      log.memory.put(key(known), encodeEndMarker(place, nodeDigest))
      const { durable } = yield* log.wal.append(records(1, 9))
      const error = yield* drive(Effect.flip(durable))
      assert.deepInclude(error, { _tag: "WriterFenced", byHost: "other" })
    }))

  it.effect("is waited for where hedging is off, as it is by default", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const log = yield* openKnown([{ _tag: "HoldBefore", gate }], still)
      const waiting = yield* appendNext(log)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(requestsOf(log), ["create"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waiting)
    }))
})

describe("when a PUT is slow", () => {
  it("is known from its size class, once enough were stored", () => {
    const policy = new HedgePolicy(0.95)
    for (let nth = 1; nth <= 7; nth++) policy.stored(1_000, nth * 10)
    assert.isUndefined(policy.delayMillis(1_000))
    policy.stored(1_000, 80)
    assert.strictEqual(policy.delayMillis(1_000), 80)
    assert.isUndefined(policy.delayMillis(1_000_000))
    for (let nth = 0; nth < 300; nth++) policy.stored(1_000, nth < 280 ? 10 : 100)
    // Of the newest 256, 20 are slow: more than one of 20.
    assert.strictEqual(policy.delayMillis(1_000), 100)
    for (let nth = 0; nth < 256; nth++) policy.stored(1_000, 1)
    assert.strictEqual(policy.delayMillis(1_000), 2)
  })

  it("no larger share of requests is sent again than lies above the percentile, whatever the store does", () => {
    for (const [percentile, most] of [[0.95, 52], [0.99, 12]] as const) {
      const policy = new HedgePolicy(percentile)
      let more = 0
      for (let nth = 0; nth < 1_000; nth++) {
        policy.sends()
        if (policy.takeOne()) more++
      }
      assert.isAtMost(more, most)
      assert.isAtLeast(more, most - 3)
      // What looking costs comes out of the same.
      policy.tookMore()
      assert.isFalse(policy.takeOne())
    }
  })

  it("few are saved up while all is fast", () => {
    const policy = new HedgePolicy(0.95)
    for (let nth = 0; nth < 10_000; nth++) policy.sends()
    const taken = Array.from({ length: 10 }, () => policy.takeOne()).filter(Boolean)
    assert.strictEqual(taken.length, 4)
  })
})
