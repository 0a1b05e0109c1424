/** `effect-wal config print`: what a configuration comes to, without starting anything. */
import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { printConfig } from "../config/ConfigPrint.ts"
import { loadConfig } from "../config/ServerConfig.ts"
import { configFlag } from "./ConfigFlag.ts"
import { reportConfigError } from "./ExitCode.ts"

const print = Effect.fnUntraced(
  function*({ config }: { readonly config: Option.Option<string> }) {
    const path = Option.getOrUndefined(config)
    // Whether a server may be reached without tokens is decided where one is started.
    const loaded = yield* loadConfig({ env: process.env, insecure: true, ...path === undefined ? {} : { path } })
    yield* Console.log(printConfig(loaded).trimEnd())
  },
  Effect.catchTag("ConfigError", reportConfigError)
)

const printCommand = Command.make("print", { config: configFlag }, print).pipe(
  Command.withDescription("Show every value that is in force and where it comes from; secrets are left out")
)

/** The command and its subcommand. */
export const configCommand = Command.make("config").pipe(
  Command.withDescription("Look at the configuration"),
  Command.withSubcommands([printCommand])
)
