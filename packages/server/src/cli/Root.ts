/** The `effect-wal` command. Without a subcommand it serves. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { CliError, Command } from "effect/cli"
import { version } from "../Version.ts"
import { benchCommand } from "./BenchCommand.ts"
import { configCommand } from "./ConfigCommand.ts"
import { costCommand } from "./CostCommand.ts"
import { dataCommands } from "./data/DataCommands.ts"
import { doctorCommand } from "./DoctorCommand.ts"
import { exitWith } from "./ExitCode.ts"
import * as Help from "./Help.ts"
import { lossWindowCommand } from "./LossWindowCommand.ts"
import { Json } from "./Output.ts"
import { serve, serveCommand, serveExamples, serveFlags } from "./ServeCommand.ts"
import * as Usage from "./Usage.ts"

/** The whole tree of commands. */
export const root = Command.make("effect-wal", serveFlags, serve).pipe(
  Command.withDescription("A write-ahead log on object storage. Without a command it serves."),
  Command.withExamples(serveExamples),
  Command.withSubcommands([
    serveCommand,
    configCommand,
    ...dataCommands,
    costCommand,
    lossWindowCommand,
    benchCommand,
    doctorCommand
  ]),
  Command.withGlobalFlags([Json])
)

/** What is wrong with a call was said; its end is an exit code of `ExitCode.ts`. */
const ending = <A, E, R>(run: Effect.Effect<A, E | CliError.CliError, R>, args: ReadonlyArray<string>) =>
  run.pipe(
    Effect.catchIf(
      CliError.isCliError,
      (error) => error._tag === "ShowHelp" && error.errors.length === 0 ? Effect.void : Effect.fail(exitWith("usage"))
    ),
    Effect.provide(Layer.mergeAll(NodeServices.layer, Usage.layer(args), Help.layer))
  )

/** The command line with these arguments. */
export const runWith = (args: ReadonlyArray<string>) => ending(Command.runWith(root, { version })(args), args)

/** The command line with the arguments of the process. */
export const program = Effect.suspend(() => runWith(process.argv.slice(2)))
