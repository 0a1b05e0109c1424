/**
 * Real input: the JSON documents that lie below the `node_modules` of this workspace, each made one line.
 *
 * Only white space outside of strings is taken away, so every line has the meaning and the spelling of its document.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { root } from "./Places.ts"

/** `packages`: every `package.json`. `documents`: those and every other `.json` file and source map. */
export type CorpusName = "packages" | "documents"

export interface Corpus {
  readonly name: CorpusName
  /** In the order of their paths. */
  readonly lines: ReadonlyArray<Buffer>
  readonly rawBytes: number
  /** Files that were left out because they are not JSON: comments, templates, empty ones. */
  readonly leftOut: number
}

const patterns: Readonly<Record<CorpusName, RegExp>> = {
  packages: /^package\.json$/,
  documents: /\.(?:json|map)$/
}

/** Files below `directory` in a fixed order. Links are not followed: each file counts once. */
const filesBelow = (directory: string, pattern: RegExp): ReadonlyArray<string> =>
  readdirSync(directory, { withFileTypes: true })
    .toSorted((left, right) => left.name < right.name ? -1 : 1)
    .flatMap((entry) => {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) return filesBelow(path, pattern)
      return entry.isFile() && pattern.test(entry.name) ? [path] : []
    })

const quote = 0x22
const backslash = 0x5c
const whiteSpace = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The document without its white space between tokens. */
const oneLine = (document: Buffer): Buffer => {
  const line = Buffer.allocUnsafe(document.length)
  let length = 0
  let inString = false
  for (let index = 0; index < document.length; index++) {
    const byte = document[index] ?? 0
    if (!inString && whiteSpace.has(byte)) continue
    line[length++] = byte
    if (inString && byte === backslash) line[length++] = document[++index] ?? 0
    else if (byte === quote) inString = !inString
  }
  return Buffer.from(line.subarray(0, length))
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The line of a file; `undefined` when it is no JSON document. */
const lineOf = (path: string): Buffer | undefined => {
  const bytes = readFileSync(path)
  const start = bytes.length >= 3 && bytes.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0
  const document = bytes.subarray(start)
  const meaning = parsed(document.toString("utf8"))
  if (meaning === undefined) return undefined
  const line = oneLine(document)
  if (!isDeepStrictEqual(parsed(line.toString("utf8")), meaning)) throw new Error(`${path} changed its meaning`)
  return line
}

/** Reads the corpus. */
export const readCorpus = (name: CorpusName): Corpus => {
  const places = ["", ...readdirSync(join(root, "packages")).map((each) => join("packages", each))]
  const files = places.flatMap((place) => {
    const below = readdirSync(join(root, place)).includes("node_modules")
    return below ? filesBelow(join(root, place, "node_modules"), patterns[name]) : []
  })
  const lines = files.map(lineOf).filter((line) => line !== undefined)
  return {
    name,
    lines,
    rawBytes: lines.reduce((sum, line) => sum + line.length, 0),
    leftOut: files.length - lines.length
  }
}
