/** How a call that breaks the rules of the command line is answered: what is wrong and where to look, on stderr. */
import { Console, Effect, type Layer } from "effect"
import { type CliError, CliOutput } from "effect/cli"
import { plainText } from "./HumanText.ts"

const lines = (errors: ReadonlyArray<CliError.NonShowHelpErrors>): string =>
  errors.map(({ message }) => message.split("\n").map(plainText).join("\n")).join("\n")

/**
 * Help that was asked for goes to stdout as ever. A call that is wrong is not answered with pages of help: stdout may be
 * another program's input.
 */
export const layer: Layer.Layer<never> = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
        `effect-wal: ${lines(event.errors)}\n  what to do: see \`${event.commandPath.join(" ")} --help\``
      )
      : Effect.suspend(() => CliOutput.defaultPresenter.present(event))
})
