/** The tests that every fuzz target has: a fixed set of inputs, what it reaches, and inputs that once broke a rule. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Result } from "effect"
import { checkInput, runFuzz } from "./FuzzRun.ts"
import type { FuzzTarget } from "./FuzzTarget.ts"

/** An input that broke a rule once. */
export interface KeptInput {
  readonly target: string
  /** What went wrong then. */
  readonly what: string
  /** The input, as hexadecimal digits. */
  readonly hex: string
}

export interface FuzzSettings {
  /** Inputs of seed 1, from the first on. */
  readonly inputs: number
  /** Reasons for refusals that the set must reach, as parts of what `runFuzz` counts: else the mutations stay outside. */
  readonly reaches: ReadonlyArray<string>
  /** Inputs of all targets; those of others are left out. */
  readonly kept: ReadonlyArray<KeptInput>
}

const silent = Logger.layer([])

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))

/** Registers the tests of a target. */
export const fuzzSuite = (target: FuzzTarget, settings: FuzzSettings): void => {
  describe(`${target.name} under fuzz`, () => {
    it.live(`${settings.inputs} inputs: only typed errors, all rules hold, and each decoder is reached`, () =>
      Effect.gen(function*() {
        const report = yield* runFuzz(target, { seed: 1, inputs: settings.inputs })
        assert.deepStrictEqual(report.failures.map(({ index, problem }) => ({ index, problem })), [])
        assert.strictEqual(report.ok + report.typed, settings.inputs)
        assert.isAbove(report.ok, settings.inputs / 50, "hardly anything is decoded")
        const reasons = [...report.reasons.keys()]
        const missed = settings.reaches.filter((reason) => !reasons.some((one) => one.includes(reason)))
        assert.deepStrictEqual(missed, [], `reached: ${reasons.join("\n")}`)
      }).pipe(Effect.provide(silent)))

    for (const { hex, what } of settings.kept.filter((one) => one.target === target.name)) {
      it.live(`once broken: ${what}`, () =>
        Effect.gen(function*() {
          const result = yield* checkInput(target, fromHex(hex))
          assert.isTrue(Result.isSuccess(result), Result.isFailure(result) ? result.failure : "")
        }).pipe(Effect.provide(silent)))
    }
  })
}
