import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { limitsOf } from "../../src/retain/AgeLimits.ts"
import type { RetentionOptions } from "../../src/WalOptions.ts"
import { boundary } from "../format/Samples.ts"

/** Stretches from slot 0, 10, 20, ...: bytes, and the time of the youngest in it. */
const stretches = (...each: ReadonlyArray<readonly [bytes: number, youngestMillis: number]>) =>
  each.map(([bytes, youngestMillis], index) => ({ start: boundary(1, index * 10, index * 100), bytes, youngestMillis }))

const log = stretches([50, 1_000], [50, 2_000], [50, 3_000], [50, 4_000], [0, Number.NEGATIVE_INFINITY])

const age = (change: Partial<RetentionOptions>): RetentionOptions => ({
  policy: "age",
  minAge: Duration.zero,
  ...change
})

describe("what age and size let go", () => {
  it.each<readonly [string, RetentionOptions, number | undefined, number | undefined]>([
    ["nothing is old", age({ maxAge: Duration.seconds(60) }), 0, undefined],
    ["the old ones", age({ maxAge: Duration.millis(2_500) }), 20, undefined],
    ["all that has an end", age({ maxAge: Duration.millis(1) }), 40, undefined],
    ["all fits", age({ maxBytes: 200 }), 0, undefined],
    ["one byte too many", age({ maxBytes: 199 }), 10, undefined],
    ["half", age({ maxBytes: 100 }), 20, undefined],
    ["the stricter of both", age({ maxAge: Duration.seconds(3), maxBytes: 60 }), 30, undefined],
    ["min_age beside it", age({ maxBytes: 100, minAge: Duration.seconds(4) }), 20, 10],
    ["exactly as old goes", age({ maxAge: Duration.seconds(2) }), 30, undefined],
    ["min_age alone", age({ policy: "committed", minAge: Duration.millis(2_500) }), undefined, 20],
    ["no limit", age({ policy: "committed" }), undefined, undefined]
  ])("%s", (_, retention, aged, young) => {
    const limits = limitsOf(retention, log, 5_000)
    assert.deepStrictEqual([limits.aged?.slot, limits.tooYoungFrom?.slot], [aged, young])
  })

  it("an upload that came late holds back all behind it", () => {
    const late = stretches([50, 1_000], [50, 4_900], [50, 1_200], [0, Number.NEGATIVE_INFINITY])
    assert.strictEqual(limitsOf(age({ maxAge: Duration.seconds(1) }), late, 5_000).aged?.slot, 10)
  })

  it("of unknown age is young", () => {
    const unknown = stretches([50, Number.POSITIVE_INFINITY], [0, Number.NEGATIVE_INFINITY])
    const retention = age({ maxAge: Duration.seconds(1), minAge: Duration.millis(1) })
    const { aged, tooYoungFrom } = limitsOf(retention, unknown, 5_000)
    assert.deepStrictEqual([aged?.slot, tooYoungFrom?.slot], [0, 0])
  })
})
