import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { objectPlace, walSuite } from "@effect-wal/testing/WalSuite"
import { Effect } from "effect"

walSuite("a log in memory", {
  place: Effect.map(MemoryObjectStore.make(), ({ store }) => objectPlace(Effect.succeed(store))),
  secondWriter: "takes-over",
  objects: true,
  onDisk: false,
  window: 8
})
