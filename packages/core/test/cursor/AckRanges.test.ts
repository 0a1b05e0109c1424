import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { acknowledge, type AckRanges, commitThrough, startAt } from "../../src/cursor/AckRanges.ts"
import { range } from "../support/LogWorld.ts"

/** The same by a set of numbers: the oracle. */
const markOf = (acked: ReadonlySet<number>, start: number): number => {
  let mark = start
  while (acked.has(mark + 1)) mark++
  return mark
}

const assertNormal = (state: AckRanges) => {
  let before = state.mark
  for (const { from, to } of state.ahead) {
    assert.isAbove(from, before + 1)
    assert.isAtLeast(to, from)
    before = to
  }
}

describe("AckRanges", () => {
  it.effect("the mark is the highest contiguous number, in any order, with repeats and failures [predecessor 2]", () =>
    Effect.gen(function*() {
      for (let seed = 0; seed < 200; seed++) {
        yield* Effect.gen(function*() {
          const start = yield* Random.nextIntBetween(0, 50)
          const acked = new Set<number>()
          let state = startAt(start)
          for (let step = 0; step < 60; step++) {
            const from = yield* Random.nextIntBetween(1, start + 60)
            const to = from + (yield* Random.nextIntBetween(0, 5))
            if (yield* Random.nextBoolean) {
              state = acknowledge(state, { from, to })
              for (const seq of range(from, to)) acked.add(seq)
            } else if (step % 10 === 0) {
              state = commitThrough(state, from)
              for (const seq of range(1, from)) acked.add(seq)
            }
            assert.strictEqual(state.mark, markOf(acked, start))
            assertNormal(state)
            const ahead = [...acked].filter((seq) => seq > state.mark).sort((left, right) => left - right)
            assert.deepStrictEqual(state.ahead.flatMap((one) => range(one.from, one.to)), ahead)
          }
        }).pipe(Random.withSeed(`ack-${seed}`))
      }
    }))

  it("6 acknowledged and 5 not: 5 stays to be delivered [predecessor 2]", () => {
    const state = acknowledge(acknowledge(startAt(4), { from: 6, to: 6 }), { from: 8, to: 9 })
    assert.deepStrictEqual(state, { mark: 4, ahead: [{ from: 6, to: 6 }, { from: 8, to: 9 }] })
    assert.deepStrictEqual(acknowledge(state, { from: 5, to: 5 }), { mark: 6, ahead: [{ from: 8, to: 9 }] })
    assert.deepStrictEqual(commitThrough(state, 7), { mark: 9, ahead: [] })
    assert.strictEqual(commitThrough(state, 3), state)
  })

  it("never changes the state it was given", () => {
    const state: AckRanges = Object.freeze({ mark: 0, ahead: Object.freeze([Object.freeze({ from: 5, to: 6 })]) })
    acknowledge(state, { from: 1, to: 7 })
    acknowledge(state, { from: 9, to: 9 })
    assert.deepStrictEqual(state, { mark: 0, ahead: [{ from: 5, to: 6 }] })
  })
})
