/** Listings of the slots of an epoch. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { lowestSlots } from "../../src/epoch/SlotLook.ts"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { prefix } from "../scenarios/World.ts"

const context = {
  prefix,
  digest: nodeDigest,
  backoff: { base: Duration.millis(1), cap: Duration.millis(1) },
  attempts: 1
}

/** A store whose listing has these slots, so many a page, in this order, wherever it was asked to start. */
const listing = (slots: ReadonlyArray<number>, pageSize: number) => {
  const never = () => Effect.die(new Error("only listed"))
  return ObjectStore.of({
    id: "listing",
    get: never,
    create: never,
    replace: never,
    remove: never,
    advice: never,
    list: ({ page }) => {
      const from = Number(page ?? 0)
      const objects = slots.slice(from, from + pageSize)
        .map((slot) => ({ key: slotKey(prefix, 1, slot), sizeBytes: 1 }))
      const next = from + pageSize
      return Effect.succeed(next < slots.length ? { objects, next: String(next) } : { objects })
    }
  })
}

describe("the lowest slots of an epoch", () => {
  it.effect("are found in any order of pages, each once, and as many as were asked for", () =>
    Effect.gen(function*() {
      const up = Array.from({ length: 500 }, (_, index) => index)
      const down = [...up].reverse()
      for (const slots of [up, down, [...down, ...up]]) {
        const lowest = lowestSlots(context, 1, { from: 100, count: 4 })
        const found = yield* Effect.provideService(lowest, ObjectStore, listing(slots, 7))
        assert.deepStrictEqual(found, [100, 101, 102, 103])
      }
      const few = yield* Effect.provideService(
        lowestSlots(context, 1, { from: 498, count: 4 }),
        ObjectStore,
        listing(down, 7)
      )
      assert.deepStrictEqual(few, [498, 499])
    }))
})
