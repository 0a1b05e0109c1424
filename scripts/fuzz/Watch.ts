/** Runs a target in a child and takes the child away when an input does not end; a child that dies is a failure too. */
import { Result } from "effect"
import { fork } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FuzzReport } from "../../packages/testing/src/fuzz/FuzzRun.ts"
import { makeInput } from "../../packages/testing/src/fuzz/FuzzRun.ts"
import { Beat, type FuzzResult, isResult } from "./FuzzTask.ts"
import type { FuzzOptions } from "./Options.ts"
import { loadTarget } from "./Targets.ts"

const beatMillis = 1_000
const progressBeats = 30
const maxFailures = 5

interface Range {
  readonly target: string
  readonly from: number
  readonly inputs: number
}

/** What a child came to: its result, or where it ended without one and why. */
type Ended = FuzzResult | { readonly stoppedAt: number; readonly problem: string }

const watchChild = (range: Range, options: FuzzOptions, folder: string, progress: (text: string) => void) => {
  const beatPath = join(folder, "beat")
  writeFileSync(beatPath, new Uint8Array(16))
  const child = fork(join(import.meta.dirname, "fuzz-child.ts"), {
    execArgv: [`--max-old-space-size=${options.memoryMiB}`],
    serialization: "advanced"
  })
  child.send({ ...range, seed: options.seed, maxFailures, beatPath })
  const beat = new Beat(beatPath, "r")
  const { promise, resolve } = Promise.withResolvers<Ended>()
  let before = -1
  let still = 0
  let beats = 0
  const timer = setInterval(() => {
    const { calls, input } = beat.read()
    still = calls === before ? still + 1 : 0
    before = calls
    if (++beats % progressBeats === 0) progress(`${range.target}: at input ${input}`)
    if (still * beatMillis < options.hangSeconds * 1_000) return
    resolve({ stoppedAt: input, problem: `it does not end within ${options.hangSeconds} s` })
    child.kill("SIGKILL")
  }, beatMillis)
  child.on("message", (message) => {
    if (isResult(message)) resolve(message)
  })
  child.on("exit", (code, signal) => {
    clearInterval(timer)
    resolve({ stoppedAt: beat.read().input, problem: `the process that decodes ended with ${signal ?? code}` })
    beat.close()
  })
  return promise
}

const merged = (left: FuzzResult, right: FuzzResult): FuzzResult => {
  const reasons = new Map(left.report.reasons)
  for (const [reason, count] of right.report.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count)
  const report: FuzzReport = {
    ...left.report,
    inputs: left.report.inputs + right.report.inputs,
    ok: left.report.ok + right.report.ok,
    typed: left.report.typed + right.report.typed,
    reasons,
    failures: [...left.report.failures, ...right.report.failures],
    largestAllocationBytes: Math.max(left.report.largestAllocationBytes, right.report.largestAllocationBytes),
    inputsCrc32: right.report.inputsCrc32
  }
  return { report, peakResidentMiB: Math.max(left.peakResidentMiB, right.peakResidentMiB) }
}

/** The result of a child that ended in the middle: what it had counted is lost, but for the input that it was at. */
const resultOfStop = async (
  range: Range,
  seed: number,
  stoppedAt: number,
  problem: string
): Promise<FuzzResult> => {
  const target = await loadTarget(range.target)
  const made = Result.try(() => makeInput(target, seed, stoppedAt))
  // Making it may be what went wrong.
  const input = Result.isSuccess(made) ? made.success : new Uint8Array(0)
  const report: FuzzReport = {
    target: range.target,
    seed,
    inputs: stoppedAt - range.from + 1,
    ok: 0,
    typed: 0,
    reasons: new Map(),
    failures: [{ index: stoppedAt, problem, input, shrunk: input }],
    largestAllocationBytes: 0,
    inputsCrc32: 0
  }
  return { report, peakResidentMiB: 0 }
}

const fuzzRange = async (range: Range, options: FuzzOptions, folder: string, progress: (text: string) => void) => {
  const ended = await watchChild(range, options, folder, progress)
  return "report" in ended
    ? { result: ended, next: range.from + range.inputs }
    : { result: await resultOfStop(range, options.seed, ended.stoppedAt, ended.problem), next: ended.stoppedAt + 1 }
}

/** All inputs of one target. Goes on behind an input that ended its child, up to five failures. */
export const fuzzTarget = async (
  target: string,
  options: FuzzOptions,
  progress: (text: string) => void
): Promise<FuzzResult> => {
  const folder = mkdtempSync(join(tmpdir(), "fuzz-"))
  const end = options.from + options.inputs
  const first = await fuzzRange({ target, from: options.from, inputs: options.inputs }, options, folder, progress)
  let { next, result } = first
  while (next < end && result.report.failures.length < maxFailures) {
    const more = await fuzzRange({ target, from: next, inputs: end - next }, options, folder, progress)
    result = merged(result, more.result)
    next = more.next
  }
  rmSync(folder, { recursive: true })
  return result
}
