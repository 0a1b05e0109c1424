import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { drive, isSegmentKey, open, range, settle, sized, still } from "../support/LogWorld.ts"
import { makeRandom } from "../support/Seeded.ts"

/** At, below and above what fills a segment, alone and together; of no bytes too. */
const sizes = [0, 0, 1, 49, 50, 51, 99, 100]

/**
 * Calls at random while the store is mostly down, so that the queue is full most of the time, and whether a call fits is
 * planned before it is filled in.
 */
const run = Effect.fnUntraced(function*(seed: number) {
  const random = makeRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const segment = { maxBytes: 100, maxEntries: 1 + below(4) }
  const { faults, wal } = yield* open({ ...still, segment, maxRecordBytes: 100 })
  let down = true
  faults.rule((request) => down && isSegmentKey(request.key) ? { _tag: "Fail", reason: "Unavailable" } : undefined)
  const accepted: Array<number> = []
  for (let round = 0; round < 200; round++) {
    down = random() < 0.8
    const call = range(1, 1 + below(5)).map(() => sized(sizes[below(sizes.length)] ?? 0))
    const answer = yield* Effect.result(wal.appendNow(call))
    if (Result.isSuccess(answer)) {
      const { first, last } = answer.success
      assert.deepStrictEqual([first, last], [accepted.length + 1, accepted.length + call.length])
      accepted.push(...call.map(({ payload }) => payload.length))
    }
    yield* down ? settle : TestClock.adjust("200 millis")
  }
  down = false
  yield* drive(wal.flush)
  const read = yield* drive(Stream.runCollect(wal.read()))
  assert.deepStrictEqual([...read].map(({ payload }) => payload.length), accepted)
  assert.isAbove(accepted.length, 50)
})

describe("a call that is accepted", () => {
  for (const seed of range(1, 40)) {
    it.effect(`is accepted whole, whatever its sizes and the room: seed ${seed}`, () => run(seed))
  }
})
