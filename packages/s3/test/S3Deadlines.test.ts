import { answer, applied, errorAnswer, gated, never, stallBody } from "@effect-wal/testing/HttpS3Action"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { bytes, factsOf, setUp, text } from "./support.ts"

describe("requests that never end", () => {
  it.effect("[case 5] (a) a body that falls silent is TimedOut at the deadline, its socket closed, and the next GET works", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({}, { attemptDeadline: "20 seconds" })
      double.store("a.seg", new Uint8Array(1000))
      double.rule((request) => request.operation === "get" ? stallBody(500) : undefined)
      const fiber = yield* Effect.forkChild(store.get("a.seg"))
      yield* double.until(() => double.requests[0]?.status === 200)
      yield* TestClock.adjust("19 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 seconds")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepStrictEqual(factsOf(error), ["get", "TimedOut", "unknown", true])
      yield* double.until(() => double.openConnections() === 0)
      double.clearRules()
      assert.strictEqual((yield* store.get("a.seg")).body.byteLength, 1000)
    }))

  it.effect("[case 5] (b) a PUT that is never answered is TimedOut with an unknown outcome, its socket closed", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => applied(never))
      const fiber = yield* Effect.forkChild(store.create("a.seg", new Uint8Array(3 << 20)))
      yield* double.until(() => double.count("put") === 1)
      yield* TestClock.adjust("30 seconds")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepStrictEqual(factsOf(error), ["create", "TimedOut", "unknown", true])
      assert.strictEqual(error.key, "a.seg")
      yield* double.until(() => double.openConnections() === 0)
      double.clearRules()
      assert.strictEqual((yield* Effect.flip(store.create("a.seg", bytes("x")))).reason, "AlreadyExists")
    }))

  it.effect("[case 5] (c) 60 looks at the first bytes with 50 sockets all finish, on stores with and without ranges", () =>
    Effect.gen(function*() {
      for (const ignoresRanges of [false, true]) {
        const { double, store } = yield* setUp({ ignoresRanges }, { maxSockets: 50 })
        double.store("a.seg", new Uint8Array(1 << 20))
        const heads = yield* Effect.forEach(
          Array.from({ length: 60 }),
          () => store.get("a.seg", { firstBytes: 64 }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(heads.map((head) => head.body.byteLength), Array<number>(60).fill(64))
        assert.isAtMost(double.openConnections(), 50)
      }
    }))

  it.effect("a caller that is interrupted takes its request along", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => never)
      const fiber = yield* Effect.forkChild(store.list({ prefix: "" }))
      yield* double.until(() => double.count("list") === 1)
      yield* Fiber.interrupt(fiber)
      yield* double.until(() => double.openConnections() === 0)
    }))

  it.effect("a slow store that answers inside the deadline is a success", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      const gate = yield* Deferred.make<void>()
      double.rule(() => gated(gate))
      const fiber = yield* Effect.forkChild(store.create("a", bytes("1")))
      yield* double.until(() => double.count("put") === 1)
      yield* TestClock.adjust("29 seconds")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      assert.strictEqual(text(double.objects.get("a")?.body ?? bytes("")), "1")
    }))
})

describe("throttling", () => {
  const html = "<html><body><hr>Service & Unavailable</body></html>"
  const dresses = [
    ["503 as XML", errorAnswer(503, "SlowDown", { "retry-after": "3" }), "SlowDown"],
    ["503 as HTML", answer(503, html, { "content-type": "text/html", "retry-after": "3" }), undefined],
    ["503 as nothing", answer(503, "", { "retry-after": "3" }), undefined],
    ["429 as nothing", answer(429, "", { "retry-after": "3" }), undefined]
  ] as const
  for (const [name, action, code] of dresses) {
    it.effect(`[case 6] ${name} is Throttled, with its Retry-After`, () =>
      Effect.gen(function*() {
        const { double, store } = yield* setUp()
        double.rule(() => action)
        const all = [
          Effect.asVoid(store.create("a", bytes("1"))),
          Effect.asVoid(store.get("a")),
          Effect.asVoid(store.list({ prefix: "" })),
          Effect.asVoid(store.remove(["a"]))
        ]
        for (const request of all) {
          const error = yield* Effect.flip(request)
          assert.deepStrictEqual([error.reason, error.code, error.retryAfterMillis], ["Throttled", code, 3000])
        }
        assert.strictEqual(double.count(), 4, "nothing is repeated by the store")
      }))
  }
})
