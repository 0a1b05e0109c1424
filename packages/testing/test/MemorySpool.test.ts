import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as MemorySpool from "../src/MemorySpool.ts"

const start = { epoch: 0, slot: 0 }

/** A spool with one object, and the disk below it. */
const setUp = Effect.gen(function*() {
  const disk = MemorySpool.make()
  const service = yield* disk.attach().source.open("node-0/orders/")
  yield* service.write([{ epoch: 1, slot: 0, object: Uint8Array.of(1) }])
  return { disk, service }
})

describe("MemorySpool", () => {
  it.effect("keeps bytes of its own, whatever becomes of those that it was given or gave", () =>
    Effect.gen(function*() {
      const { service } = yield* setUp
      const given = Uint8Array.of(2)
      yield* service.write([{ epoch: 1, slot: 1, object: given }])
      given[0] = 9
      const read = yield* service.read(1, 1)
      assert.deepStrictEqual(read, Uint8Array.of(2))
      read[0] = 9
      assert.deepStrictEqual(yield* service.read(1, 1), Uint8Array.of(2))
    }).pipe(Effect.scoped))

  it.effect("where reads fail, what it holds can't be listed either", () =>
    Effect.gen(function*() {
      const { disk, service } = yield* setUp
      disk.failingReads = "Failed"
      assert.strictEqual((yield* Effect.flip(service.slots(start, 10))).reason, "Failed")
      assert.strictEqual((yield* Effect.flip(service.read(1, 0))).reason, "Failed")
      disk.failingReads = undefined
      assert.deepStrictEqual(yield* service.slots(start, 10), [{ epoch: 1, slot: 0, sizeBytes: 1 }])
    }).pipe(Effect.scoped))
})
