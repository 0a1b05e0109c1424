/** `effect-wal config`: what a configuration comes to and what is wrong with it, without starting anything. */
import { Console, Effect, type Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { type ConfigEntry, printConfig } from "../config/ConfigPrint.ts"
import { loadConfig, type ServerConfig } from "../config/ServerConfig.ts"
import { configFlag, loadNamedConfig, loadOptions } from "./ConfigFlag.ts"
import { configSchema } from "./ConfigSchema.ts"
import { exitWith } from "./ExitCode.ts"
import { runHandler } from "./Handler.ts"
import { Json, print, valueView } from "./Output.ts"

interface ConfigInput {
  readonly config: Option.Option<string>
}

/** `1000 ms` and `1048576 bytes` as numbers, text without its quotes; the unit is said beside it. */
const rawEntry = ({ origin, path, value }: ConfigEntry) => {
  const quantity = /^(-?[\d.]+|Infinity) (ms|bytes)$/.exec(value)
  if (quantity !== null) return { path, value: Number(quantity[1]), unit: quantity[2], origin }
  return { path, value: Result.getOrElse(Result.try((): unknown => JSON.parse(value)), () => value), origin }
}

const printEntries = Effect.fnUntraced(function*({ config }: ConfigInput) {
  const { entries, notices } = yield* loadNamedConfig(config)
  yield* print({
    text: () => printConfig({ entries, notices }).trimEnd(),
    json: [...entries.map(rawEntry), ...notices.map((notice) => ({ notice }))]
  })
}, runHandler)

const goodText = ({ notices, source, streams }: ServerConfig): string =>
  [
    ...notices.map((notice) => `notice: ${notice}`),
    `${source}: ok, ${streams.length} ${streams.length === 1 ? "stream" : "streams"}: ${
      streams.map(({ id }) => id).join(", ")
    }`
  ].join("\n")

const check = Effect.fnUntraced(
  function*({ config, insecure }: ConfigInput & { readonly insecure: boolean }) {
    const loaded = yield* Effect.result(loadConfig({ ...loadOptions(config), insecure }))
    if (Result.isSuccess(loaded)) {
      const { notices, source, streams } = loaded.success
      const value = { ok: true, source, streams: streams.map(({ id }) => id), notices }
      return yield* print(valueView(value, goodText(loaded.success)))
    }
    if (!(yield* Json)) return yield* loaded.failure
    // What is wrong is what was asked for, so it is a result and not a failure.
    const { problems, source } = loaded.failure
    yield* Console.log(JSON.stringify({ ok: false, source, problems }))
    return yield* exitWith("usage")
  },
  runHandler
)

const printSchema = Effect.fnUntraced(function*() {
  const schema = configSchema()
  yield* print(valueView(schema, JSON.stringify(schema, undefined, 2)))
}, runHandler)

const printCommand = Command.make("print", { config: configFlag }, printEntries).pipe(
  Command.withDescription("Show every value that is in force and where it comes from; secrets are left out"),
  Command.withExamples([
    { command: "effect-wal config print --config wal.yaml", description: "One value a line, with its origin" }
  ])
)

const checkCommand = Command.make("check", {
  config: configFlag,
  insecure: Flag.Boolean("insecure").pipe(
    Flag.withDescription("As `serve --insecure`: allow an address that others can reach without tokens"),
    Flag.withDefault(false)
  )
}, check).pipe(
  Command.withDescription(
    "Check the configuration as `serve` does, and name everything that is wrong at once, each with file, line, place and " +
      "rule. No request is made. Ends with 2 where something is wrong."
  ),
  Command.withShortDescription("Name everything that is wrong with the configuration"),
  Command.withExamples([
    {
      command: "effect-wal config check --config wal.yaml",
      description: "In a hook before a commit, or before a roll-out"
    },
    { command: "effect-wal config check --config wal.yaml --json", description: "The problems as one JSON object" }
  ])
)

const schemaCommand = Command.make("schema", {}, printSchema).pipe(
  Command.withDescription(
    "Print the JSON Schema of the configuration file, for editors that complete and check while you type. With the YAML " +
      "language server, the first line of the file names it: # yaml-language-server: $schema=wal.schema.json"
  ),
  Command.withShortDescription("Print the JSON Schema of the file, for editors"),
  Command.withExamples([
    { command: "effect-wal config schema > wal.schema.json", description: "Keep it beside the configuration" }
  ])
)

/** The command and its subcommands. */
export const configCommand = Command.make("config").pipe(
  Command.withDescription("Look at the configuration"),
  Command.withSubcommands([checkCommand, printCommand, schemaCommand])
)
