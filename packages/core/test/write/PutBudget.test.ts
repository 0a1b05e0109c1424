import { assert, describe, it } from "@effect/vitest"
import { PutBudget } from "../../src/write/PutBudget.ts"
import { makeRandom } from "../support/Seeded.ts"

describe("a budget of PUTs", () => {
  const one = 1
  type Step = readonly [atMillis: number, puts: number, allowedAt: number]
  const table: ReadonlyArray<readonly [name: string, putsPerSecond: number, steps: ReadonlyArray<Step>]> = [
    ["the first PUT is free", 1, [[0, 0, 0]]],
    ["the next one comes a second later", 1, [[0, one, 1_000], [400, 0, 1_000], [1_000, 0, 1_000]]],
    ["one in ten seconds", 0.1, [[0, one, 10_000], [9_999, 0, 10_000], [10_000, 0, 10_000]]],
    ["what one second brings may be sent at once", 4, [[0, 3, 0], [0, one, 250], [250, one, 500]]],
    ["fractions go on counting", 1.5, [[0, one, 333], [333, one, 1_000]]],
    ["a rest saves no more than a second's", 2, [[3_600_000, 2, 3_600_500]]],
    ["a rest saves one PUT at least", 0.1, [[3_600_000, one, 3_610_000]]],
    ["what was sent all the same is a debt", 1, [[0, 2, 2_000], [2_000, one, 3_000]]],
    ["the debt has a bound", 1, [[0, 1_000, 2_000], [1_000, 0, 2_000]]],
    ["the debt is a second's at the most", 4, [[0, 1_000, 1_250]]]
  ]
  for (const [name, putsPerSecond, steps] of table) {
    it(name, () => {
      const budget = new PutBudget({ putsPerSecond, nowMillis: 0 })
      for (const [atMillis, puts, allowedAt] of steps) {
        budget.take(puts, atMillis)
        assert.closeTo(budget.allowedAt(atMillis), allowedAt, 0.5, `at ${atMillis}`)
      }
    })
  }

  it("is kept to in any time by who waits each time, whatever the pauses", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = makeRandom(seed)
      const putsPerSecond = 10 ** (random() * 4 - 2)
      const budget = new PutBudget({ putsPerSecond, nowMillis: 5_000 })
      const sentAt: Array<number> = []
      let now = 5_000
      for (let nth = 0; nth < 60; nth++) {
        if (random() < 0.3) now += random() * 3_000 / putsPerSecond
        now = budget.allowedAt(now)
        budget.take(1, now)
        sentAt.push(now)
      }
      for (const [first, from] of sentAt.entries()) {
        for (let last = first; last < sentAt.length; last++) {
          const seconds = ((sentAt[last] ?? from) - from) / 1_000
          const most = seconds * putsPerSecond + Math.max(1, putsPerSecond)
          assert.isAtMost(last - first + 1, most + 1e-6, `seed ${seed}`)
        }
      }
    }
  })

  it("is used up by who never rests", () => {
    for (const putsPerSecond of [0.1, 1, 7.3, 200]) {
      const budget = new PutBudget({ putsPerSecond, nowMillis: 0 })
      let now = 0
      for (let nth = 0; nth < 1_000; nth++) {
        now = budget.allowedAt(now)
        budget.take(1, now)
      }
      const most = Math.max(1, putsPerSecond)
      assert.closeTo(now / 1_000, (1_000 - most) / putsPerSecond, 1e-6)
    }
  })
})
