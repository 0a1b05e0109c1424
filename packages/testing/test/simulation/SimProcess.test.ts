/** A process of the simulation, by what its fibers do. */
import { SimProcess } from "@effect-wal/testing/simulation/SimProcess"
import { Timeline } from "@effect-wal/testing/simulation/Timeline"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect } from "effect"

const start = (hooks: { readonly onInterruption?: (process: SimProcess) => void } = {}) => {
  const timeline = new Timeline()
  const process = new SimProcess({
    id: 0,
    timeline,
    maxOperations: 2_048,
    epochMillis: 1_000_000,
    hooks: { onReady: () => undefined, onInterruption: (one) => hooks.onInterruption?.(one) }
  })
  const run = (untilMillis: number) => {
    do while (process.isReady) process.runStep()
    while (timeline.advance(untilMillis))
  }
  return { timeline, process, run }
}

/** Counts up once a second, and says so when it is interrupted. */
const ticking = (told: Array<string>) =>
  Effect.gen(function*() {
    for (let tick = 1;; tick++) {
      yield* Effect.sleep("1 second")
      told.push(`tick ${tick}`)
    }
  }).pipe(Effect.onInterrupt(() => Effect.sync(() => told.push("interrupted"))))

describe("a process of the simulation", () => {
  it("goes on in virtual time", () => {
    const { process, run } = start()
    const told: Array<string> = []
    process.fork(ticking(told), Context.empty())
    assert.deepStrictEqual(told, [])
    run(2_500)
    assert.deepStrictEqual(told, ["tick 1", "tick 2"])
  })

  it("that is killed never takes another step, no finalizer either", () => {
    const { process, run } = start()
    const told: Array<string> = []
    // It would be interrupted after five seconds.
    process.fork(Effect.timeoutOption(ticking(told), "5 seconds"), Context.empty())
    run(1_500)
    process.kill()
    run(10_000)
    assert.deepStrictEqual(told, ["tick 1"])
  })

  it("that is stopped gets what came meanwhile when it goes on, and finds that time has passed", () => {
    const { process, run } = start()
    const told: Array<string> = []
    process.fork(ticking(told), Context.empty())
    run(1_500)
    process.stop()
    run(60_000)
    assert.deepStrictEqual(told, ["tick 1"])
    process.resume()
    run(60_000)
    assert.deepStrictEqual(told, ["tick 1", "tick 2"])
  })

  it("is interrupted between two steps of a fiber", () => {
    const { process, run } = start({ onInterruption: (one) => one.kill() })
    const told: Array<string> = []
    const steps = Effect.forEach(
      ["a", "b", "c", "d"],
      (name) => Effect.andThen(Effect.yieldNow, Effect.sync(() => told.push(name)))
    )
    process.fork(steps, Context.empty())
    process.interruptAfter(2, "kill")
    run(1_000)
    assert.deepStrictEqual(told, ["a", "b"])
  })

  it("has a wall clock that jumps, and a monotonic one that does not", () => {
    const { process, run } = start()
    const seen: Array<readonly [number, number]> = []
    const look = Effect.gen(function*() {
      const nanos = yield* Clock.monotonicTimeNanos
      seen.push([yield* Clock.currentTimeMillis, Number(nanos) / 1_000_000])
    })
    process.fork(Effect.andThen(Effect.andThen(look, Effect.sleep("1 second")), look), Context.empty())
    run(500)
    process.wallOffsetMillis -= 900_000
    run(2_000)
    assert.deepStrictEqual(seen, [[1_000_000, 0], [101_000, 1_000]])
  })
})

describe("the timeline", () => {
  it("lets events happen by time, those of one instant in the order in which they were planned", () => {
    const timeline = new Timeline()
    const seen: Array<string> = []
    const note = (what: string) => () => seen.push(`${what} at ${timeline.nowMillis}`)
    timeline.at(30, note("c"))
    const cancel = timeline.at(20, note("never"))
    timeline.at(10, note("a"))
    timeline.at(10, note("b"))
    cancel()
    while (timeline.advance(25));
    assert.deepStrictEqual([seen, timeline.nowMillis], [["a at 10", "b at 10"], 25])
    timeline.at(0, note("at once"))
    while (timeline.advance(100));
    assert.deepStrictEqual(seen.slice(2), ["at once at 25", "c at 30"])
  })
})
