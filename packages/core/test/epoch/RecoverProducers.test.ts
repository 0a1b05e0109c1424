/** The calls of a long epoch are taken in while its segments are read. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { ProducerTable } from "../../src/write/ProducerTable.ts"
import { open, prefix, range, records, reopen, still } from "../support/LogWorld.ts"

const segments = 100

describe("producers of a log that is taken over", () => {
  it.effect("the calls of a long epoch are not all held until its last segment was read", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      const call = (sequence: number) => [records(1, sequence), { producer: { id: "p", sequence } }] as const
      for (const sequence of range(1, segments)) yield* (yield* log.wal.append(...call(sequence))).durable
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
      const remember = vi.spyOn(ProducerTable.prototype, "remember")
      const last = slotKey(prefix, 1, segments - 1)
      let before = 0
      const next = yield* reopen(log, still, {
        onGet: (name, header) => {
          if (name === last && !header) before = remember.mock.calls.length
        }
      })
      assert.isAtLeast(before, segments / 2)
      assert.deepStrictEqual(remember.mock.calls.map(([, { sequence }]) => sequence).slice(0, segments), [
        ...range(1, segments)
      ])
      const repeat = yield* next.wal.append(...call(segments - 4))
      assert.deepStrictEqual([repeat.first, repeat.isRepeat], [segments - 4, true])
    }))
})
