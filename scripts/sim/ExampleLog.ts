/** A log on a store in memory that is created, loses answers, is taken over and is fenced: what the counting is tried on. */
import { Effect, Exit, References } from "effect"
import { ProcessRegistry, ProcessRegistryState } from "../../packages/core/src/ProcessRegistry.ts"
import { ObjectStore } from "../../packages/core/src/store/ObjectStore.ts"
import type { ObjectStoreError } from "../../packages/core/src/store/ObjectStoreError.ts"
import { Wal } from "../../packages/core/src/Wal.ts"
import * as FaultyObjectStore from "../../packages/testing/src/FaultyObjectStore.ts"
import { MemoryObjectStore } from "../../packages/testing/src/MemoryObjectStore.ts"
import {
  type AnswerCounts,
  type GivenAnswer,
  ProcessAnswers
} from "../../packages/testing/src/simulation/AnswerCount.ts"

type Store = ObjectStore["Service"]

/** The store of one process, whose answers are counted. */
const counting = (store: Store, counts: AnswerCounts): Store => {
  const answers = new ProcessAnswers(counts)
  const told = <A>(
    effect: Effect.Effect<A, ObjectStoreError>,
    answer: Pick<GivenAnswer, "operation" | "key">,
    bodyOf: (value?: A) => Uint8Array | undefined
  ) => {
    const tell = (body: Uint8Array | undefined, reason?: ObjectStoreError["reason"]) =>
      Effect.sync(() =>
        answers.answered({
          ...answer,
          ...(body === undefined ? {} : { body }),
          ...(reason === undefined ? {} : { reason })
        })
      )
    return effect.pipe(
      Effect.tap((value) => tell(bodyOf(value))),
      Effect.tapError((error) => tell(bodyOf(), error.reason))
    )
  }
  return {
    ...store,
    get: (key, request) => told(store.get(key, request), { operation: "get", key }, (value) => value?.body),
    create: (key, body, options) => told(store.create(key, body, options), { operation: "create", key }, () => body),
    replace: (key, body, tag, options) =>
      told(store.replace(key, body, tag, options), { operation: "replace", key }, () => body)
  }
}

/** One more process: opens the log, and keeps it. */
const opened = Effect.fnUntraced(
  function*(faults: FaultyObjectStore.FaultyHandles, host: string, counts: AnswerCounts) {
    const registry = new ProcessRegistryState()
    registry.probed.add(faults.store.id)
    return yield* Wal.make({
      nodeId: "node",
      streamId: "log",
      host,
      segment: { linger: "0ms" },
      retry: { base: "1ms", cap: "1ms" }
    }).pipe(
      Effect.provideService(ObjectStore, counting(faults.store, counts)),
      Effect.provideService(ProcessRegistry, registry)
    )
  }
)

const record = { payload: Uint8Array.of(1) }

/**
 * The first writer's segment is stored and its answer lost; the claim of the second is lost in the same way, and its
 * activation does not come through at first; then the first writer appends again, and is fenced.
 */
export const exampleLog = (counts: AnswerCounts) =>
  Effect.gen(function*() {
    const memory = yield* MemoryObjectStore.make()
    const first = FaultyObjectStore.make(memory.store)
    const second = FaultyObjectStore.make(memory.store)
    first.rule(({ key, nth, operation }) =>
      operation === "create" && key.endsWith(".seg") && nth === 1
        ? { _tag: "Fail", reason: "TimedOut", applied: true }
        : undefined
    )
    second.rule(({ nth, operation }) => {
      if (operation !== "replace" || nth > 1) return undefined
      return { _tag: "Fail", reason: "TimedOut", applied: nth === 0 }
    })
    const old = yield* opened(first, "first", counts)
    yield* (yield* old.append([record])).durable
    const wal = yield* opened(second, "second", counts)
    const lost = yield* Effect.exit((yield* old.append([record])).durable)
    yield* (yield* wal.append([record])).durable
    return Exit.isFailure(lost)
  }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
