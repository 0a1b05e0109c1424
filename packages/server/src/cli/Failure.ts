/**
 * From an error to what is said on stderr, what to do next, and the exit code. No stack trace, and no secret: messages of
 * typed errors hold none.
 */
import { errorTable, type WalErrorTag } from "@effect-wal/core/ErrorTable"
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { toStoreError } from "@effect-wal/core/store/StoreRetry"
import { Cause, Console, Data, Effect, Predicate } from "effect"
import { RequestProblem } from "../RequestProblem.ts"
import { ExitCode, type ExitCodeName, exitCodes } from "./ExitCode.ts"
import { failureTable } from "./FailureTable.ts"
import { Json, type JsonFlag } from "./Output.ts"

/** What is told about an error. */
export interface Failure {
  /** Stable, for programs: that of `docs/errors.md` where the error has one. */
  readonly code: string
  readonly message: string
  /** What to do next, one sentence or two. */
  readonly next: string
  readonly exit: ExitCodeName
  readonly details?: unknown
}

/** A command's own failure, where no error of the log says it. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<Failure> {}

/** A flag that breaks a rule. */
export const usageError = (message: string, next: string): CommandFailed =>
  new CommandFailed({ code: "usage", message, next, exit: "usage" })

/** An error that a command can end with. */
export interface TaggedFailure {
  readonly _tag: string
  readonly message: string
}

const isWalErrorTag = (tag: string): tag is WalErrorTag => Object.hasOwn(errorTable, tag)

/** There is no log at all: a look for one, as opposed to a log whose manifest is gone. */
const isNoLog = (error: TaggedFailure): boolean =>
  error._tag === "ManifestMissing" && "found" in error && error.found === "no log here"

const noLog = (error: TaggedFailure): Failure => ({
  code: "log_not_found",
  message: `there is no log: ${"key" in error ? String(error.key) : "the manifest"} does not exist`,
  next:
    "Check prefix, node_id and stream_id with `effect-wal config print`; a log begins with its writer's first start.",
  exit: "notFound"
})

const ofLog = (error: TaggedFailure, tag: WalErrorTag): Failure => ({
  code: errorTable[tag].code,
  message: error.message,
  next: failureTable[tag].next ?? errorTable[tag].then,
  exit: failureTable[tag].exit,
  ...tag === "ConfigError" && "problems" in error ? { details: { problems: error.problems } } : {}
})

const exitOfStatus = (status: number): ExitCodeName => {
  if (status === 401 || status === 403) return "denied"
  if (status === 404 || status === 410) return "notFound"
  if (status === 429 || status >= 502 || status === 507) return "unavailable"
  return status === 400 || status === 413 || status === 415 ? "usage" : "failed"
}

const nextOfStatus: Readonly<Record<number, string>> = {
  400: "Correct the call.",
  401: "Give a token that the server knows, with `--token` or the variable EFFECT_WAL_TOKEN.",
  403: "Use a token with the scope, and for this stream.",
  404: "See what there is with `effect-wal streams`.",
  413: "Send less in one call.",
  429: "Try again later.",
  502: "Try again later; something between here and the server has no answer from it.",
  503: "Try again later; `effect-wal status` says what the stream waits for.",
  504: "It may still be done: see `effect-wal status` before sending it again."
}

/** What a server answered instead of success, by the reason code in its body. */
export const failureOfAnswer = (
  { code, message, status }: { readonly status: number; readonly code: string; readonly message: string }
): Failure => {
  const tag = Object.keys(errorTable).filter(isWalErrorTag).find((each) => errorTable[each].code === code)
  return tag === undefined
    ? {
      code,
      message,
      next: nextOfStatus[status] ?? "Look into the log of the server.",
      exit: exitOfStatus(status)
    }
    : ofLog({ _tag: tag, message }, tag)
}

/** What is told about an error. */
export const describeFailure = (error: TaggedFailure): Failure => {
  if (error instanceof CommandFailed) return error
  if (error instanceof ObjectStoreError) return describeFailure(toStoreError(error))
  if (error instanceof RequestProblem) {
    return { code: error.code, message: error.message, next: "Correct the input.", exit: "usage" }
  }
  if (isNoLog(error)) return noLog(error)
  if (isWalErrorTag(error._tag)) return ofLog(error, error._tag)
  return {
    code: error._tag,
    message: error.message,
    next: "See `--help` of the command, and `--log-level debug` for more.",
    exit: "failed"
  }
}

const textOf = ({ message, next }: Failure): string => `effect-wal: ${message}\n  what to do: ${next}`

const jsonOf = ({ code, details, exit, message, next }: Failure): string =>
  JSON.stringify({
    error: { code, message, next, exit_code: exitCodes[exit].code, ...details === undefined ? {} : { details } }
  })

/** What is said about a failure: one JSON object, or lines for people. */
export const failureText = (failure: Failure, json: boolean): string => json ? jsonOf(failure) : textOf(failure)

/** Says on stderr what happened and what to do next, without ending anything. */
export const tellFailure = Effect.fnUntraced(function*(failure: Failure): Effect.fn.Return<void, never, JsonFlag> {
  yield* Console.error(failureText(failure, yield* Json))
})

/** Says what happened and what to do next, and ends with the code. What ends with a code already has said it. */
const reportFailure = (error: TaggedFailure | ExitCode): Effect.Effect<never, ExitCode, JsonFlag> => {
  if (error instanceof ExitCode) return Effect.fail(error)
  const failure = describeFailure(error)
  return Effect.andThen(tellFailure(failure), Effect.fail(new ExitCode({ code: exitCodes[failure.exit].code })))
}

/** The end of a command's handler: its errors are told, a defect too, and become exit codes. */
export const reportingFailures = <A, E extends TaggedFailure | ExitCode, R>(
  handler: Effect.Effect<A, E, R>
): Effect.Effect<A, ExitCode, R | JsonFlag> =>
  handler.pipe(
    Effect.tapDefect((defect) => Effect.logDebug("the cause of the defect", Cause.die(defect))),
    Effect.catchDefect((defect) =>
      Effect.fail(
        new CommandFailed({
          code: "internal_error",
          message: `a defect of the program: ${Predicate.isError(defect) ? defect.message : String(defect)}`,
          next: "Please report it; `--log-level debug` shows where it happened.",
          exit: "dead"
        })
      )
    ),
    Effect.catch(reportFailure)
  )
