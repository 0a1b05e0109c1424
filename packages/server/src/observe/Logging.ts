/**
 * How the server writes its log: lines for people, or one JSON object a line for a collector.
 *
 * With JSON, everything that the process says is JSON: also what is printed without the logger, and warnings of Node.
 */
import { Cause, Clock, Console, DateTime, Effect, Layer, Logger, type LogLevel, References, Result } from "effect"
import { LogStream } from "./LogStream.ts"

/** `text` for people, `json` for collectors. */
export const logFormats = ["text", "json"] as const

/** Of the log. */
export type LogFormat = typeof logFormats[number]

/** The least grave line that is written, as the configuration spells it. */
export const logLevels = ["trace", "debug", "info", "warn", "error"] as const

/** Least grave first. */
export type LogLevelName = typeof logLevels[number]

/** The `log` block of the configuration. */
export interface LogSettings {
  readonly format: LogFormat
  readonly level: LogLevelName
}

const levelOf: Readonly<Record<LogLevelName, LogLevel.LogLevel>> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error"
}

/** One line of the log. Keys that have nothing to say are absent. */
interface LogLine {
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly level: string
  readonly message: string
  readonly stream?: string
  /** What else was noted. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** The errors behind it, with their stacks. */
  readonly cause?: string
  /** The span in which it was said, where requests are traced. */
  readonly trace_id?: string
  readonly span_id?: string
}

const wordOf = (part: unknown): string => {
  if (typeof part === "string") return part
  if (part instanceof Error) return part.message
  const text = JSON.stringify(part, (_, value: unknown) => typeof value === "bigint" ? String(value) : value)
  return text ?? String(part)
}

const textOf = (message: unknown): string => Array.isArray(message) ? message.map(wordOf).join(" ") : wordOf(message)

const write = (line: LogLine): void => {
  process.stdout.write(
    `${JSON.stringify(line, (_, value: unknown) => typeof value === "bigint" ? String(value) : value)}\n`
  )
}

/** A line of the logger as an object. */
const lineOf = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): LogLine => {
  const fields = fiber.getRef(References.CurrentLogAnnotations)
  const stream = fiber.getRef(LogStream)
  const span = fiber.cache.span
  return {
    timestamp: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: textOf(message),
    ...(stream === undefined ? {} : { stream }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(cause.reasons.length === 0 ? {} : { cause: Cause.pretty(cause) }),
    ...(span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId })
  }
}

const jsonLogger = Logger.make((options: Logger.Options<unknown>) => write(lineOf(options)))

/** Whether a text is one line of JSON already: what only begins like an object is not. */
const isJsonLine = (text: string): boolean =>
  text.startsWith("{") && !text.includes("\n") && Result.isSuccess(Result.try((): unknown => JSON.parse(text)))

/** What is printed without the logger, as lines of it; what is a JSON object already stays what it is. */
const jsonConsole = (own: Console.Console, clock: Clock.Clock): Console.Console => {
  const say = (level: LogLevelName) => (...parts: ReadonlyArray<unknown>): void => {
    const message = parts.map(wordOf).join(" ").trim()
    if (isJsonLine(message)) process.stdout.write(`${message}\n`)
    else write({ timestamp: DateTime.formatIso(DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())), level, message })
  }
  return { ...own, log: say("info"), info: say("info"), debug: say("debug"), warn: say("warn"), error: say("error") }
}

/** Warnings of Node as lines of the log, instead of its own text on stderr, until the scope ends. */
const nodeWarnings = Layer.effectDiscard(Effect.gen(function*() {
  const runFork = Effect.runForkWith(yield* Effect.context())
  const tell = (warning: Error) => {
    runFork(Effect.logWarning(`${warning.name}: ${warning.message}`))
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.listeners("warning")
      process.removeAllListeners("warning")
      process.on("warning", tell)
      return before
    }),
    (before) =>
      Effect.sync(() => {
        process.off("warning", tell)
        for (const listener of before) process.on("warning", listener)
      })
  )
}))

const jsonOutput = Layer.effect(
  Console.Console,
  Effect.gen(function*() {
    return jsonConsole(yield* Console.Console, yield* Clock.Clock)
  })
)

const minimum = (level: LogLevelName) => Layer.succeed(References.MinimumLogLevel, levelOf[level])

/** The logger, and the console where its lines are JSON. Without a `level`, what was in force stays. */
export const layer = (
  { format, level }: { readonly format: LogFormat; readonly level?: LogLevelName | undefined }
): Layer.Layer<never> => {
  const threshold = level === undefined ? Layer.empty : minimum(level)
  return format === "text"
    ? threshold
    : nodeWarnings.pipe(Layer.provideMerge(Layer.mergeAll(Logger.layer([jsonLogger]), jsonOutput, threshold)))
}
