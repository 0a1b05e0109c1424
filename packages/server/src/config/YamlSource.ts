/**
 * Text of a configuration file to a tree of plain values, with a line for every place.
 *
 * YAML 1.2; JSON is a part of it. The tree is built here from the nodes, because only they know lines, doubled keys and
 * how often an alias is used. Messages are ours: those of the parser quote the text, which can hold a secret.
 */
import { formatPath, type Path, type Problem } from "@effect-wal/core/config/DecodeTree"
import { Result } from "effect"
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from "yaml"
import type { Document, Node, YAMLMap, YAMLParseError, YAMLWarning } from "yaml"

/** One broken rule of the text itself. */
export interface SourceProblem extends Problem {
  readonly line?: number
}

/** A parsed file. */
export interface Source {
  /** Blocks, lists, text, numbers, booleans and null. */
  readonly tree: unknown
  /** The line of the nearest place at or above `path`, from 1. */
  readonly lineOf: (path: Path) => number | undefined
  /** Doubled keys and the like; a tree with problems is still worth checking. */
  readonly problems: ReadonlyArray<SourceProblem>
}

/** Longest text that is parsed, in characters. */
export const maxSourceLength = 1_048_576

/** Uses of aliases that are followed: enough for people, too few to grow ten lines into gigabytes. */
const maxAliases = 100
const maxDepth = 64

/** What is wrong, by the parser's code. */
const syntaxRules: Readonly<Record<string, string>> = {
  ALIAS_PROPS: "an alias cannot have properties",
  BAD_ALIAS: "an alias is not written as one; text that starts with * needs quotes",
  BAD_COLLECTION_TYPE: "tags are not known here; text that starts with ! needs quotes",
  BAD_DIRECTIVE: "a line that starts with % is not one that is known; text that starts with % needs quotes",
  BAD_DQ_ESCAPE: "a backslash in double quotes is followed by what it cannot be; use single quotes, or two backslashes",
  BAD_INDENT: "the indentation does not fit the lines around it",
  BAD_PROP_ORDER: "an anchor or a tag stands where it cannot",
  BAD_SCALAR_START: "text that starts with this character needs quotes",
  BLOCK_AS_IMPLICIT_KEY: "a nested block needs a line of its own; text with a colon and a blank needs quotes",
  BLOCK_IN_FLOW: "a block with indentation cannot stand within brackets",
  KEY_OVER_1024_CHARS: "a key is too long",
  MISSING_CHAR: "a quote, bracket, comma or blank is missing",
  MULTILINE_IMPLICIT_KEY: "a key must stand on one line",
  MULTIPLE_ANCHORS: "a value has more than one anchor; text that starts with & needs quotes",
  MULTIPLE_TAGS: "tags are not known here; text that starts with ! needs quotes",
  RESOURCE_EXHAUSTION: "it is nested too deep",
  TAB_AS_INDENT: "a tab cannot indent; use blanks",
  TAG_RESOLVE_FAILED: "tags are not known here; text that starts with ! needs quotes",
  UNEXPECTED_TOKEN: "something is left over here"
}

const noLines = (): undefined => undefined

const failed = (rule: string, line?: number): Source => ({
  tree: {},
  lineOf: noLines,
  problems: [{ path: [], rule, ...(line === undefined ? {} : { line }) }]
})

/** Builds the tree of one document and notes lines and problems on the way. */
class TreeBuilder {
  readonly lines = new Map<string, number>()
  readonly problems: Array<SourceProblem> = []
  private aliases = 0
  private readonly document: Document.Parsed
  private readonly counter: LineCounter

  constructor(document: Document.Parsed, counter: LineCounter) {
    this.document = document
    this.counter = counter
  }

