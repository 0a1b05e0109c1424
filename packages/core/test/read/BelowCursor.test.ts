/** What lies wholly before the record that is asked for is not fetched. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { parseSlotKey, slotKey } from "../../src/format/ObjectKey.ts"
import { isSegmentKey, open, type Options, prefix, reopen, seqs, still, storeSegments } from "../support/LogWorld.ts"

const tens: Options = { ...still, segment: { maxEntries: 10 }, parallelPut: { workers: 8, pipelineDepth: 8 } }
const segments = 1_000

/** A log whose index, as it is stored, names one slot in eight; opened by another process. */
const sparseLog = Effect.gen(function*() {
  const writer = yield* open(tens)
  yield* storeSegments(writer.wal, segments, 10)
  yield* writer.wal.close
  const slots: Array<number> = []
  const log = yield* reopen(writer, tens, {
    onGet: (name, header) => {
      const place = parseSlotKey(prefix, name)
      if (isSegmentKey(name) && !header && place !== undefined) slots.push(place.slot)
    }
  })
  return { ...log, slots }
})

describe("segments below the record asked for", () => {
  it.effect("are not fetched, wherever it lies", () =>
    Effect.gen(function*() {
      const { slots, wal } = yield* sparseLog
      for (let slot = 3; slot < segments; slot += 83) {
        for (const from of [slot * 10 + 1, slot * 10 + 10]) {
          slots.length = 0
          assert.deepStrictEqual(seqs(yield* Stream.runCollect(wal.read({ from, limit: 1 }))), [from])
          assert.strictEqual(Math.min(...slots), slot)
        }
      }
    }))

  it.effect("harm nobody where they are damaged", () =>
    Effect.gen(function*() {
      const { memory, slots, wal } = yield* sparseLog
      const slot = 503
      for (const below of [1, 2, 3]) memory.damage(slotKey(prefix, 1, slot - below), () => new Uint8Array(9))
      const from = slot * 10 + 1
      assert.deepStrictEqual(seqs(yield* Stream.runCollect(wal.read({ from, limit: 1 }))), [from])
      assert.strictEqual(Math.min(...slots), slot)
    }))
})
