/**
 * The options of the library: a partial in camel case, with the names, defaults and ranges of the file.
 */
import { Effect, Result } from "effect"
import { ConfigError } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import { logRules, singleWriterRules } from "./BackendRules.ts"
import { decodeTree, fieldAt, formatPath, listFields, type Path, reportProblems } from "./DecodeTree.ts"
import { type DurationInput, durationInputText } from "./DurationText.ts"
import { LogBlock } from "./OptionsSchema.ts"
import type { PresetName } from "./Presets.ts"
import { resolveLog } from "./Resolve.ts"
import type { SizeInput } from "./SizeText.ts"

/**
 * What a log is made with. Only the ids are required; every other field has the default of `docs/configuration.md`,
 * where ranges and trade-offs stand too (there in snake case). Durations take `500ms`, `1.5s`, `2m` or an Effect
 * duration; sizes take bytes or `10MB`, `64MiB`.
 */
export interface WalOptionsInput {
  /** 1 to 128 of letters, digits, `.`, `_`, `-`. Two writers with the same ids fence each other. */
  readonly nodeId: string
  /** The same alphabet. */
  readonly streamId: string
  /** Ids joined by slashes, in front of all keys. Default: none. */
  readonly prefix?: string
  /** What a segment gathers; `segment` overrides single fields. Default `balanced`. */
  readonly preset?: PresetName
  readonly segment?: {
    readonly maxEntries?: number
    readonly maxBytes?: SizeInput
    readonly flushInterval?: DurationInput
    /** 0 is allowed: seal as soon as somebody waits and a worker is free. */
    readonly linger?: DurationInput
  }
  readonly parallelPut?: {
    readonly workers?: number
    readonly pipelineDepth?: number
    readonly shutdownTimeout?: DurationInput
  }
  readonly compression?: {
    readonly type?: "none" | "zstd" | "lz4"
    readonly level?: number
    readonly thresholdBytes?: SizeInput
  }
  readonly cursor?: {
    readonly maxEntries?: number
    readonly interval?: DurationInput
    readonly maxAhead?: number
  }
  readonly manifest?: {
    readonly maxSegments?: number
    readonly maxDelay?: DurationInput
  }
  readonly retention?: {
    readonly policy?: "committed" | "keep" | "age"
    readonly minAge?: DurationInput
    readonly maxAge?: DurationInput
    readonly maxBytes?: SizeInput
  }
  /** How much is remembered of those who append with a `producer`. */
  readonly producers?: {
    readonly max?: number
    readonly ttl?: DurationInput
  }
  readonly retry?: {
    readonly base?: DurationInput
    readonly cap?: DurationInput
  }
  readonly sync?: "group_commit" | "periodic"
  readonly conditionalWrites?: "required" | "single_writer"
  readonly maxBufferedBytes?: SizeInput
  readonly maxRecordBytes?: SizeInput
  readonly maxSegmentBytes?: SizeInput
  readonly tailBufferBytes?: SizeInput
  readonly prefetch?: number
  readonly openTimeout?: DurationInput
  /** Default: the node id. */
  readonly host?: string
}

const fields = listFields(LogBlock.ast)

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The place in the file's names; `preset` and `segment` are one block there. */
const filePath = (path: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, ...rest] = path.map(snake)
  if (path.length === 1 && first === "preset") return ["segment_tuning", "strategy"]
  return first === "segment" ? ["segment_tuning", ...rest] : [first ?? "", ...rest]
}

const libraryPath = (path: Path): string => {
  const text = formatPath(path)
  if (text === "segment_tuning.strategy") return "preset"
  return camel(text.replace(/^segment_tuning/, "segment"))
}

type Entry = readonly [path: ReadonlyArray<string>, value: unknown]

/** All values with their places; durations as text, so that one decoder checks them. */
const entriesOf = (value: unknown, path: ReadonlyArray<string>): ReadonlyArray<Entry> => {
  if (value === undefined) return []
  const place = filePath(path)
  if (fieldAt(fields, place)?.doc.kind === "duration") return [[place, durationInputText(value)]]
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[place, value]]
  return Object.entries(value).flatMap(([name, each]) => entriesOf(each, [...path, name]))
}

interface Branch {
  [name: string]: unknown
}

const isBranch = (value: unknown): value is Branch => typeof value === "object" && value !== null

const treeOf = (entries: ReadonlyArray<Entry>): Branch => {
  const root: Branch = {}
  for (const [path, value] of entries) {
    const last = path.length - 1
    let at = root
    for (const name of path.slice(0, last)) {
      const next = Object.hasOwn(at, name) ? at[name] : undefined
      if (isBranch(next)) {
        at = next
      } else {
        const made: Branch = {}
        at[name] = made
        at = made
      }
    }
    at[path[last] ?? ""] = value
  }
  return root
}

/**
 * Checks the options of the library and fills in the defaults. Fails `ConfigError`, which names every broken rule at
 * once, with the path in the library's names.
 */
export const resolveOptions = (input: WalOptionsInput): Effect.Effect<WalOptions, ConfigError> =>
  Effect.suspend(() => {
    const tree = treeOf(entriesOf(input, []))
    const decoded = decodeTree(LogBlock, tree, (block) => [
      ...logRules(block),
      ...singleWriterRules(block, block.conditional_writes, [["conditional_writes"]])
    ])
    if (Result.isFailure(decoded)) {
      const problems = reportProblems(decoded.failure, { schema: LogBlock, tree, formatPath: libraryPath })
      return Effect.fail(new ConfigError({ source: "options", problems }))
    }
    const block = decoded.success
    return Effect.succeed(
      resolveLog(block, { conditionalWrites: block.conditional_writes, sync: undefined, host: block.host })
    )
  })
