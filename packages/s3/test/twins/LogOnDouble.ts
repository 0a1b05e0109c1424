/** A whole log on the S3 double, on the real clock: short pauses, nothing that waits for time. */
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, References, Stream } from "effect"

/** Opens the log as a process of its own; the store is taken as proven unless told. */
export const openLog = Effect.fnUntraced(function*(store: ObjectStore["Service"], probe = false) {
  const registry = new ProcessRegistryState()
  if (!probe) registry.probed.add(store.id)
  return yield* Wal.make({
    nodeId: "node",
    streamId: "log",
    segment: { maxEntries: 1, linger: "0ms" },
    parallelPut: { workers: 1 },
    retention: { policy: "keep" },
    retry: { base: "1ms", cap: "5ms" },
    tailBufferBytes: 0
  }).pipe(
    Effect.provideService(ObjectStore, store),
    Effect.provideService(ProcessRegistry, registry),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
})

/** Appends records of these texts and waits until they are durable. */
export const append = (wal: WalService, ...texts: ReadonlyArray<string>) =>
  Effect.flatMap(
    wal.append(texts.map((text) => ({ payload: new TextEncoder().encode(text) }))),
    ({ durable }) => durable
  )

/** All records, as `seq:text`. */
export const readAll = (wal: WalService) =>
  Effect.map(
    Stream.runCollect(wal.read()),
    (read) => read.map(({ payload, seq }) => `${seq}:${new TextDecoder().decode(payload)}`)
  )
