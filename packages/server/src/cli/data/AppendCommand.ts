/** `effect-wal append`: lines of JSON, or whole files, into a stream. */
import { Console, Deferred, Duration, Effect, Option, Result, Stdio } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { AckLevel } from "../../api/Schemas.ts"
import { stopSignal } from "../../Signals.ts"
import { type ExitCode, exitWith, interruptedBy } from "../ExitCode.ts"
import { describeFailure, type Failure, type TaggedFailure, tellFailure, usageError } from "../Failure.ts"
import { type Column, fieldsView, print } from "../Output.ts"
import { progress } from "../Progress.ts"
import { type AppendInput, openInputs } from "./AppendInput.ts"
import { type AppendEnd, runAppend, type Tally, type Unsure } from "./AppendRun.ts"
import { onTarget } from "./DataHandler.ts"
import { conflictStep } from "./KeyConflict.ts"
import { tellClientError } from "./ServerTarget.ts"
import { Target } from "./Target.ts"
import { chooseStreamId, targetFlags, type TargetInput } from "./TargetFlags.ts"

/** A call: larger ones are quicker as long as they fit into what a server takes. */
const defaultLimits = { records: 10_000, bytes: 4_194_304 }

/** A call with a key is kept in one segment: this fits into one of the preset `balanced`. */
const keyedLimits = { records: 1_000, bytes: 524_288 }

/** How long a batch that is not full waits for more input. */
const linger = Duration.millis(200)

const takeOverFlag = Flag.Boolean("take-over").pipe(
  Flag.withDescription(
    "With --config: go on although the log may have a live writer, which is fenced then. A writer that crashed or was " +
      "stopped looks the same in the store"
  ),
  Flag.withoutNegation,
  Flag.withDefault(false)
)

/** The flag of every command that changes a log. */
export const changeFlags = { ...targetFlags, takeOver: takeOverFlag }

