/** One scope, one identity, several openings: what failed or was closed does not stand in the way. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Metric, References } from "effect"
import { ProcessRegistry, ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import { gate } from "../scenarios/World.ts"
import { records, store } from "../support/LogWorld.ts"

const identity = { nodeId: "node", streamId: "log", segment: { linger: "0ms" } } as const

/** A process with one store that can fail; all of it in the scope of the test. */
const inProcess = <A, E>(body: (faults: FaultyObjectStore.FaultyHandles) => Effect.Effect<A, E, ObjectStore>) =>
  Effect.gen(function*() {
    const memory = yield* MemoryObjectStore.make()
    const faults = FaultyObjectStore.make(memory.store)
    const registry = new ProcessRegistryState()
    registry.probed.add(faults.store.id)
    return yield* body(faults).pipe(
      Effect.provideService(ObjectStore, faults.store),
      Effect.provideService(ProcessRegistry, registry),
      Effect.provideService(References.MinimumLogLevel, "None")
    )
  })

describe("opening again in one scope", () => {
  it.effect("after a failure opens the log: nothing of the failed opening is left", () =>
    inProcess((faults) =>
      Effect.scoped(Effect.gen(function*() {
        const mend = faults.rule((request) =>
          request.operation === "get" ? { _tag: "Fail", reason: "AccessDenied" } : undefined
        )
        assert.strictEqual((yield* Effect.flip(Wal.make(identity)))._tag, "AccessDenied")
        mend()
        const wal = yield* Wal.make(identity)
        yield* store(wal, records(1))
      }))
    ))

  it.effect("after an interruption opens the log", () =>
    inProcess((faults) =>
      Effect.scoped(Effect.gen(function*() {
        const never = yield* gate
        const free = faults.rule(() => ({ _tag: "HoldBefore", gate: never }))
        const opening = yield* Effect.forkChild(Wal.make(identity), { startImmediately: true })
        yield* Fiber.interrupt(opening)
        free()
        yield* Wal.make(identity)
      }))
    ))

  it.effect("after close opens the next epoch; while it is open it is refused", () =>
    inProcess(() =>
      Effect.scoped(Effect.gen(function*() {
        const first = yield* Wal.make(identity)
        assert.strictEqual((yield* Effect.flip(Wal.make(identity)))._tag, "AlreadyOpen")
        yield* store(first, records(2))
        yield* first.close
        const series = (yield* Metric.snapshot).filter((one) => one.attributes?.["stream"] === "log")
        assert.deepStrictEqual(series, [], "the series of a log go when it closes")
        const second = yield* Wal.make(identity)
        const { durable, epoch } = yield* second.status
        assert.deepStrictEqual([epoch, durable], [2, 2])
        assert.strictEqual((yield* first.status).state, "closed")
        yield* first.close
        assert.strictEqual((yield* Effect.flip(Wal.make(identity)))._tag, "AlreadyOpen")
      }))
    ))
})
