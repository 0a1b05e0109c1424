/** How a call that breaks the rules of the command line is answered: what is wrong and where to look, on stderr. */
import { Console, Effect, type Layer } from "effect"
import { type CliError, CliOutput } from "effect/cli"
import { failureText } from "./Failure.ts"
import { plainText } from "./HumanText.ts"

const lines = (errors: ReadonlyArray<CliError.NonShowHelpErrors>): string =>
  errors.map(({ message }) => message.split("\n").map(plainText).join("\n")).join("\n")

/** `--json`, also as `--json=true`. A call that could not be parsed has no flags, only words. */
const jsonForm = /^--json(=(true|1|y|yes|on))?$/

/** Whether the words of a call ask for JSON. What stands behind `--` are no flags. */
const asksForJson = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return args.slice(0, end === -1 ? args.length : end).some((word) => jsonForm.test(word))
}

/**
 * Help that was asked for goes to stdout as ever. A call that is wrong is not answered with pages of help: stdout may be
 * another program's input. `args` are the words of the call.
 */
export const layer = (args: ReadonlyArray<string>): Layer.Layer<never> => {
  const json = asksForJson(args)
  return CliOutput.layerPresenter({
    present: (event) =>
      event._tag === "InvalidInvocation"
        ? Console.error(failureText({
          code: "usage",
          message: lines(event.errors),
          next: `see \`${event.commandPath.join(" ")} --help\``,
          exit: "usage"
        }, json))
        : Effect.suspend(() => CliOutput.defaultPresenter.present(event))
  })
}
