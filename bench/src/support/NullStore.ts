/** A store without a way to it: what is small lives in memory, segments are taken and forgotten. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { Effect } from "effect"

export interface NullStore {
  readonly store: ObjectStore["Service"]
  /** Segments that were taken, and their bytes. */
  readonly counts: { segments: number; bytes: number }
}

/** Segments cannot be read back: for logs that only append. */
export const make = Effect.map(MemoryObjectStore.make(), (memory): NullStore => {
  const counts = { segments: 0, bytes: 0 }
  const taken = Effect.succeed("\"taken\"")
  const store = ObjectStore.of({
    ...memory.store,
    create: (key, body, options) => {
      if (!key.endsWith(".seg")) return memory.store.create(key, body, options)
      counts.segments++
      counts.bytes += body.length
      return taken
    }
  })
  return { counts, store }
})
