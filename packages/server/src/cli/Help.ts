/** How help is laid out: as `effect/cli` does, with long descriptions in lines that a terminal holds. */
import { CliOutput, type HelpDoc } from "effect/cli"

/** Cells of a line, without its indent. */
const lineCells = 96

/** The text in lines of whole words. */
export const wrapText = (text: string, cells: number): ReadonlyArray<string> =>
  text.split(" ").reduce<ReadonlyArray<string>>((lines, word) => {
    const last = lines.at(-1)
    return last === undefined || last.length + 1 + word.length > cells
      ? [...lines, word]
      : [...lines.slice(0, -1), `${last} ${word}`]
  }, [])

const wrapped = (doc: HelpDoc.HelpDoc): HelpDoc.HelpDoc => ({
  ...doc,
  description: wrapText(doc.description, lineCells).join("\n  ")
})

/** The formatter of a terminal, or without colours. */
export const formatter = (options?: Parameters<typeof CliOutput.defaultFormatter>[0]): CliOutput.Formatter => {
  const plain = CliOutput.defaultFormatter(options)
  return { ...plain, formatHelpDoc: (doc) => plain.formatHelpDoc(wrapped(doc)) }
}

/** Help of every command. */
export const layer = CliOutput.layer(formatter())