  build(node: unknown, path: Path, depth: number): unknown {
    if (depth > maxDepth) return this.problem(path, `is nested deeper than ${maxDepth}`)
    if (isAlias(node)) {
      this.aliases++
      if (this.aliases > maxAliases) {
        return this.problem(path, `is one of more than ${maxAliases} uses of aliases`, this.lineOfNode(node))
      }
      const target = node.resolve(this.document)
      if (target !== undefined) return this.build(target, path, depth + 1)
      return this.problem(
        path,
        "is an alias without an anchor before it; text that starts with * needs quotes",
        this.lineOfNode(node)
      )
    }
    if (isMap(node)) return this.buildMap(node, path, depth)
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        this.noteLine([...path, index], item)
        return this.build(item, [...path, index], depth + 1)
      })
    }
    return isScalar(node) ? node.value : null
  }

  private buildMap(map: YAMLMap, path: Path, depth: number): unknown {
    const own = new Map<string, unknown>()
    const merged = new Map<string, unknown>()
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : undefined
      if (name === undefined) {
        this.problem(path, "has a key that is not text", this.lineOfNode(key))
      } else if (name === "<<") {
        for (const [each, inherited] of this.mergeEntries(value, path, depth)) {
          if (!merged.has(each)) merged.set(each, inherited)
        }
      } else if (own.has(name)) {
        this.problem(
          [...path, name],
          `is given twice; first in line ${this.lines.get(formatPath([...path, name])) ?? "?"}`,
          this.lineOfNode(key)
        )
      } else {
        this.noteLine([...path, name], key)
        own.set(name, this.build(value, [...path, name], depth + 1))
      }
    }
    return Object.fromEntries([...merged].filter(([name]) => !own.has(name)).concat([...own]))
  }

  /** `<<` takes one block or a list of blocks; earlier ones win. */
  private mergeEntries(value: unknown, path: Path, depth: number): ReadonlyArray<[string, unknown]> {
    const built = this.build(value, path, depth + 1)
    const blocks: ReadonlyArray<unknown> = Array.isArray(built) ? built : [built]
    return blocks.flatMap((block) => {
      if (typeof block === "object" && block !== null && !Array.isArray(block)) return Object.entries(block)
      this.problem(path, "merges something that is not a block of keys")
      return []
    })
  }

  private noteLine(path: Path, node: unknown): void {
    const line = this.lineOfNode(node)
    const name = formatPath(path)
    if (line !== undefined && !this.lines.has(name)) this.lines.set(name, line)
  }

  private lineOfNode(node: unknown): number | undefined {
    const start = hasRange(node) ? node.range?.[0] : undefined
    return start === undefined ? undefined : this.counter.linePos(start).line
  }

  private problem(path: Path, rule: string, line?: number): null {
    const at = line ?? this.lines.get(formatPath(path))
    this.problems.push({ path, rule, hidden: true, ...(at === undefined ? {} : { line: at }) })
    return null
  }
}

const hasRange = (node: unknown): node is Node => typeof node === "object" && node !== null && "range" in node

/** Parses the text of a configuration file. What is wrong with it is in `problems`, each with its line. */
export const parseSource = (text: string): Source => {
  if (text.length > maxSourceLength) return failed(`is longer than ${maxSourceLength} characters`)
  const counter = new LineCounter()
  const parsed = Result.try({
    try: () =>
      parseAllDocuments(text, {
        lineCounter: counter,
        prettyErrors: false,
        uniqueKeys: false,
        resolveKnownTags: false,
        logLevel: "silent"
      }),
    // The parser recurses; only text nested thousands deep gets here.
    catch: () => `is nested deeper than ${maxDepth}`
  })
  if (Result.isFailure(parsed)) return failed(parsed.failure)
  const documents = Array.from(parsed.success)
  const [document, second] = documents
  const syntax = documents.flatMap((each) => [...each.errors, ...each.warnings])
  if (syntax.length > 0) return { tree: {}, lineOf: noLines, problems: syntaxProblems(syntax, counter) }
  if (second !== undefined) {
    return failed("has more than one document; keep one", counter.linePos(second.range[0]).line)
  }
  if (
    document === undefined || document.contents === null ||
    isScalar(document.contents) && document.contents.value === null
  ) {
    return failed("is empty; give at least one stream")
  }
  const builder = new TreeBuilder(document, counter)
  const tree = builder.build(document.contents, [], 0)
  return { tree, lineOf: nearestLine(builder.lines), problems: builder.problems }
}

/** The first problem of each line: what the parser finds behind it there follows from it. A tab is the cause of all. */
const syntaxProblems = (
  errors: ReadonlyArray<YAMLParseError | YAMLWarning>,
  counter: LineCounter
): ReadonlyArray<SourceProblem> => {
  const byLine = new Map<number, SourceProblem>()
  for (const error of [...errors.filter(({ code }) => code === "TAB_AS_INDENT"), ...errors]) {
    const { line } = counter.linePos(error.pos[0])
    const rule = `is not valid YAML: ${syntaxRules[error.code] ?? error.code}`
    if (!byLine.has(line)) byLine.set(line, { path: [], rule, line })
  }
  return [...byLine.values()]
}

const nearestLine = (lines: ReadonlyMap<string, number>) => (path: Path): number | undefined => {
  for (let length = path.length; length > 0; length--) {
    const line = lines.get(formatPath(path.slice(0, length)))
    if (line !== undefined) return line
  }
  return undefined
}
