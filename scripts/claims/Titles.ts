/** The titles of the tests in a file, read from its text. */
import { readable } from "../cases/FindTests.ts"

export interface FoundTitle {
  /** Without marks; what is filled in when the test runs is `…`. */
  readonly title: string
  /** Never run: `skip` or `todo` in its call. */
  readonly skipped: boolean
}

/** `example` is what the tests of programs in `examples` are made with. */
const call = /\b(?:it|test|describe|example)((?:\.[a-zA-Z]+)*)\s*\(/g
/** Calls whose first pair of parentheses holds a table or a condition, and whose title comes in the second. */
const curried = /\.(?:each|for|skipIf|runIf)$/
const quotes = "\"'`"

/** Behind the string literal that starts at `from`. */
const afterLiteral = (text: string, from: number): number => {
  const quote = text[from]
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === quote) return at + 1
  }
  return text.length
}

/** Behind the parenthesis that closes what was opened before `from`; strings are passed over. */
const afterParentheses = (text: string, from: number): number => {
  let depth = 1
  let at = from
  while (at < text.length && depth > 0) {
    const character = text[at] ?? ""
    if (quotes.includes(character)) {
      at = afterLiteral(text, at)
      continue
    }
    if (character === "(") depth++
    if (character === ")") depth--
    at++
  }
  return at
}

const afterBlanks = (text: string, from: number): number => from + (/^\s*/.exec(text.slice(from))?.[0].length ?? 0)

/** Where the title should stand, for a call whose parenthesis ends before `from`. */
const titleAt = (text: string, from: number, modifiers: string): number => {
  if (!curried.test(modifiers)) return afterBlanks(text, from)
  const next = afterBlanks(text, afterParentheses(text, from))
  return text[next] === "(" ? afterBlanks(text, next + 1) : text.length
}

/** All titles that are written as literals in calls that make tests and suites. */
export const titlesIn = (text: string): ReadonlyArray<FoundTitle> =>
  [...text.matchAll(call)].flatMap((match) => {
    const modifiers = match[1] ?? ""
    const at = titleAt(text, match.index + match[0].length, modifiers)
    if (!quotes.includes(text[at] ?? " ")) return []
    const title = readable(text.slice(at + 1, afterLiteral(text, at) - 1))
    return [{ title, skipped: /\.(?:skip|todo)\b/.test(modifiers) }]
  })
