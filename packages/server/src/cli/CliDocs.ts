/** `docs/cli.md`, written from the help of every command and from the table of exit codes. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { CliOutput, Command, type HelpDoc } from "effect/cli"
import { version } from "../Version.ts"
import { exitCodes } from "./ExitCode.ts"
import { formatter } from "./Help.ts"
import { root } from "./Root.ts"

const introduction =
  `<!-- Written by scripts/write-cli-docs.ts from the commands; a test fails when it is edited by hand. -->

# Command line

From a checkout: \`pnpm effect-wal COMMAND\`, after \`pnpm install\`. Every command has \`--help\`. Results go to stdout;
errors, warnings and progress go to stderr. An error says what happened and what to do next.

- **\`--json\`** is a flag of every command. It prints one JSON value a line: an object for one thing, one object for each
  row of a table. Sizes are bytes, durations milliseconds, times epoch milliseconds. An error is one JSON object on stderr:
  \`{"error":{"code","message","next","exit_code"}}\`; codes are those of [errors.md](errors.md) where it has one. Progress
  is silent.
- **Progress** of long work is a bar with rate and time left where stderr is a terminal, a line now and then elsewhere.
- **\`EFFECT_WAL_CONFIG\`** names the configuration where \`--config\` does not ([configuration.md](configuration.md)).
  \`EFFECT_WAL_URL\` and \`EFFECT_WAL_TOKEN\` name a server and its token for the commands that work on one.
- **Completions**: \`effect-wal --completions bash\` prints a script, as do \`zsh\`, \`fish\` and \`powershell\`. For bash:
  \`source <(effect-wal --completions bash)\`.
- **Logs** of every command but \`serve\` go to stderr, from warnings on; \`--log-level info\` shows more.

## Exit codes

Codes never change.

| code | when |
| --- | --- |
${Object.values(exitCodes).map(({ code, when }) => `| ${code} | ${when} |`).join("\n")}

A call that breaks the rules of the command line, such as an unknown flag, ends with ${exitCodes.usage.code}.`

const plain = formatter({ colors: false, globalFlags: "none" })

/** The help of a command, as it is asked for. */
const helpOf = Effect.fnUntraced(function*(path: ReadonlyArray<string>) {
  let found: HelpDoc.HelpDoc | undefined
  const presenter = CliOutput.layerPresenter({
    present: (event) =>
      Effect.sync(() => {
        if (event._tag === "Help") found = event.helpDoc
      })
  })
  yield* Command.runWith(root, { version })([...path, "--help"]).pipe(Effect.provide(presenter), Effect.orDie)
  return found === undefined ? yield* Effect.die(new Error(`no help for ${path.join(" ")}`)) : found
})

/** The help of a command and of all below it, with their paths. */
const helpTree = (path: ReadonlyArray<string>): Effect.Effect<
  ReadonlyArray<readonly [path: ReadonlyArray<string>, help: HelpDoc.HelpDoc]>,
  never,
  Command.Environment
> =>
  Effect.gen(function*() {
    const help = yield* helpOf(path)
    const names = (help.subcommands ?? []).flatMap(({ commands }) => commands.map(({ name }) => name))
    const below = yield* Effect.forEach(names, (name) => helpTree([...path, name]))
    return [[path, help] as const, ...below.flat()]
  })

const section = (path: ReadonlyArray<string>, help: HelpDoc.HelpDoc): string =>
  `${"#".repeat(Math.min(path.length, 2) + 1)} \`${["effect-wal", ...path].join(" ")}\`

\`\`\`text
${plain.formatHelpDoc(help).trimEnd()}
\`\`\``

/** Every command: its path below `effect-wal`, and its help. */
export const allCommands = helpTree([]).pipe(Effect.provide(NodeServices.layer))

/** The flags that every command has. */
const globalFlags = (help: HelpDoc.HelpDoc): string =>
  formatter({ colors: false }).formatHelpDoc({
    description: "",
    usage: "effect-wal [command] [flags]",
    flags: [],
    annotations: help.annotations,
    ...help.globalFlags === undefined ? {} : { globalFlags: help.globalFlags }
  }).trim()

/** The whole page. */
export const renderCliDocs = Effect.gen(function*() {
  const commands = yield* allCommands
  const [first, ...rest] = commands
  if (first === undefined) return yield* Effect.die(new Error("there are no commands"))
  const [, whole] = first
  return `${
    [
      introduction,
      `## Flags of every command\n\n\`\`\`text\n${globalFlags(whole)}\n\`\`\``,
      `## \`effect-wal\`\n\n\`\`\`text\n${plain.formatHelpDoc(whole).trimEnd()}\n\`\`\``,
      ...rest.map(([path, help]) => section(path, help))
    ].join("\n\n")
  }\n`
})
