/** The decoders of configuration under fuzz: files in YAML and JSON, the library's options, durations, sizes. */
import { decodeBackend } from "@effect-wal/core/config/DecodeBackend"
import { formatDuration, parseDuration } from "@effect-wal/core/config/DurationText"
import { resolveLocalOptions, resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import { formatSize, parseSize } from "@effect-wal/core/config/SizeText"
import { ConfigError } from "@effect-wal/core/WalError"
import { finding, type FuzzFinding, type FuzzOutcome, type FuzzTarget } from "@effect-wal/testing/fuzz/FuzzTarget"
import { Duration, Effect, Result } from "effect"
import { printConfig } from "../../src/config/ConfigPrint.ts"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { configKinds, environment, makeConfig, secretMark } from "./ConfigInput.ts"

const rule = (holds: boolean, problem: string): Effect.Effect<void, FuzzFinding> =>
  holds ? Effect.void : Effect.fail(finding(problem))

const isOpen = (text: string): boolean => !text.includes(secretMark)

/** Nobody reads more than a page of it. */
const longestRule = 1_000

const refusal = Effect.fnUntraced(function*(error: unknown) {
  if (!(error instanceof ConfigError)) return yield* Effect.fail(finding(`refused with ${String(error)}`))
  const { problems } = error
  yield* rule(problems.length > 0, "it is refused for nothing")
  yield* rule(isOpen(JSON.stringify(error)) && isOpen(error.message), "a secret stands in the report")
  for (const { path, rule: broken, value = "" } of problems) {
    yield* rule(path !== "" && broken !== "", "a problem has no path, or no rule")
    yield* rule(!/: [A-Z_]{6,}$/.test(broken), `a rule in the parser's own code: ${broken}`)
    yield* rule(broken.length < longestRule && value.length <= 130, `a rule of ${broken.length} characters`)
  }
  const [first] = problems
  return { refused: "ConfigError", reason: first?.rule ?? "" } satisfies FuzzOutcome
})

/** Whether all numbers below the value are finite; of durations the infinite one is allowed where the field is. */
const areFinite = (value: unknown): boolean => {
  if (typeof value === "number") return Number.isFinite(value)
  if (Duration.isDuration(value)) return Duration.isFinite(value)
  return typeof value !== "object" || value === null || Object.values(value).every(areFinite)
}

const checkFile = Effect.fnUntraced(function*(text: string) {
  const loaded = yield* Effect.result(loadConfig({ text, env: environment, hostname: "h" }))
  if (Result.isFailure(loaded)) return yield* refusal(loaded.failure)
  const { entries, notices, settings, streams } = loaded.success
  yield* rule(isOpen(printConfig({ entries, notices })), "a secret stands in what config print shows")
  yield* rule(
    areFinite({ ...settings, limits: { ...settings.limits, maxBufferedBytes: 0 } }) &&
      streams.every(({ options }) => areFinite(options)),
    "a setting is not finite"
  )
  const ids = streams.map(({ id }) => id)
  yield* rule(
    ids.every((id) => id !== "") && new Set(ids).size === ids.length,
    "two streams have one id, or one has none"
  )
  return {} satisfies FuzzOutcome
})

const known = new Set(
  ("nodeId streamId prefix preset segment parallelPut compression cursor manifest retention producers retry sync host " +
    "conditionalWrites maxBufferedBytes maxRecordBytes maxSegmentBytes tailBufferBytes prefetch openTimeout").split(" ")
)

/** What stands below the name `wrapped` of a JSON text: plain data, whatever type it is taken for. */
const unwrapped = (text: string): Result.Result<object, unknown> =>
  Result.try((): object => {
    const { wrapped } = JSON.parse(text)
    if (typeof wrapped !== "object" || wrapped === null || Array.isArray(wrapped)) throw new Error("no object")
    return wrapped
  })

const noInput = { refused: "none", reason: "no object" } satisfies FuzzOutcome

const checkOptions = Effect.fnUntraced(function*(text: string) {
  const read = unwrapped(text)
  if (Result.isFailure(read)) return noInput
  const { ...input } = Object(read.success)
  const unknown = Object.keys(read.success).find((name) => !known.has(name))
  const resolved = yield* Effect.result(resolveOptions(read.success === input ? input : Object(read.success)))
  const local = yield* Effect.result(resolveLocalOptions({ ...input, path: "/data" }))
  if (Result.isFailure(local)) yield* refusal(local.failure)
  if (Result.isFailure(resolved)) return yield* refusal(resolved.failure)
  yield* rule(unknown === undefined, `the unknown key ${unknown} was taken without a word`)
  yield* rule(areFinite(resolved.success), "an option is not finite")
  return {} satisfies FuzzOutcome
})

const checkBackend = Effect.fnUntraced(function*(text: string) {
  const read = unwrapped(text)
  if (Result.isFailure(read)) return noInput
  const decoded = yield* Effect.result(decodeBackend(read.success, { host: "h" }))
  if (Result.isFailure(decoded)) return yield* refusal(decoded.failure)
  yield* rule(areFinite(decoded.success.options), "an option is not finite")
  yield* rule(isOpen(decoded.success.notices.join()), "a secret stands in a notice")
  return {} satisfies FuzzOutcome
})

const checkDuration = Effect.fnUntraced(function*(text: string) {
  const parsed = parseDuration(text)
  if (Result.isFailure(parsed)) {
    yield* rule(parsed.failure !== "" && parsed.failure.length < longestRule + text.length * 4, "no rule is named")
    return { refused: "duration", reason: parsed.failure } satisfies FuzzOutcome
  }
  const again = parseDuration(formatDuration(parsed.success))
  yield* rule(
    Result.isSuccess(again) && Duration.equals(again.success, parsed.success),
    `${JSON.stringify(text)} comes back as ${formatDuration(parsed.success)}`
  )
  return {} satisfies FuzzOutcome
})

const checkSize = Effect.fnUntraced(function*(text: string) {
  const parsed = parseSize(text)
  if (Result.isFailure(parsed)) return { refused: "size", reason: parsed.failure } satisfies FuzzOutcome
  yield* rule(
    Number.isSafeInteger(parsed.success) && parsed.success >= 0,
    `${JSON.stringify(text)} is ${parsed.success}`
  )
  const again = parseSize(formatSize(parsed.success))
  yield* rule(
    Result.isSuccess(again) && again.success === parsed.success,
    `${JSON.stringify(text)} comes back as ${formatSize(parsed.success)}`
  )
  return {} satisfies FuzzOutcome
})

const checks = {
  file: checkFile,
  options: checkOptions,
  duration: checkDuration,
  size: checkSize,
  backend: checkBackend
}

/** Files, options, durations and sizes. */
export const configTarget: FuzzTarget = {
  name: "config",
  make: makeConfig,
  check: (input) =>
    checks[configKinds[(input[0] ?? 0) % configKinds.length] ?? "file"](new TextDecoder().decode(input.subarray(1)))
}
