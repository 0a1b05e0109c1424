import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ObjectStoreError, type Reason } from "../../src/store/ObjectStoreError.ts"
import { backoffMillis, retryWhilePassing, toStoreError } from "../../src/store/StoreRetry.ts"

const backoff = { base: Duration.millis(100), cap: Duration.seconds(5) }
const Attempt = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000 }))
const Unit = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

const failing = (reason: Reason) => new ObjectStoreError({ operation: "get", key: "k", reason, detail: "d" })

describe("the pause before a repeat", () => {
  it("[case 6] doubles, with jitter between half and all of it, up to the cap", () => {
    const at = (attempt: number, random: number) => backoffMillis(backoff, { attempt, random })
    assert.deepStrictEqual([0, 1, 2, 5, 6, 40].map((attempt) => at(attempt, 1)), [100, 200, 400, 3_200, 5_000, 5_000])
    assert.deepStrictEqual([0, 1, 40].map((attempt) => at(attempt, 0)), [50, 100, 2_500])
  })

  it.prop("[case 6] is within the cap at any attempt, and never none", [Attempt, Unit], ([attempt, random]) => {
    const millis = backoffMillis(backoff, { attempt, random })
    assert.isAtMost(millis, 5_000)
    assert.isAtLeast(millis, 50)
  })

  it("[case 6] is never shorter than what the store asked for, even above the cap", () => {
    assert.strictEqual(backoffMillis(backoff, { attempt: 0, random: 0, retryAfterMillis: 3_000 }), 3_000)
    assert.strictEqual(backoffMillis(backoff, { attempt: 0, random: 0, retryAfterMillis: 60_000 }), 60_000)
    assert.strictEqual(backoffMillis(backoff, { attempt: 9, random: 1, retryAfterMillis: 1 }), 5_000)
  })
})

describe("a repeated request", () => {
  it.effect("is tried as often as it may be, while the answer may pass, with pauses between", () =>
    Effect.gen(function*() {
      let tries = 0
      const request = Effect.suspend(() => {
        tries++
        return Effect.fail(failing("Throttled"))
      })
      const fiber = yield* Effect.forkChild(Effect.flip(retryWhilePassing(request, { backoff, attempts: 4 })), {
        startImmediately: true
      })
      assert.strictEqual(tries, 1)
      yield* TestClock.adjust("49 millis")
      assert.strictEqual(tries, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).reason, "Throttled")
      assert.strictEqual(tries, 4)
    }))

  it.effect("is not tried again after an answer that will not change", () =>
    Effect.gen(function*() {
      for (
        const reason of ["NotFound", "AlreadyExists", "AccessDenied", "NotSupported", "UnexpectedResponse"] as const
      ) {
        let tries = 0
        const request = Effect.suspend(() => {
          tries++
          return Effect.fail(failing(reason))
        })
        yield* Effect.flip(retryWhilePassing(request, { backoff, attempts: 4 }))
        assert.strictEqual(tries, 1, reason)
      }
    }))

  it.each<readonly [Reason, string]>([
    ["AccessDenied", "AccessDenied"],
    ["NoSuchBucket", "AccessDenied"],
    ["CredentialsUnavailable", "CredentialsUnavailable"],
    ["NotSupported", "UnexpectedResponse"],
    ["UnexpectedResponse", "UnexpectedResponse"],
    ["AlreadyExists", "UnexpectedResponse"],
    ["PreconditionFailed", "UnexpectedResponse"],
    ["NotFound", "UnexpectedResponse"],
    ["Throttled", "StoreUnavailable"],
    ["Unavailable", "StoreUnavailable"],
    ["TimedOut", "StoreUnavailable"],
    ["Conflict", "StoreUnavailable"],
    ["StoreFull", "StoreUnavailable"]
  ])("%s is told as %s", (reason, tag) => {
    assert.strictEqual(toStoreError(failing(reason))._tag, tag)
  })

  it("names the request once", () => {
    assert.strictEqual(toStoreError(failing("Unavailable")).message, "get k: Unavailable: d")
  })
})
