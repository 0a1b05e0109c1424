/** Damage of every kind, repaired: the log opens, appends go on, the loss is exact and known, nothing else is lost. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { makeEpochs } from "../verify/Checked.ts"
import { byteHarms, lies, placeHarms } from "../verify/Harms.ts"
import { expected, readFailing, readSkipping, repaired } from "./Repaired.ts"

describe("repair", () => {
  for (const { harm, lost, name } of [...byteHarms, ...placeHarms, ...lies]) {
    it.effect(`${name}: opens, the loss is exact, the rest is read [predecessor 22]`, () =>
      Effect.gen(function*() {
        const world = yield* makeEpochs(3)
        yield* harm(world)
        const unrepaired = lost === undefined ? undefined : expected(60, lost)
        const { damaged, kept } = yield* repaired(world)
        assert.isAbove(damaged.length, 0)
        const read = yield* readSkipping(world)
        if (unrepaired !== undefined) {
          assert.deepStrictEqual(read.slice(0, unrepaired.length), unrepaired)
          const exact = damaged.flatMap((one) => one.lost === undefined ? [] : [one.lost])
          assert.deepStrictEqual(exact.map((one) => [one.from, one.to, one.exact]), [[...lost ?? [], true]])
          assert.strictEqual(kept.records, 60 - ((lost?.[1] ?? 0) - (lost?.[0] ?? 0) + 1))
        }
        assert.deepStrictEqual(
          read.slice(-5),
          [1, 2, 3, 4, 5].map((one) => `${kept.lastSeq + one}:r${kept.lastSeq + one}`)
        )
        const failed = Exit.isFailure(yield* readFailing(world))
        assert.strictEqual(failed, read.some((one) => one.startsWith("lost")), "reads that do not skip fail at a hole")
      }))
  }
})
