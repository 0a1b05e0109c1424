/** The commands of a `sh` block, one after the other, as a reader would type them. */
import type { Block } from "./Markdown.ts"

/** One command; it can have several lines. */
export interface Command {
  readonly page: string
  /** Of its first line, from 1. */
  readonly line: number
  readonly text: string
}

/** Whether a line wants more behind it. */
const goesOn = (line: string): boolean => /(\\|\||&&|\|\|)$/.test(line.trimEnd())

/** Splits a block into commands; comments and empty lines fall away. */
export const commandsOf = (block: Block): ReadonlyArray<Command> => {
  const commands: Array<Command> = []
  let lines: Array<string> = []
  let heredoc: string | undefined
  for (const [index, line] of block.text.split("\n").entries()) {
    if (lines.length === 0 && (line.trim() === "" || line.trimStart().startsWith("#"))) continue
    lines.push(line)
    if (heredoc === undefined) [, heredoc] = /<<-?'?(\w+)'?/.exec(line) ?? []
    else if (line.trim() === heredoc) heredoc = undefined
    if (heredoc !== undefined || goesOn(line)) continue
    commands.push({ page: block.page, line: block.line + index - lines.length + 1, text: lines.join("\n").trim() })
    lines = []
  }
  if (lines.length > 0) throw new Error(`${block.page}:${block.line}: the last command is not complete`)
  return commands
}

/** The command without a comment behind it, on one line. */
export const plainText = ({ text }: Command): string =>
  text.replaceAll("\\\n", " ").replaceAll(/\s+#.*$/gm, "").replaceAll(/\s+/g, " ").trim()

const effectWal =
  /^(?:npm start(?: --)?|npx @effect-wal\/server|(?:npx -y pnpm@\S+ |pnpm )?effect-wal|npx -y pnpm@\S+ serve)(?: (.*))?$/

/** Whether it starts a server that stays: no other subcommand, and not only a look at the help. */
export const isServer = (command: Command): boolean => {
  const [found, words = ""] = effectWal.exec(plainText(command)) ?? []
  return found !== undefined && /^(serve\b|--|$)/.test(words.trim()) && !/--(help|version)/.test(words)
}

/** Whether it goes on until somebody ends it. */
export const isEndless = (command: Command): boolean => {
  const text = plainText(command)
  return /text\/event-stream/.test(text) || (/\beffect-wal tail\b/.test(text) && !/--(limit|no-follow)/.test(text))
}

/** The variables that an `export` sets; `undefined` where it is none. */
export const exported = (command: Command): Readonly<Record<string, string>> | undefined => {
  const [found, assignments = ""] = /^export (.*)$/.exec(plainText(command)) ?? []
  if (found === undefined) return undefined
  if (assignments.includes("$")) throw new Error(`${command.page}:${command.line}: only plain values are understood`)
  return Object.fromEntries(
    [...assignments.matchAll(/([A-Z_][A-Z0-9_]*)=("[^"]*"|'[^']*'|\S*)/g)].map(([, name = "", value = ""]) => [
      name,
      value.replaceAll(/^["']|["']$/g, "")
    ])
  )
}
