import { gated } from "@effect-wal/testing/HttpS3Action"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeSend } from "../src/Attempt.ts"
import { bytes, setUp } from "./support.ts"

const secrets = { accessKeyId: "K", secretAccessKey: "S" }
const deadline = Duration.seconds(30)

describe("more requests than connections", () => {
  it.effect("wait for their turn before they are sent, and inside their deadline", () =>
    Effect.gen(function*() {
      const send = yield* makeSend({ credentials: () => Promise.resolve(secrets), refreshable: false, maxSockets: 2 })
      const sent: Array<PromiseWithResolvers<string>> = []
      const started = yield* Deferred.make<void>()
      const request = send(deadline, () => {
        const one = Promise.withResolvers<string>()
        if (sent.push(one) === 2) Deferred.doneUnsafe(started, Effect.void)
        return one.promise
      })
      const first = yield* Effect.forkChild(request)
      const others = yield* Effect.forEach([2, 3, 4], () => Effect.forkChild(request))
      yield* Deferred.await(started)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(sent.length, 2)
      sent[0]?.resolve("answer")
      assert.strictEqual(yield* Fiber.join(first), "answer")
      // The third has its turn now, the fourth waits still: what nobody answers ends at its deadline.
      yield* TestClock.adjust("1 second")
      const failures = yield* Effect.forEach(others, (fiber) => Effect.flip(Fiber.join(fiber)))
      assert.deepStrictEqual(failures.map(({ kind }) => kind), ["timeout", "timeout", "timeout"])
    }))

  it.effect("are all answered over one connection, and one that is given up gives its turn back", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({}, { maxSockets: 1 })
      const gate = yield* Deferred.make<void>()
      double.rule((request) => request.key === "held" ? gated(gate) : undefined)
      const held = yield* Effect.forkChild(store.create("held", bytes("1")))
      yield* double.until(() => double.count("put") === 1)
      const others = yield* Effect.forkChild(
        Effect.forEach(["a", "b", "c"], (key) => store.create(key, bytes(key)), { concurrency: "unbounded" })
      )
      yield* Fiber.interrupt(held)
      yield* Fiber.join(others)
      assert.deepStrictEqual([...double.objects.keys()].toSorted(), ["a", "b", "c"])
    }))
})
