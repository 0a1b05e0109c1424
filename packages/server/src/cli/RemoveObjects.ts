/** The removal of any number of objects. */
import type { ObjectStore, RemoveFailure } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { Effect } from "effect"

/** The most keys that a store takes in one call. */
const removedAtOnce = 1_000

/** Removes the objects, in as many calls as it takes. Answers those that were not removed; fails as the store does. */
export const removeObjects = Effect.fnUntraced(function*(
  store: ObjectStore["Service"],
  keys: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<RemoveFailure>, ObjectStoreError> {
  const left: Array<RemoveFailure> = []
  for (let at = 0; at < keys.length; at += removedAtOnce) {
    left.push(...(yield* store.remove(keys.slice(at, at + removedAtOnce))))
  }
  return left
})
