/** `effect-wal streams` and `effect-wal status`: what there is, and how it is doing. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { describeFailure, type TaggedFailure } from "../Failure.ts"
import { onTarget } from "./DataHandler.ts"
import { printReports, printStreams } from "./ReportViews.ts"
import { tellClientError } from "./ServerTarget.ts"
import { type StreamReport, Target } from "./Target.ts"
import { targetFlags, type TargetInput } from "./TargetFlags.ts"

const reportOf = Effect.fnUntraced(function*(id: string) {
  const target = yield* Target
  return yield* Effect.scoped(Effect.flatMap(target.reader(id), (reader) => reader.report))
})

/** One stream that cannot be looked at must not hide the others. */
const reportOrError = (id: string) =>
  Effect.catch(reportOf(id), (error: TaggedFailure) => {
    const { code, message } = describeFailure(tellClientError(error))
    const state = code === "log_not_found" ? "absent" as const : "refused" as const
    return Effect.succeed<StreamReport>({ id, state, error: { code, message } })
  })

/** Streams that are looked at side by side. */
const concurrency = 8

const allReports = Effect.gen(function*() {
  const target = yield* Target
  return yield* Effect.forEach(yield* target.streamIds, reportOrError, { concurrency })
})

const streams = (input: TargetInput) => onTarget("reads", input, Effect.flatMap(allReports, printStreams))

const status = (input: TargetInput) =>
  onTarget(
    "reads",
    input,
    Option.isSome(input.stream)
      ? Effect.flatMap(reportOf(input.stream.value), (report) => printReports([report]))
      : Effect.flatMap(allReports, printReports)
  )

const { stream: _, ...streamsFlags } = targetFlags

/** The command. */
export const streamsCommand = Command.make(
  "streams",
  streamsFlags,
  (input) => streams({ ...input, stream: Option.none() })
).pipe(
  Command.withDescription("List the streams, with how far each is durable and how far its readers are"),
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
      "what is stored; only a server knows what waits in memory."
  ),
  Command.withShortDescription("Show where streams stand"),
  Command.withExamples([
    { command: "effect-wal status", description: "All streams of the server on this machine" },
    { command: "effect-wal status --stream orders --json", description: "One stream, for a program" },
    { command: "effect-wal status --config wal.yaml", description: "From the store, which is not changed" }
  ])
)
