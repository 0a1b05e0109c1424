/** Twins of the transport cases: other requests than PUT and GET whose answers never end. */
import { applied, cutBody, never, rewriteList, stallBody } from "@effect-wal/testing/HttpS3Action"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { bytes, factsOf, setUp } from "../support.ts"

describe("an answer that never ends", () => {
  it.effect.each(["list", "deleteMany", "lifecycle"] as const)(
    "[kind C] to %s: TimedOut at the deadline, its socket closed, and the next one works",
    (operation) =>
      Effect.gen(function*() {
        for (const action of [never, stallBody(10)]) {
          const { double, store } = yield* setUp()
          yield* store.create("a", bytes("1"))
          double.rule((request) => request.operation === operation ? action : undefined)
          const ask: Effect.Effect<unknown, Effect.Error<ReturnType<typeof store.list>>> = operation === "list"
            ? store.list({ prefix: "" })
            : operation === "deleteMany"
            ? store.remove(["a"])
            : store.advice("wal/")
          const asking = yield* Effect.forkChild(Effect.flip(ask))
          yield* double.until(() => double.count(operation) === 1)
          yield* TestClock.adjust("10 minutes")
          const [, reason, , retryable] = factsOf(yield* Fiber.join(asking))
          assert.deepStrictEqual([reason, retryable], ["TimedOut", true])
          yield* double.until(() => double.openConnections() <= 1)
          double.clearRules()
          yield* ask
        }
      })
  )

  it.effect("[kind C] a listing that is cut in the middle of its page is no shorter listing", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      for (const key of ["a", "b", "c"]) yield* store.create(key, bytes("1"))
      double.rule((request) => request.operation === "list" ? cutBody(200) : undefined)
      assert.strictEqual((yield* Effect.flip(store.list({ prefix: "" }))).reason, "Unavailable")
    }))

  it.effect("[kind C] a page that names itself as the next one is no listing", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      yield* store.create("a", bytes("1"))
      double.rule(() => rewriteList((page) => ({ ...page, next: "again" })))
      const first = yield* store.list({ prefix: "" })
      assert.strictEqual(first.next, "again")
      const error = yield* Effect.flip(store.list({ prefix: "", page: "again" }))
      assert.strictEqual(error.reason, "UnexpectedResponse")
    }))

  it.effect("[kind C] a delete whose answer is lost is unknown, and safe to ask again", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      yield* store.create("a", bytes("1"))
      double.rule((request) => request.operation === "deleteMany" ? applied(cutBody(5)) : undefined)
      assert.strictEqual((yield* Effect.flip(store.remove(["a"]))).reason, "Unavailable")
      double.clearRules()
      assert.deepStrictEqual(yield* store.remove(["a"]), [])
    }))
})
