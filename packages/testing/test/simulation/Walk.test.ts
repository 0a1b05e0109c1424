/** Walks in CI: seeds that found something once, a fixed range, and a fresh one, which is printed. */
import { nodeDigest } from "@effect-wal/core/node/NodeDigest"
import { LongLog } from "@effect-wal/testing/simulation/LongLog"
import { walk } from "@effect-wal/testing/simulation/Walk"
import { assert, describe, it } from "@effect/vitest"
import { randomInt } from "node:crypto"
import { regressions } from "./regressions.ts"

const digest = nodeDigest
const longLog = new LongLog(digest)
const fixedFrom = 1
const fixedCount = 600
const freshCount = 200
/** Walks of one test: none comes near the time after which a test counts as hung. */
const slice = 50
const largestFreshSeed = 2 ** 40

const passes = (seed: number) => {
  const { violations } = walk(seed, { digest, longLog })
  assert.deepStrictEqual(violations, [], `seed ${seed}: pnpm sim --trace ${seed} shows it`)
}

const range = (from: number, count: number): ReadonlyArray<readonly [from: number, end: number]> =>
  Array.from({ length: Math.ceil(count / slice) }, (_, at) => [from + at * slice, from + (at + 1) * slice])

describe("a walk", () => {
  it("is the same twice, to the last line", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const first = walk(seed, { digest, longLog, keepTrace: true })
      const second = walk(seed, { digest, longLog, keepTrace: true })
      assert.isAbove(first.trace.length, 50)
      assert.deepStrictEqual(first, second)
      assert.strictEqual(walk(seed, { digest, longLog }).digest, first.digest, "kept or not, it is the same")
    }
  })

  it("differs from the next one", () => {
    const digests = Array.from({ length: 20 }, (_, at) => walk(1 + at, { digest, longLog }).digest)
    assert.strictEqual(new Set(digests).size, digests.length)
  })

  it("goes through enough to mean something", () => {
    const walks = Array.from({ length: 100 }, (_, at) => walk(1_000 + at, { digest, longLog }))
    const mean = (of: (one: typeof walks[number]) => number) =>
      walks.reduce((sum, one) => sum + of(one), 0) / walks.length
    assert.isAtLeast(mean((one) => one.requests), 200)
    assert.isAtLeast(mean((one) => one.crashes), 2)
    assert.isAtLeast(mean((one) => one.takeovers), 1)
    assert.isAtLeast(mean((one) => one.ghosts), 1)
    assert.isAtLeast(mean((one) => one.durable), 20)
  })
})

describe("promises in walks", () => {
  for (const { seed, what } of regressions) it(`[simulation] seed ${seed}: ${what}`, () => passes(seed))

  for (const [from, end] of range(fixedFrom, fixedCount)) {
    it(`are kept, seeds ${from} to ${end - 1}`, () => {
      for (let seed = from; seed < end; seed++) passes(seed)
    })
  }

  const fresh = randomInt(largestFreshSeed)
  for (const [from, end] of range(fresh, freshCount)) {
    it(`are kept, fresh seeds ${from} to ${end - 1}`, () => {
      for (let seed = from; seed < end; seed++) passes(seed)
    })
  }
})
