/** `effect-wal cursor`, `flush` and `trim`: what an operator changes in a stream. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { usageError } from "../Failure.ts"
import type { TaggedFailure } from "../Failure.ts"
import { type Column, fieldsView, print, rowsView, valueView } from "../Output.ts"
import { changeFlags } from "./AppendCommand.ts"
import { onTarget } from "./DataHandler.ts"
import { cursorColumns, cursorsOf } from "./ReportViews.ts"
import { cursorNotFound } from "./StoreRead.ts"
import { type StreamWriter, Target } from "./Target.ts"
import { chooseStreamId, targetFlags, type TargetInput } from "./TargetFlags.ts"

interface ChangeInput extends TargetInput {
  readonly takeOver: boolean
}

/** Opens the stream, does it, and gives the stream back. */
const changing = Effect.fnUntraced(function*<A>(
  input: ChangeInput,
  command: string,
  change: (writer: StreamWriter) => Effect.Effect<A, TaggedFailure>
) {
  const target = yield* Target
  const stream = yield* chooseStreamId(input.stream)
  const writer = yield* target.writer(stream, { command, takeOver: input.takeOver, creates: false })
  const value = yield* change(writer)
  yield* writer.close
  return { stream, value }
})

const reportOf = Effect.fnUntraced(function*(input: TargetInput) {
  const target = yield* Target
  const reader = yield* target.reader(yield* chooseStreamId(input.stream))
  return yield* reader.report
})

const name = Argument.String("name").pipe(Argument.withDescription("Name of the cursor"))
const seq = Argument.Int("seq").pipe(Argument.withDescription("A sequence number"))

const cursorGet = (input: TargetInput & { readonly name: string }) =>
  onTarget(
    "reads",
    input,
    Effect.gen(function*() {
      const found = cursorsOf(yield* reportOf(input)).find((cursor) => cursor.name === input.name)
      if (found === undefined) return yield* cursorNotFound(input.name)
      yield* print(fieldsView(cursorColumns, found))
    })
  )

const cursorList = (input: TargetInput) =>
  onTarget(
    "reads",
    input,
    Effect.flatMap(reportOf(input), (report) => print(rowsView(cursorColumns, cursorsOf(report), "no cursors")))
  )

const cursorSet = (input: ChangeInput & { readonly name: string; readonly seq: number }) =>
  onTarget(
    "changes",
    input,
    Effect.gen(function*() {
      if (input.seq < 0) return yield* usageError("seq must be 0 or more", "See --help.")
      const { value } = yield* changing(input, "cursor set", (writer) => writer.commit(input.name, input.seq))
      yield* print(fieldsView(cursorColumns, value))
    })
  )

const cursorRemove = (input: ChangeInput & { readonly name: string }) =>
  onTarget(
    "changes",
    input,
    Effect.gen(function*() {
      const { stream } = yield* changing(input, "cursor remove", (writer) => writer.removeCursor(input.name))
      yield* print(valueView({ stream, removed: input.name }, `cursor ${input.name} is removed`))
    })
  )

/** One number of a stream. */
interface Mark {
  readonly stream: string
  readonly value: number
}

const markColumns = (markName: string): ReadonlyArray<Column<Mark>> => [
  { name: "stream", kind: "text", value: (row) => row.stream },
  { name: markName, kind: "id", value: (row) => row.value }
]

const flush = (input: ChangeInput) =>
  onTarget(
    "changes",
    input,
    Effect.flatMap(
      changing(input, "flush", (writer) => writer.flush),
      (mark) => print(fieldsView(markColumns("durable"), mark))
    )
  )

const trim = (input: ChangeInput & { readonly seq: number }) =>
  onTarget(
    "changes",
    input,
    Effect.gen(function*() {
      if (input.seq < 0) return yield* usageError("seq must be 0 or more", "See --help.")
      const mark = yield* changing(input, "trim", (writer) => writer.trim(input.seq))
      yield* print(fieldsView(markColumns("trimmed_to"), mark))
    })
  )

const cursorCommands = [
  Command.make("get", { ...targetFlags, name }, cursorGet).pipe(
    Command.withDescription("Show where a cursor stands"),
    Command.withExamples([{
      command: "effect-wal cursor get default",
      description: "The cursor of the stream's own reader"
    }])
  ),
  Command.make("set", { ...changeFlags, name, seq }, cursorSet).pipe(
    Command.withDescription(
      "Say that everything up to a record is done. Creates the cursor where it is missing; a lower number than before " +
        "changes nothing."
    ),
    Command.withShortDescription("Move a cursor forward, or create it"),
    Command.withExamples([{
      command: "effect-wal cursor set billing 1200",
      description: "1200 and all before it are done"
    }])
  ),
  Command.make("list", targetFlags, cursorList).pipe(
    Command.withDescription("List the cursors of a stream"),
    Command.withExamples([{ command: "effect-wal cursor list --stream orders", description: "With their lag" }])
  ),
  Command.make("remove", { ...changeFlags, name }, cursorRemove).pipe(
    Command.withDescription("Forget a cursor: it holds back deletion no more. The cursor default stays."),
    Command.withShortDescription("Forget a cursor"),
    Command.withExamples([{
      command: "effect-wal cursor remove billing",
      description: "Nobody reads with it any more"
    }])
  )
] as const

/** The command. */
export const cursorCommand = Command.make("cursor").pipe(
  Command.withDescription("Look at the cursors of a stream, or change them"),
  Command.withSubcommands(cursorCommands)
)

/** The command. */
export const flushCommand = Command.make("flush", changeFlags, flush).pipe(
  Command.withDescription(
    "Make durable what the server has accepted, now. With --config: open the log, which sends what a spool holds and takes in " +
      "what a crashed writer has stored, and close it again."
  ),
  Command.withShortDescription("Make durable what was accepted"),
  Command.withExamples([{
    command: "effect-wal flush --stream orders",
    description: "Prints up to where it is durable"
  }])
)

/** The command. */
export const trimCommand = Command.make("trim", { ...changeFlags, seq }, trim).pipe(
  Command.withDescription(
    "Delete whole segments up to a record, as far as every cursor has passed it; the rest goes once they do. What is deleted " +
      "does not come back."
  ),
  Command.withShortDescription("Delete old records"),
  Command.withExamples([{ command: "effect-wal trim 100000 --stream orders", description: "Prints how far it came" }])
)
