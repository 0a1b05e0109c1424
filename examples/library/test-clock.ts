/**
 * How to test a program that has a log: the log is in memory, the store is away on command, and time goes by only when
 * the test says so. With `it.effect` of `@effect/vitest` the clock is there already, and `WalTest.layer()` is all to provide.
 */
import { Wal } from "@effect-wal/core/Wal"
import { WalTest } from "@effect-wal/testing/WalTest"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Fiber, Layer, References } from "effect"
import { TestClock } from "effect/testing"

const program = Effect.gen(function*() {
  const wal = yield* Wal
  const { faults } = yield* WalTest
  const storeIsBack = faults.rule(({ operation }) =>
    operation === "create" ? { _tag: "Fail", reason: "Unavailable" } : undefined
  )
  const { durable } = yield* wal.append([{ payload: new Uint8Array(3) }])
  const waiting = yield* Effect.forkChild(durable)

  yield* TestClock.adjust("1 minute")
  const { atRisk, durable: before } = yield* wal.status
  yield* Console.log(`after a minute: durable to ${before}, at risk ${atRisk.records} for ${atRisk.oldestAgeMillis} ms`)

  storeIsBack()
  yield* TestClock.adjust("10 seconds") // no wait between two tries is longer than 5 s
  yield* Fiber.join(waiting)
  const { durable: after } = yield* wal.status
  yield* Console.log(`with the store back: durable to ${after}`)
})

program.pipe(
  Effect.provide(WalTest.layer().pipe(Layer.provideMerge(TestClock.layer()))),
  // Each failed try is a warning; here they are meant.
  Effect.provideService(References.MinimumLogLevel, "Error"),
  NodeRuntime.runMain
)
