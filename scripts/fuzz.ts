/** `pnpm fuzz`: decoders against millions of damaged inputs. `--help` says how. */
import { Effect, Logger, Result } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { checkInput, type FuzzFailure, type FuzzReport, makeInput } from "../packages/testing/src/fuzz/FuzzRun.ts"
import { nowMillis } from "./acceptance/Run.ts"
import type { FuzzResult } from "./fuzz/FuzzTask.ts"
import { type FuzzOptions, readOptions, usage } from "./fuzz/Options.ts"
import { loadTarget } from "./fuzz/Targets.ts"
import { fuzzTarget } from "./fuzz/Watch.ts"

const say = (text: string) => process.stderr.write(`${text}\n`)

/** What is longer is whole only in the file that `--save` writes. */
const maxHexBytes = 1_024

const hexOf = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes.subarray(0, maxHexBytes)).toString("hex")
  return bytes.length > maxHexBytes ? `${hex}… (${bytes.length} bytes)` : hex
}

const tell = (report: FuzzReport, failure: FuzzFailure, options: FuzzOptions): void => {
  say(`${report.target}: seed ${report.seed}, input ${failure.index}: ${failure.problem}`)
  say(`  again: pnpm fuzz --target ${report.target} --seed ${report.seed} --replay ${failure.index}`)
  say(`  ${failure.shrunk.length} of ${failure.input.length} bytes: ${hexOf(failure.shrunk)}`)
  if (options.save === undefined) return
  mkdirSync(options.save, { recursive: true })
  const path = join(options.save, `${report.target}-${report.seed}-${failure.index}.bin`)
  writeFileSync(path, failure.shrunk)
  say(`  saved as ${path}`)
}

const summaryOf = ({ peakResidentMiB, report }: FuzzResult, seconds: number) => ({
  target: report.target,
  inputs: report.inputs,
  seed: report.seed,
  ok: report.ok,
  typed: report.typed,
  reasons: report.reasons.size,
  failures: report.failures.length,
  largestAllocationBytes: report.largestAllocationBytes,
  peakResidentMiB,
  inputsCrc32: report.inputsCrc32.toString(16).padStart(8, "0"),
  seconds: Math.round(seconds * 10) / 10,
  inputsPerSecond: Math.round(report.inputs / Math.max(seconds, 0.001))
})

const run = async (options: FuzzOptions): Promise<boolean> => {
  let failed = false
  for (const name of options.targets) {
    const start = nowMillis()
    const result = await fuzzTarget(name, options, say)
    const { report } = result
    const summary = summaryOf(result, (nowMillis() - start) / 1_000)
    for (const failure of report.failures) tell(report, failure, options)
    if (options.reasons) {
      for (const [reason, count] of [...report.reasons].sort(([, a], [, b]) => b - a)) say(`  ${count}  ${reason}`)
    }
    failed ||= report.failures.length > 0
    process.stdout.write(
      options.json
        ? `${JSON.stringify(summary)}\n`
        : `${name}: ${summary.inputs} inputs, ${summary.ok} decoded, ${summary.typed} refused for ` +
          `${summary.reasons} reasons, ${summary.failures} failures, ${summary.inputsPerSecond} a second\n`
    )
  }
  return failed
}

const checkOne = async (name: string, input: Uint8Array): Promise<boolean> => {
  const target = await loadTarget(name)
  process.stdout.write(`${hexOf(input)}\n`)
  const result = await Effect.runPromise(Effect.provide(checkInput(target, input), Logger.layer([])))
  const said = Result.isFailure(result)
    ? result.failure
    : result.success.refused === undefined
    ? "decoded"
    : `refused: ${result.success.refused}: ${result.success.reason ?? ""}`
  process.stdout.write(`${said}\n`)
  return Result.isFailure(result)
}

const inputOf = async (name: string, options: FuzzOptions): Promise<Uint8Array | undefined> => {
  if (options.file !== undefined) return new Uint8Array(readFileSync(options.file))
  return options.replay === undefined ? undefined : makeInput(await loadTarget(name), options.seed, options.replay)
}

const main = async (): Promise<number> => {
  const parsed = Result.try(() => readOptions(process.argv.slice(2)))
  if (Result.isFailure(parsed)) {
    say(parsed.failure instanceof Error ? parsed.failure.message : String(parsed.failure))
    say("pnpm fuzz --help says more")
    return 2
  }
  const options = parsed.success
  if (options === "help") {
    process.stdout.write(`${usage}\n`)
    return 0
  }
  const [only = ""] = options.targets
  const input = await inputOf(only, options)
  return (await (input === undefined ? run(options) : checkOne(only, input))) ? 1 : 0
}

process.exitCode = await main()
