/**
 * A log for tests: on a store in memory, `linger` 0, no store probe, faults on request. It needs no clock to close.
 */
import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import type { WalOpenError } from "@effect-wal/core/WalError"
import { Context, Effect, Layer } from "effect"
import * as FaultyObjectStore from "./FaultyObjectStore.ts"
import * as MemoryObjectStore from "./MemoryObjectStore.ts"

/** What lies below a test log. */
export interface WalTestHandles {
  /** The objects as they are stored. */
  readonly memory: MemoryObjectStore.MemoryHandles
  /** Rules for the log's requests. */
  readonly faults: FaultyObjectStore.FaultyHandles
}

/** Options of a test log; the ids have defaults here. */
export type WalTestOptions = Partial<WalOptionsInput>

/** What a test sees of the world around its log. */
export class WalTest extends Context.Service<WalTest, WalTestHandles>()("@effect-wal/testing/WalTest") {
  /** A fresh store and a log on it, for one test. */
  static readonly layer = (options: WalTestOptions = {}): Layer.Layer<Wal | WalTest | ObjectStore, WalOpenError> =>
    Layer.unwrap(Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.MemoryObjectStore.make()
      const faults = FaultyObjectStore.make(memory.store)
      const registry = new ProcessRegistryState()
      registry.probed.add(faults.store.id)
      const world = Layer.mergeAll(
        Layer.succeed(ObjectStore, faults.store),
        Layer.succeed(WalTest, WalTest.of({ memory, faults })),
        Layer.succeed(ProcessRegistry, registry)
      )
      const segment: WalOptionsInput["segment"] = { linger: "0ms", ...options.segment }
      return Wal.layer({ nodeId: "test", streamId: "test", ...options, segment }).pipe(Layer.provideMerge(world))
    }))
}
