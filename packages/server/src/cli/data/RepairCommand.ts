/** `effect-wal repair`: shows what would mend a stored log, and does it once the operator says that no writer runs. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import {
  apply,
  describePlan,
  plan as planRepair,
  type RepairAction,
  type RepairDecisions,
  type RepairPlan,
  type RepairStale,
  type RepairUndecided
} from "@effect-wal/core/WalRepair"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { StreamConfig } from "../../config/ServerConfig.ts"
import { CommandFailed, usageError } from "../Failure.ts"
import { Json, print, valueView } from "../Output.ts"
import { onStore } from "./DataHandler.ts"
import { openForReading, openForRepair } from "./StoreAccess.ts"
import { chosenConfig } from "./StoreStream.ts"
import { lookOptionsOf } from "./StoreTarget.ts"
import { storeFlags, type StoreInput } from "./TargetFlags.ts"

const flags = {
  ...storeFlags,
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDescription("Show the plan and write nothing"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  noWriterRuns: Flag.Boolean("no-writer-runs").pipe(
    Flag.withDescription(
      "Your word that no writer has the log open, here or elsewhere, and that none is started meanwhile"
    ),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  missing: Flag.Literals("missing", ["lost", "trimmed"]).pipe(
    Flag.withDescription("Where a plan asks: whether slots that are not there were lost, or deleted by retention"),
    Flag.optional
  ),
  logId: Flag.String("log-id").pipe(
    Flag.withDescription("Where a plan asks: the id of the log whose objects count"),
    Flag.optional
  ),
  lastSeq: Flag.Int("last-seq").pipe(
    Flag.withDescription("Where a plan asks: the number of the last record that anybody has seen"),
    Flag.optional
  )
}

interface RepairInput extends StoreInput {
  readonly dryRun: boolean
  readonly noWriterRuns: boolean
  readonly missing: Option.Option<"lost" | "trimmed">
  readonly logId: Option.Option<string>
  readonly lastSeq: Option.Option<number>
}

const decisionsOf = ({ lastSeq, logId, missing }: RepairInput): RepairDecisions => ({
  ...Option.isNone(missing) ? {} : { missing: missing.value },
  ...Option.isNone(logId) ? {} : { logId: logId.value },
  ...Option.isNone(lastSeq) ? {} : { lastSeq: lastSeq.value }
})

const flagNames: Readonly<Record<string, string>> = { missing: "--missing", logId: "--log-id", lastSeq: "--last-seq" }

const undecided = ({ choices, question }: RepairUndecided): CommandFailed => {
  const answers = choices.map(({ means, option, value }) =>
    `${flagNames[option] ?? option} ${value === "" ? "N" : value} (${means})`
  )
  return new CommandFailed({
    code: "repair_undecided",
    message: `${question} Nothing was written`,
    next: answers.length === 0
      ? "Put objects or the manifest back from a copy."
      : `Decide, and plan again with ${answers.join("; or ")}.`,
    exit: "failed",
    details: { question, choices }
  })
}

const stale = (error: RepairStale): CommandFailed =>
  new CommandFailed({
    code: "repair_stale",
    message: error.message,
    next: "Make sure that nothing writes to the log, then run the command again.",
    exit: "refused"
  })

const actionJson = (action: RepairAction) => {
  const { _tag: kind, why } = action
  switch (action._tag) {
    case "Copy":
      return { kind, from: action.from, to: action.to, why }
    default:
      return { kind, key: action.key, why }
  }
}

const planJson = ({ actions, damaged, findings, id, kept, logId, notes, prefix }: RepairPlan) => ({
  plan: { id, prefix, log_id: logId, findings, damaged, kept, notes, actions: actions.map(actionJson) }
})

const planFor = (stream: StreamConfig, input: RepairInput) =>
  planRepair({ ...lookOptionsOf(stream.options), decisions: decisionsOf(input) }).pipe(
    Effect.catchTag("RepairUndecided", (error) => Effect.fail(undecided(error)))
  )

const showPlan = (stream: StreamConfig, planned: RepairPlan) =>
  print(valueView(planJson(planned), [`stream ${stream.id}`, ...describePlan(planned)].join("\n")))

const withoutWord = new CommandFailed({
  code: "word_needed",
  message: "nothing was written: a repair needs your word that no writer runs",
  next: "Stop every writer of the log, here and elsewhere, and keep it stopped; then add `--no-writer-runs`.",
  exit: "usage"
})

const applyTo = Effect.fnUntraced(function*(stream: StreamConfig, planned: RepairPlan) {
  const done = yield* apply(planned, { ...lookOptionsOf(stream.options), noWriterRuns: true }).pipe(
    Effect.catchTag("RepairStale", (error) => Effect.fail(stale(error)))
  )
  yield* print(
    valueView(
      { repaired: { id: planned.id, written: done.written } },
      `done: ${done.written} objects were written; copies of what was replaced are below ${planned.prefix}repair/${planned.id}/`
    )
  )
})

const repairStream = Effect.fnUntraced(function*(input: RepairInput) {
  const { dryRun, noWriterRuns } = input
  if (dryRun && noWriterRuns) {
    return yield* usageError("--dry-run and --no-writer-runs: one looks, the other writes", "Give one of them.")
  }
  const stream = yield* chosenConfig(input)
  const store = yield* noWriterRuns ? openForRepair(stream) : openForReading(stream)
  yield* Effect.gen(function*() {
    if (!(yield* Json)) yield* Console.error(`effect-wal: reading the whole log of stream ${stream.id}`)
    const planned = yield* planFor(stream, input)
    yield* showPlan(stream, planned)
    if (planned.actions.length === 0 || dryRun) return
    if (!noWriterRuns) return yield* withoutWord
    yield* applyTo(stream, planned)
  }).pipe(Effect.provideService(ObjectStore, store))
})

const repair = (input: RepairInput) => onStore(input.dryRun ? "reads" : "changes", input, repairStream(input))

/** The command. */
export const repairCommand = Command.make("repair", flags, repair).pipe(
  Command.withDescription(
    "Mend a stored log: make a lost manifest anew from the objects, record damage so that the log opens and appends go on. " +
      "Works on stores only. The plan is shown first; it is done with --no-writer-runs. Nothing is deleted, and what is " +
      "replaced is kept as a copy."
  ),
  Command.withShortDescription("Mend a stored log"),
  Command.withExamples([
    {
      command: "effect-wal repair --config wal.yaml --stream orders --dry-run",
      description: "What is wrong, what would be done"
    },
    {
      command: "effect-wal repair --config wal.yaml --stream orders --no-writer-runs",
      description: "The same, and do it; all writers are stopped"
    }
  ])
)
