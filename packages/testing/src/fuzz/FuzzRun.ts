/**
 * Runs a target over numbered inputs and counts what came of them.
 *
 * The run itself has no clock and no memory between inputs: input `index` of `seed` is the same in any run, on any
 * machine, whatever was checked before it.
 */
import { Cause, Effect, Exit, Result } from "effect"
import { crc32 } from "node:zlib"
import { FuzzRandom } from "./FuzzRandom.ts"
import type { FuzzOutcome, FuzzTarget } from "./FuzzTarget.ts"
import { shrink } from "./Shrink.ts"

/** An input that broke a rule. */
export interface FuzzFailure {
  /** Its number in the run; with the seed, all that is needed to make it again. */
  readonly index: number
  readonly problem: string
  readonly input: Uint8Array
  /** As short as it could be made; breaks the same rule. */
  readonly shrunk: Uint8Array
}

export interface FuzzReport {
  readonly target: string
  readonly seed: number
  readonly inputs: number
  /** Inputs that were decoded. */
  readonly ok: number
  /** Inputs that were refused with a typed error. */
  readonly typed: number
  /** How often each reason came, by error and reason. */
  readonly reasons: ReadonlyMap<string, number>
  readonly failures: ReadonlyArray<FuzzFailure>
  /** The most that a decoder asked for at once; 0 where the target can't see that. */
  readonly largestAllocationBytes: number
  /** Over all inputs in order: equal for two runs only if these had the same inputs, byte for byte. */
  readonly inputsCrc32: number
}

export interface FuzzRequest {
  readonly seed: number
  readonly inputs: number
  /** The number of the first input; default 0. */
  readonly from?: number
  /** Told before each input, so that somebody else knows which one hangs. */
  readonly onInput?: (index: number) => void
  /** The run ends after so many failures; default 5. */
  readonly maxFailures?: number
}

/** The input with this number. */
export const makeInput = (target: FuzzTarget, seed: number, index: number): Uint8Array =>
  target.make(new FuzzRandom(seed, index))

const described = (defect: unknown): string =>
  defect instanceof Error ? `${defect.name}: ${defect.message} ${frameOf(defect)}` : String(defect)

/** Where it was thrown, without the machine's own paths. */
const frameOf = (error: Error): string => {
  const frame = error.stack?.split("\n").find((line) => line.includes("/packages/") && !line.includes("node_modules"))
  return frame === undefined ? "" : `(${frame.trim().replace(/[^\s(]*\/packages\//, "packages/")})`
}

/** What the input broke, or what the decoder said. */
export const checkInput = (target: FuzzTarget, input: Uint8Array): Effect.Effect<Result.Result<FuzzOutcome, string>> =>
  Effect.exit(Effect.suspend(() => target.check(input))).pipe(
    Effect.map((exit) => {
      if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
      const found = Cause.findError(exit.cause)
      if (Result.isSuccess(found)) return Result.fail(found.success.problem)
      const defect = Cause.findDefect(exit.cause)
      return Result.fail(
        Result.isSuccess(defect) ? `a defect: ${described(defect.success)}` : "it was interrupted"
      )
    })
  )

/** Tells one kind of problem, or one reason, from another. */
export const kindOf = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"/g, "…").replace(/\d+(\.\d+)?(e[+-]?\d+)?/g, "#").slice(0, 160)

const failureOf = Effect.fnUntraced(function*(target: FuzzTarget, input: Uint8Array, index: number, problem: string) {
  const kind = kindOf(problem)
  const stillBreaks = (candidate: Uint8Array) =>
    Effect.map(checkInput(target, candidate), (result) => Result.isFailure(result) && kindOf(result.failure) === kind)
  const shrunk = yield* shrink(input, stillBreaks, target.repair)
  return { index, problem, input, shrunk } satisfies FuzzFailure
})

/** Checks one input after the other. Never fails: what is wrong is in the report. */
export const runFuzz = Effect.fnUntraced(function*(target: FuzzTarget, request: FuzzRequest) {
  const { from = 0, inputs, maxFailures = 5, onInput, seed } = request
  const reasons = new Map<string, number>()
  const failures: Array<FuzzFailure> = []
  let ok = 0
  let typed = 0
  let largestAllocationBytes = 0
  let inputsCrc32 = 0
  let done = 0
  for (; done < inputs && failures.length < maxFailures; done++) {
    const index = from + done
    onInput?.(index)
    const input = makeInput(target, seed, index)
    inputsCrc32 = crc32(input, inputsCrc32)
    const result = yield* checkInput(target, input)
    if (Result.isFailure(result)) {
      failures.push(yield* failureOf(target, input, index, result.failure))
      continue
    }
    const { allocatedBytes = 0, reason, refused } = result.success
    largestAllocationBytes = Math.max(largestAllocationBytes, allocatedBytes)
    if (refused === undefined) ok++
    else {
      typed++
      const kind = kindOf(reason === undefined ? refused : `${refused}: ${reason}`)
      reasons.set(kind, (reasons.get(kind) ?? 0) + 1)
    }
  }
  return {
    target: target.name,
    seed,
    inputs: done,
    ok,
    typed,
    reasons,
    failures,
    largestAllocationBytes,
    inputsCrc32
  } satisfies FuzzReport
})
