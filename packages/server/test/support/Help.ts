/** The help of the command `effect-wal`, as it prints it, without a process of its own. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit } from "effect"
import { Command } from "effect/cli"
import { root } from "../../src/cli/Root.ts"

/** What `effect-wal … --help` prints; `undefined` where there is no such subcommand. */
export const helpOf = Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
  const lines: Array<string> = []
  const collect = (...args: ReadonlyArray<unknown>) => {
    lines.push(args.join(" "))
  }
  const quiet: Console.Console = Object.assign(Object.create(globalThis.console), { log: collect, error: collect })
  const exit = yield* Command.runWith(root, { version: "0" })([...words, "--help"]).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provideService(Console.Console, quiet),
    Effect.exit
  )
  const failed = Exit.isFailure(exit) && !Cause.pretty(exit.cause).includes("ShowHelp")
  const text = lines.join("\n")
  // Words that are no subcommand are taken for arguments: then it is the help of another command.
  return !failed && new RegExp(`^ *${["effect-wal", ...words].join(" ")}(?! [a-z])`, "m").test(text) ? text : undefined
})
