/** Places whose segments are objects: damage is another object under the same key. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { Scope } from "effect"
import { Effect } from "effect"
import type { Scar, TaggedFailure, WalPlace } from "./SuiteBackend.ts"

/** Flips the lowest bit of each byte in the range. */
export const flipped = ({ at, body, length }: Scar): Uint8Array => {
  const changed = body.slice()
  const from = at < 0 ? body.length + at : at
  for (let index = from; index < from + length; index++) changed[index] = (changed[index] ?? 0) ^ 1
  return changed
}

/** A place on an object store. */
export const objectPlace = (
  connect: Effect.Effect<ObjectStore["Service"], TaggedFailure, Scope.Scope>,
  prefix?: string
): WalPlace => ({
  connect,
  ...(prefix === undefined ? {} : { prefix }),
  scar: (change) =>
    Effect.scoped(Effect.gen(function*() {
      const store = yield* connect
      yield* store.remove([change.key])
      yield* store.create(change.key, flipped(change))
    }))
})

/** Removes everything below a prefix, on a store that others use too. */
export const emptied = (
  connect: Effect.Effect<ObjectStore["Service"], TaggedFailure, Scope.Scope>,
  prefix: string
): Effect.Effect<void, TaggedFailure> =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* connect
    for (;;) {
      // What is removed is not listed again: the first page is always the next one.
      const { objects } = yield* store.list({ prefix })
      if (objects.length === 0) return
      yield* store.remove(objects.map(({ key }) => key))
    }
  }))
