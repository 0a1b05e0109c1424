/** The `effect-wal` command. Without a subcommand it serves. */
import { NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { version } from "../Version.ts"
import { configCommand } from "./ConfigCommand.ts"
import { serve, serveCommand, serveFlags } from "./ServeCommand.ts"

/** The whole command line. */
export const program = Command.make("effect-wal", serveFlags, serve).pipe(
  Command.withDescription("A write-ahead log on object storage"),
  Command.withSubcommands([serveCommand, configCommand]),
  Command.run({ version }),
  Effect.provide(NodeServices.layer)
)
