import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeAttempts } from "../src/Attempt.ts"
import type { S3Failure } from "../src/S3Answer.ts"

const deadline = Duration.seconds(10)
const expired: S3Failure = { kind: "answer", status: 400, code: "ExpiredToken", message: "the token has expired" }

/** Requests that the store refuses until a refresh was answered: the first one never is. */
const refusedUntilRenewed = Effect.gen(function*() {
  let asked = 0
  let isRenewed = false
  const attempts = yield* makeAttempts({
    ask: ({ forceRefresh }) => {
      if (forceRefresh && ++asked === 1) return Effect.never
      isRenewed = asked > 1
      return Effect.succeed({ secretAccessKey: "S" })
    },
    refreshable: true
  })
  const request = attempts(deadline, Effect.suspend(() => isRenewed ? Effect.void : Effect.fail(expired)))
  return { request, asked: () => asked }
})

const forkThree = (request: Effect.Effect<void, S3Failure>) =>
  Effect.forEach([1, 2, 3], () => Effect.forkChild(request, { startImmediately: true }))

describe("a refresh of credentials", () => {
  it.effect("all who wait for one that is not answered fail with it, and who comes later asks anew", () =>
    Effect.gen(function*() {
      const { asked, request } = yield* refusedUntilRenewed
      const waiting = yield* forkThree(request)
      yield* TestClock.adjust(deadline)
      const failures = yield* Effect.forEach(waiting, (fiber) => Effect.flip(Fiber.join(fiber)))
      assert.deepStrictEqual(failures.map(({ kind }) => kind), ["credentials", "credentials", "credentials"])
      assert.strictEqual(asked(), 1)
      yield* request
      assert.strictEqual(asked(), 2)
    }))

  it.effect("where the one who asks is interrupted, the next one asks", () =>
    Effect.gen(function*() {
      const { asked, request } = yield* refusedUntilRenewed
      const [first, ...others] = yield* forkThree(request)
      if (first !== undefined) yield* Fiber.interrupt(first)
      yield* Effect.forEach(others, Fiber.join)
      assert.strictEqual(asked(), 2)
    }))
})
