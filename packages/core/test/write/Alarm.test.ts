import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { monotonicMillis } from "../../src/internal/Monotonic.ts"
import { Alarm } from "../../src/write/Alarm.ts"
import { Signal } from "../../src/write/Signal.ts"

/** Waits for the signal again and again, and sets the alarm as often as it is told to; answers when it was woken. */
const ringsOf = (settings: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const signal = new Signal()
    const alarm = new Alarm(signal, clock)
    const rings: Array<number> = []
    const fiber = yield* Effect.forkChild(
      Effect.gen(function*() {
        for (const atMillis of settings) yield* alarm.set(atMillis)
        for (;;) {
          yield* signal.wait
          rings.push(monotonicMillis(clock))
        }
      }),
      { startImmediately: true }
    )
    yield* TestClock.adjust(1_000)
    yield* Fiber.interrupt(fiber)
    return rings
  })

describe("an alarm", () => {
  it.effect("rings at its time, once", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ringsOf([30]), [30])
    }))

  it.effect("rings at the earliest of the times that it is set to", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ringsOf([30, 50, 40]), [30])
      assert.deepStrictEqual(yield* ringsOf([1_050, 1_020, 1_040]), [1_020])
    }))

  it.effect("rings after a whole millisecond where its time is there, or nearly", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ringsOf([0]), [1])
      assert.deepStrictEqual(yield* ringsOf([1_000.25]), [1_001])
    }))

  it.effect("ends with the fiber that has set it", () =>
    Effect.gen(function*() {
      const signal = new Signal()
      const alarm = new Alarm(signal, yield* Clock.Clock)
      const fiber = yield* Effect.forkChild(Effect.andThen(alarm.set(30), Effect.never), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(1_000)
      const waiting = yield* Effect.forkChild(signal.wait, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
    }))
})
