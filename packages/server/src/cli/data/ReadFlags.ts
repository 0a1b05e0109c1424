/** The flags that say what `cat` and `tail` read. */
import { parseDuration } from "@effect-wal/core/config/DurationText"
import { Clock, DateTime, Duration, Effect, Option, Result } from "effect"
import { Flag } from "effect/cli"
import { usageError } from "../Failure.ts"
import type { CommandFailed } from "../Failure.ts"
import type { Start } from "./Target.ts"

/** Flags of a read. */
export const readFlags = {
  from: Flag.Int("from").pipe(Flag.withDescription("Start at this sequence number"), Flag.optional),
  since: Flag.String("since").pipe(
    Flag.withDescription(
      "Start at the first record appended at or after a time: 2026-11-30T12:00:00Z, epoch milliseconds, or 10m for ten " +
        "minutes ago"
    ),
    Flag.optional
  ),
  cursor: Flag.String("cursor").pipe(
    Flag.withDescription("Start behind the mark of this cursor; the cursor is not moved"),
    Flag.optional
  ),
  last: Flag.Int("last").pipe(
    Flag.withAlias("n"),
    Flag.withDescription("Start so many records before the durable end"),
    Flag.optional
  ),
  limit: Flag.Int("limit").pipe(Flag.withDescription("End after so many records"), Flag.optional),
  raw: Flag.Boolean("raw").pipe(
    Flag.withDescription("Print the payloads alone, each followed by the delimiter"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  delimiter: Flag.String("delimiter").pipe(
    Flag.withDescription(
      "With --raw: what follows each payload; \\n, \\t, \\0 and nothing can be written. Default \\n"
    ),
    Flag.optional
  ),
  onDamage: Flag.Literals("on-damage", ["fail", "skip"]).pipe(
    Flag.withDescription("Where damage took records away: end with an error, or print the lost range and go on"),
    Flag.withDefault("fail")
  )
}

/** The values of `readFlags`. */
export interface ReadInput {
  readonly from: Option.Option<number>
  readonly since: Option.Option<string>
  readonly cursor: Option.Option<string>
  readonly last: Option.Option<number>
  readonly limit: Option.Option<number>
  readonly raw: boolean
  readonly delimiter: Option.Option<string>
  readonly onDamage: "fail" | "skip"
}

/** A time as people write it; a duration counts back from now. */
export const readTime = (text: string, nowMillis: number): Result.Result<number, string> => {
  if (/^\d{1,16}$/.test(text)) return Result.succeed(Number(text))
  const ago = parseDuration(text)
  if (Result.isSuccess(ago)) return Result.succeed(Math.max(0, nowMillis - Duration.toMillis(ago.success)))
  // Without a zone it would mean another time on another machine.
  const isZoned = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const date = isZoned ? DateTime.make(text) : Option.none()
  return Option.isSome(date)
    ? Result.succeed(Math.max(0, date.value.epochMilliseconds))
    : Result.fail("must be as in 2026-11-30T12:00:00Z (with a zone), 2026-11-30, 1796040000000 or 10m")
}

const atLeast = (name: string, value: Option.Option<number>, least: number): Effect.Effect<void, CommandFailed> =>
  Option.isSome(value) && (value.value < least || !Number.isSafeInteger(value.value))
    ? Effect.fail(usageError(`--${name} must be a whole number from ${least}`, "See --help."))
    : Effect.void

const seqStart = (seq: number): Start => ({ _tag: "Seq", seq })
const cursorStart = (name: string): Start => ({ _tag: "Cursor", name })
const lastStart = (records: number): Start => ({ _tag: "Last", records })

const timeStart = Effect.fnUntraced(function*(text: string) {
  const time = readTime(text, yield* Clock.currentTimeMillis)
  if (Result.isFailure(time)) return yield* usageError(`--since ${time.failure}`, "See --help.")
  const start: Start = { _tag: "Time", millis: time.success }
  return start
})

/** Where to start; `byDefault` where nothing says it. */
export const startOf = Effect.fnUntraced(function*(input: ReadInput, byDefault: Start) {
  const { cursor, from, last, limit, since } = input
  const given = [from, since, cursor, last].filter((flag) => Option.isSome<unknown>(flag)).length
  if (given > 1) {
    return yield* usageError("--from, --since, --cursor and --last: a read starts at one place", "Give one of them.")
  }
  yield* atLeast("from", from, 1)
  yield* atLeast("last", last, 0)
  yield* atLeast("limit", limit, 1)
  if (Option.isSome(since)) return yield* timeStart(since.value)
  return Option.map(from, seqStart).pipe(
    Option.orElse(() => Option.map(cursor, cursorStart)),
    Option.orElse(() => Option.map(last, lastStart)),
    Option.getOrElse(() => byDefault)
  )
})

const escapes: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\0": "\0", "\\r": "\r", "\\\\": "\\" }

/** The bytes that follow a payload. */
export const delimiterOf = (delimiter: Option.Option<string>): Uint8Array =>
  Buffer.from(Option.getOrElse(delimiter, () => "\n").replace(/\\[nt0r\\]/g, (escape) => escapes[escape] ?? escape))
