/** `effect-wal streams` and `effect-wal status`: what there is, and how it is doing. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { type ExitCodeName, exitWith } from "../ExitCode.ts"
import { describeFailure } from "../Failure.ts"
import { onTarget } from "./DataHandler.ts"
import { printReports, printStreams } from "./ReportViews.ts"
import { tellClientError } from "./ServerTarget.ts"
import { type StreamReport, Target } from "./Target.ts"
import { targetFlags, type TargetInput } from "./TargetFlags.ts"

const reportOf = Effect.fnUntraced(function*(id: string) {
  const target = yield* Target
  return yield* Effect.scoped(Effect.flatMap(target.reader(id), (reader) => reader.report))
})

/** What is known of a stream, and how the command ends because of it. */
interface Look {
  readonly report: StreamReport
  readonly exit?: ExitCodeName
}

/** One stream that cannot be looked at must not hide the others. One that has no log yet is no failure. */
const lookAt = (id: string): Effect.Effect<Look, never, Target> =>
  Effect.catch(Effect.map(reportOf(id), (report): Look => ({ report })), (error) => {
    const { code, exit, message } = describeFailure(tellClientError(error))
    return Effect.succeed<Look>(
      code === "log_not_found"
        ? { report: { id, state: "absent", error: { code, message } } }
        : { report: { id, state: "refused", error: { code, message } }, exit }
    )
  })

/** Streams that are looked at side by side. */
const concurrency = 8

/** Prints all streams; then it ends as the first one that could not be looked at. */
const showAll = Effect.fnUntraced(function*(show: typeof printReports) {
  const target = yield* Target
  const looks = yield* Effect.forEach(yield* target.streamIds, lookAt, { concurrency })
  yield* show(looks.map(({ report }) => report))
  const exit = looks.find((look) => look.exit !== undefined)?.exit
  if (exit !== undefined) return yield* exitWith(exit)
})

const streams = (input: TargetInput) => onTarget("reads", input, showAll(printStreams))

const status = (input: TargetInput) =>
  onTarget(
    "reads",
    input,
    Option.isSome(input.stream)
      ? Effect.flatMap(reportOf(input.stream.value), (report) => printReports([report]))
      : showAll(printReports)
  )

const { stream: _, ...streamsFlags } = targetFlags

/** The command. */
export const streamsCommand = Command.make(
  "streams",
  streamsFlags,
  (input) => streams({ ...input, stream: Option.none() })
).pipe(
  Command.withDescription(
    "List the streams, with how far each is durable and how far its readers are. One that cannot be looked at does not hide " +
      "the others: the exit code is that of its error."
  ),
  Command.withShortDescription("List the streams"),
  Command.withExamples([
    { command: "effect-wal streams", description: "Those of the server on this machine" },
    { command: "effect-wal streams --config wal.yaml", description: "Those of a configuration, from their stores" },
    { command: "effect-wal streams --url https://wal.example.org --json", description: "For a program" }
  ])
)

/** The command. */
export const statusCommand = Command.make("status", targetFlags, status).pipe(
  Command.withDescription(
    "Show where a stream stands: what is durable, what a crash now would lose, cursors and their lag. From a store it shows " +
      "what is stored; only a server knows what waits in memory. The exit code is that of the first stream that could not " +
      "be looked at."
  ),
  Command.withShortDescription("Show where streams stand"),
  Command.withExamples([
    { command: "effect-wal status", description: "All streams of the server on this machine" },
    { command: "effect-wal status --stream orders --json", description: "One stream, for a program" },
    { command: "effect-wal status --config wal.yaml", description: "From the store, which is not changed" }
  ])
)
