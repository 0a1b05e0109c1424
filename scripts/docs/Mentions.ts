/** The command `effect-wal` as the pages speak of it: subcommands and flags that it does not have. */
import { Effect } from "effect"
import { helpOf } from "../../packages/server/test/support/Help.ts"
import { commandsOf, plainText } from "./Commands.ts"
import type { Page } from "./Markdown.ts"

/** A mention: the words behind `effect-wal`. */
export interface Mention {
  readonly page: string
  readonly line: number
  readonly words: ReadonlyArray<string>
}

const inText = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(/(?:^|[\s;&|(]|\/\.bin\/)effect-wal(?= |$)((?: [^|;&)<>]+)?)/g)].map(([, words = ""]) =>
    words.trim() === "" ? [] : words.trim().split(/\s+/)
  )

/** Code that begins as a command and is none: the text that a hash begins with. */
const noCommands = new Set(["effect-wal chain 1", "effect-wal manifest"])

/** Every command line of a page: in its blocks, and where its text shows one as code. */
export const mentionsOf = (page: Page): ReadonlyArray<Mention> => [
  ...page.blocks.filter(({ language }) => language === "sh").flatMap(commandsOf).flatMap((command) =>
    inText(plainText(command)).map((words) => ({ page: page.path, line: command.line, words }))
  ),
  ...page.codes.filter(({ text }) => !noCommands.has(text) && /^(npx -y pnpm@\S+ |pnpm )?effect-wal /.test(text))
    .flatMap(({ line, text }) => inText(text).map((words) => ({ page: page.path, line, words })))
]

/** The words that name the subcommand: those before the first flag that are plain words. */
const subcommandOf = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  return end < 0 ? words : words.slice(0, end)
}

/** What is wrong with a mention; nothing where subcommand and flags exist. */
export const mentionProblems = Effect.fnUntraced(function*({ line, page, words }: Mention) {
  const named = subcommandOf(words)
  const at = `${page}:${line}: effect-wal ${words.join(" ")}`
  // The last plain words can be arguments: the longest beginning that is a command is the command.
  for (let length = named.length; length >= 0; length--) {
    if (length === 0 && named.length > 0) return [`${at}: there is no such command`]
    const help = yield* helpOf(named.slice(0, length))
    if (help === undefined) continue
    return words.flatMap((word) => {
      const [, flag] = /^(--[a-z][a-z-]*)/.exec(word) ?? []
      return flag === undefined || help.includes(flag) ? [] : [`${at}: there is no flag ${flag}`]
    })
  }
  return []
})
