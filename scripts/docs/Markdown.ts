/** The Markdown of this repository, as the tests of the documents read it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url))

/** A fenced block. */
export interface Block {
  /** From the root. */
  readonly page: string
  /** The line of its first line of text, from 1. */
  readonly line: number
  /** The first word behind the fence. */
  readonly language: string
  /** The other words behind it. */
  readonly marks: ReadonlyArray<string>
  /** Without the indentation of the fence; ends with a line feed. */
  readonly text: string
}

/** A link, or the target of a label. */
export interface Link {
  readonly target: string
  readonly line: number
}

/** One file. */
export interface Page {
  /** From the root. */
  readonly path: string
  readonly text: string
  readonly blocks: ReadonlyArray<Block>
  readonly links: ReadonlyArray<Link>
  /** Labels that links name and nothing defines, and labels that are defined and not used. */
  readonly badLabels: ReadonlyArray<string>
  /** What `#…` can lead to. */
  readonly anchors: ReadonlySet<string>
  /** Texts of inline code, outside of blocks. */
  readonly codes: ReadonlyArray<{ readonly text: string; readonly line: number }>
}

const left = new Set(["node_modules", "dist", "coverage", "data"])

/** Every Markdown file below a folder, from the root, sorted. Folders that begin with a dot are left out. */
const pagesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return left.has(entry.name) || entry.name.startsWith(".") ? [] : pagesBelow(path)
    return entry.isFile() && entry.name.endsWith(".md") ? [path] : []
  }).toSorted()

const fence = /^( *)(`{3,})(.*)$/

interface Parsed {
  readonly blocks: ReadonlyArray<Block>
  /** The lines with those of blocks blank, so that line numbers stay. */
  readonly prose: ReadonlyArray<string>
}

const parse = (page: string, text: string): Parsed => {
  const blocks: Array<Block> = []
  const prose: Array<string> = []
  let open: { indent: number; ticks: string; line: number; info: string; lines: Array<string> } | undefined
  for (const [index, line] of text.split("\n").entries()) {
    const [, spaces = "", ticks = "", info = ""] = fence.exec(line) ?? []
    if (open === undefined) {
      if (ticks === "") prose.push(line)
      else {
        open = { indent: spaces.length, ticks, line: index + 2, info: info.trim(), lines: [] }
        prose.push("")
      }
      continue
    }
    prose.push("")
    if (ticks.length >= open.ticks.length && info.trim() === "") {
      const [language = "", ...marks] = open.info.split(/\s+/)
      const body = open.lines.map((each) => `${each}\n`).join("")
      blocks.push({ page, line: open.line, language, marks, text: body })
      open = undefined
    } else open.lines.push(line.slice(Math.min(open.indent, line.search(/\S|$/))))
  }
  if (open !== undefined) throw new Error(`${page}:${open.line - 1}: the fence is not closed`)
  return { blocks, prose }
}

const inlineCode = /(`+)(.+?)\1/g

/** What a heading is called in an address, as the usual sites make it. */
const slugOf = (heading: string): string =>
  heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "").trim().toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-")

const anchorsOf = (prose: ReadonlyArray<string>): ReadonlySet<string> => {
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const line of prose) {
    const [, heading] = /^#{1,6} +(.+?) *#*$/.exec(line) ?? []
    if (heading !== undefined) {
      const slug = slugOf(heading)
      const nth = seen.get(slug) ?? 0
      seen.set(slug, nth + 1)
      anchors.add(nth === 0 ? slug : `${slug}-${nth}`)
    }
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) if (id !== undefined) anchors.add(id)
  }
  return anchors
}

const labelsOf = (lines: ReadonlyArray<string>) => {
  const defined = new Map<string, string>()
  const used = new Set<string>()
  for (const line of lines) {
    const [, label, target] = /^\[([^\]]+)\]: +(\S+)$/.exec(line) ?? []
    if (label !== undefined && target !== undefined) defined.set(label, target)
    for (const [, name] of line.matchAll(/\]\[([^\]]+)\]/g)) if (name !== undefined) used.add(name)
  }
  return [
    ...[...used].filter((name) => !defined.has(name)).map((name) => `[${name}] is not defined`),
    ...[...defined.keys()].filter((name) => !used.has(name)).map((name) => `[${name}] is not used`)
  ]
}

/** Reads a page; the path is from the root. */
export const readPage = (path: string): Page => {
  const text = readFileSync(join(root, path), "utf8")
  const { blocks, prose } = parse(path, text)
  const plain = prose.map((line) => line.replaceAll(inlineCode, (code) => " ".repeat(code.length)))
  const linksOf = (line: string, index: number) =>
    [...line.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)|^\[[^\]]+\]: +(\S+)$/g)].map((found) => ({
      target: found[1] ?? found[2] ?? "",
      line: index + 1
    }))
  return {
    path,
    text,
    blocks,
    links: plain.flatMap(linksOf),
    badLabels: labelsOf(plain),
    anchors: anchorsOf(prose),
    codes: prose.flatMap((line, index) =>
      [...line.matchAll(inlineCode)].map(([, , code = ""]) => ({ text: code.trim(), line: index + 1 }))
    )
  }
}

/** All pages. */
export const readPages = (): ReadonlyArray<Page> => pagesBelow("").map(readPage)

/** The rows of every table in some lines of Markdown: cells without the blanks around them, rules left out. */
export const tableRows = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").filter((line) => line.trimStart().startsWith("|"))
    .map((line) => line.trim().replaceAll("\\|", "\u0000").split("|").slice(1, -1).map((cell) => cell.trim()))
    .filter((cells) => !cells.every((cell) => /^:?-+:?$/.test(cell)))

/** The text between `<!-- open -->` and the next `<!-- end -->`, for each that begins so; the rest of the mark comes along. */
export const markedParts = (
  text: string,
  open: string
): ReadonlyArray<{ readonly rest: string; readonly body: string }> =>
  [...text.matchAll(new RegExp(`<!-- ${open}(.*?) -->\\n([\\s\\S]*?)<!-- end -->`, "g"))].map(
    ([, rest = "", body = ""]) => ({ rest: rest.trim(), body })
  )