const flags = {
  ...changeFlags,
  files: Argument.String("file").pipe(
    Argument.withDescription("Files to append, in this order; - is stdin. Without one: stdin"),
    Argument.variadic()
  ),
  raw: Flag.Boolean("raw").pipe(
    Flag.withDescription("Each input is one record of any bytes"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  ack: Flag.Literals("ack", ["durable", "spooled", "accepted"]).pipe(
    Flag.withDescription("How far a batch must have come when it counts as done"),
    Flag.withDefault("durable")
  ),
  idempotencyKey: Flag.String("idempotency-key").pipe(
    Flag.withDescription(
      "Batches are named KEY-LINE by their first line, so that the same command again appends nothing twice, as long as " +
        "the log remembers (producers.max names for producers.ttl). One input only; a batch must fit into one segment"
    ),
    Flag.optional
  ),
  fromLine: Flag.Int("from-line").pipe(
    Flag.withDescription("Start at this line of the first input, to go on where an earlier call ended"),
    Flag.withDefault(1)
  ),
  batchRecords: Flag.Int("batch-records").pipe(Flag.withDescription("Most records of a batch"), Flag.optional),
  batchBytes: Flag.Int("batch-bytes").pipe(
    Flag.withDescription("Bytes at which a batch ends; a larger record goes alone"),
    Flag.optional
  )
}

interface AppendInputs extends TargetInput {
  readonly takeOver: boolean
  readonly files: ReadonlyArray<string>
  readonly raw: boolean
  readonly ack: AckLevel
  readonly idempotencyKey: Option.Option<string>
  readonly fromLine: number
  readonly batchRecords: Option.Option<number>
  readonly batchBytes: Option.Option<number>
}

const check = Effect.fnUntraced(function*(input: AppendInputs) {
  const { fromLine, idempotencyKey, raw } = input
  const key = Option.getOrUndefined(idempotencyKey)
  if (key !== undefined && !/^[ -~]{1,100}$/.test(key)) {
    return yield* usageError("--idempotency-key must be 1 to 100 printable ASCII characters", "Choose another one.")
  }
  if (key !== undefined && input.files.length > 1) {
    return yield* usageError(
      "--idempotency-key names the batches of one input",
      "Append file by file, each with a key."
    )
  }
  if (fromLine < 1 || raw && fromLine !== 1) {
    return yield* usageError("--from-line must be 1 or more, and has no meaning with --raw", "See --help.")
  }
  if (raw && (Option.isSome(input.batchRecords) || Option.isSome(input.batchBytes))) {
    return yield* usageError("--batch-records and --batch-bytes have no meaning with --raw", "Leave them out.")
  }
  const usual = key === undefined ? defaultLimits : keyedLimits
  const limits = {
    records: Option.getOrElse(input.batchRecords, () => usual.records),
    bytes: Option.getOrElse(input.batchBytes, () => usual.bytes)
  }
  if (limits.records < 1 || limits.bytes < 1) {
    return yield* usageError("--batch-records and --batch-bytes must be 1 or more", "See --help.")
  }
  return { key, limits }
})

/** What is printed at the end. */
interface Summary extends Tally {
  readonly stream: string
  readonly ack: AckLevel
}

const columns: ReadonlyArray<Column<Summary>> = [
  { name: "stream", kind: "text", value: (row) => row.stream },
  { name: "ack", kind: "text", value: (row) => row.ack },
  { name: "records", kind: "count", value: (row) => row.records },
  { name: "bytes", kind: "bytes", value: (row) => row.bytes },
  { name: "batches", kind: "count", value: (row) => row.batches },
  { name: "repeated", kind: "count", value: (row) => row.repeated },
  { name: "first_seq", kind: "id", value: (row) => row.first ?? null },
  { name: "last_seq", kind: "id", value: (row) => row.last ?? null },
  { name: "epoch", kind: "id", value: (row) => row.epoch ?? null },
  { name: "file", kind: "text", value: (row) => row.through?.file ?? null },
  { name: "line", kind: "id", value: (row) => row.through?.line ?? null }
]

const plural = (count: number): string => `${count} record${count === 1 ? "" : "s"}`

const reached = (count: number, ack: AckLevel): string => {
  const [now, then] = count === 1 ? ["is", "was"] : ["are", "were"]
  return ack === "accepted" ? `${then} accepted` : `${now} ${ack}`
}

/** How far it came, in one sentence. */
const howFar = ({ ack, first, last, records, through }: Summary): string =>
  records === 0 || through === undefined
    ? "no record of this call is known to be stored"
    : `${plural(records)} ${reached(records, ack)}, up to line ${through.line} of ` +
      `${through.file} (numbers ${first} to ${last})`

const unsureText = ({ file, fromLine, records, toLine }: Unsure): string =>
  `line ${fromLine} to ${toLine} of ${file} (${plural(records)}) may be stored or not`

/** What the call was, for what is said about its end. */
interface Call {
  readonly inputs: ReadonlyArray<AppendInput>
  readonly key: string | undefined
  readonly raw: boolean
}

/** The first line that is to be sent, and its file; with `--raw` each file is one record, and has no lines. */
const goOnAt = (summary: Summary, unsure: Unsure | undefined, { inputs, raw }: Call) => {
  const { records, through } = summary
  if (raw) return { file: inputs[records]?.name, line: 1 }
  return unsure === undefined
    ? { file: through?.file, line: through === undefined ? 1 : through.line + 1 }
    : { file: unsure.file, line: unsure.fromLine }
}

/** What to do so that everything is appended once. */
const nextStep = (summary: Summary, unsure: Unsure | undefined, call: Call): string => {
  const { inputs, key } = call
  const { file, line } = goOnAt(summary, unsure, call)
  const files = file === undefined || file === inputs[0]?.name ? "the same command" : `the files from ${file} on`
  const again = line === 1 ? `${files} again` : `${files} and --from-line ${line}`
  if (unsure === undefined) return `Go on with ${again}.`
  return key === undefined
    ? `Look with \`effect-wal cat --last ${unsure.records}\` whether they are there. Then go on behind them, or with ${again}; with ` +
      "--idempotency-key a repeat would append nothing twice."
    : `Go on with ${again} and the same key: what is there already is not appended twice.`
}

const failureOf = (
  end: Exclude<AppendEnd, { readonly _tag: "Done" }>,
  summary: Summary,
  call: Call
): Failure => {
  const told: Failure = end._tag === "Failed"
    ? describeFailure(tellClientError(end.error))
    : { code: "interrupted", message: "it was told to stop", next: "", exit: "interrupted" }
  const unsure = end.unsure
  const unsureSentence = unsure === undefined ? "" : `; ${unsureText(unsure)}`
  const { first, last, records, through } = summary
  return {
    code: told.code,
    message: `${told.message}\n  so far: ${howFar(summary)}${unsureSentence}`,
    next: conflictStep(end, call.raw) ??
      [told.next, nextStep(summary, unsure, call)].filter((part) => part !== "").join(" "),
    exit: told.exit,
    details: {
      ...typeof told.details === "object" && told.details !== null ? told.details : {},
      records,
      first_seq: first ?? null,
      last_seq: last ?? null,
      through: through ?? null,
      unsure: unsure === undefined
        ? null
        : { file: unsure.file, from_line: unsure.fromLine, to_line: unsure.toLine, records: unsure.records }
    }
  }
}

const totalOf = (inputs: ReadonlyArray<AppendInput>): number | undefined =>
  inputs.reduce<number | undefined>(
    (sum, { sizeBytes }) => sum === undefined || sizeBytes === undefined ? undefined : sum + sizeBytes,
    0
  )

/** A terminal that waits for input should say so. */
const tellTerminal = Effect.fnUntraced(function*(inputs: ReadonlyArray<AppendInput>) {
  const stdio = yield* Stdio.Stdio
  if (!inputs.some(({ name }) => name === "stdin") || !(yield* stdio.stdinIsTerminal)) return
  yield* Console.error("effect-wal: type one JSON value a line; Ctrl-D ends the input")
})

const stopped = Effect.gen(function*() {
  const asked = yield* Deferred.make<string>()
  yield* Effect.forkScoped(Effect.flatMap(stopSignal, (signal) => Deferred.succeed(asked, signal)), {
    startImmediately: true
  })
  return asked
})

/**
 * Why it ended is worth more than that closing did not work either; but records that were accepted only are lost by that,
 * and nobody has said so.
 */
const withClosing = (failure: Failure, closed: Result.Result<void, TaggedFailure>, ack: AckLevel): Failure =>
  Result.isSuccess(closed) || ack === "durable"
    ? failure
    : { ...failure, message: `${failure.message}\n  at the end: ${describeFailure(closed.failure).message}` }

const codeOf = (failure: Failure, signal: string | undefined): ExitCode =>
  failure.exit === "interrupted" && signal !== undefined ? interruptedBy(signal) : exitWith(failure.exit)

const append = (input: AppendInputs) =>
  onTarget(
    "changes",
    input,
    Effect.gen(function*() {
      const { key, limits } = yield* check(input)
      const target = yield* Target
      const stream = yield* chooseStreamId(input.stream)
      const inputs = yield* openInputs(input.files)
      const asked = yield* stopped
      const writer = yield* target.writer(stream, { command: "append", takeOver: input.takeOver, creates: true })
      yield* tellTerminal(inputs)
      const { end, tally } = yield* Effect.scoped(Effect.gen(function*() {
        const total = totalOf(inputs)
        const shown = yield* progress({ label: "appending", kind: "bytes", ...total === undefined ? {} : { total } })
        return yield* runAppend(writer, inputs, {
          ack: input.ack,
          raw: input.raw,
          key,
          limits,
          fromLine: input.fromLine,
          ...key === undefined ? { linger } : {},
          stop: Deferred.await(asked),
          progress: shown
        })
      }))
      const summary: Summary = { ...tally, stream, ack: input.ack }
      if (end._tag === "Done") {
        yield* writer.close
        return yield* print(fieldsView(columns, summary))
      }
      const failure = failureOf(end, summary, { inputs, key, raw: input.raw })
      yield* tellFailure(withClosing(failure, yield* Effect.result(writer.close), input.ack))
      return yield* codeOf(failure, (yield* Deferred.isDone(asked)) ? yield* Deferred.await(asked) : undefined)
    })
  )

/** The command. */
export const appendCommand = Command.make("append", flags, append).pipe(
  Command.withDescription(
    "Append lines of JSON, one record a line, their bytes kept as they are; or with --raw each input as one record. It goes " +
      "on until the input ends. Where it cannot, it says up to which line everything is stored, and sends nothing twice by " +
      "itself."
  ),
  Command.withShortDescription("Append records to a stream"),
  Command.withExamples([
    { command: "echo '{\"hello\":\"world\"}' | effect-wal append", description: "One record" },
    {
      command: "effect-wal append --stream orders --idempotency-key import-7 orders.ndjson",
      description: "A file; the same command again appends nothing twice"
    },
    { command: "effect-wal append --raw picture.png", description: "A file as one record" },
    {
      command: "effect-wal append --config wal.yaml --take-over backlog.ndjson",
      description: "Into the store itself, after its server was stopped"
    }
  ])
)
