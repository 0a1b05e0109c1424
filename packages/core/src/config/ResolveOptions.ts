/**
 * The options of the library: a partial in camel case, with the names, defaults and ranges of the file.
 */
import { Effect, Result } from "effect"
import type { Schema } from "effect"
import { ConfigError } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import { identityRules, logRules, singleWriterRules } from "./BackendRules.ts"
import { budgetNotices, budgetRules } from "./BudgetRules.ts"
import {
  decodeTree,
  fieldAt,
  formatPath,
  listFields,
  type LocatedField,
  type Path,
  type Problem,
  reportProblems
} from "./DecodeTree.ts"
import { type DurationInput, durationInputText } from "./DurationText.ts"
import { localWorkerRules, missing, perEntryRules, syncRules } from "./LocalRules.ts"
import { type BackendKind, LocalLogBlock, LogBlock } from "./OptionsSchema.ts"
import type { PresetName } from "./Presets.ts"
import { compressionNotices, type LocalSettings, resolveLog } from "./Resolve.ts"
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
  /**
   * What all PUTs of the log may come to; give one of the two. While more were sent of late, `linger` is stretched for who
   * waits for durability, up to `flushInterval` and never beyond it.
   */
  readonly budget?: {
    readonly putsPerSecond?: number
    /** For PUTs, in 30 days, at the prices of `s3StandardUsEast1`. */
    readonly dollarsPerMonth?: number
  }
  readonly parallelPut?: {
    readonly workers?: number
    readonly pipelineDepth?: number
    readonly shutdownTimeout?: DurationInput
    readonly hedge?: "off" | "p95" | "p99"
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

/** What a log on this machine's disk is made with: the same, but for the place and for what its store decides. */
export interface LocalOptionsInput extends Omit<WalOptionsInput, "budget" | "sync"> {
  /** The directory; created when it is not there. Several logs can share it. */
  readonly path: string
  /** A file is followed by the next one at this size. Default 64 MiB. */
  readonly maxFileBytes?: SizeInput
  /** `per_entry`: each record gets a segment and a sync of its own; not beside `segment.maxEntries`. */
  readonly sync?: "per_entry" | "group_commit" | "periodic"
}

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
  return camel(text.replace(/^segment_tuning/, "segment").replace(/^local\./, ""))
}

type Entry = readonly [path: ReadonlyArray<string>, value: unknown]

/** Names of a path; fields have up to three. */
const maxDepth = 8

/** All values with their places; durations as text, so that one decoder checks them. */
const entriesOf = (
  value: unknown,
  path: ReadonlyArray<string>,
  fields: ReadonlyArray<LocatedField>
): ReadonlyArray<Entry> => {
  if (value === undefined) return []
  const place = filePath(path)
  if (fieldAt(fields, place)?.doc.kind === "duration") return [[place, durationInputText(value)]]
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[place, value]]
  // No field is so deep: the key above is unknown already.
  if (path.length === maxDepth) return [[place, {}]]
  const inside = Object.entries(value)
  // An empty block is one all the same: it may be one that nobody knows.
  if (inside.length === 0 && path.length > 0) return [[place, {}]]
  return inside.flatMap(([name, each]) => entriesOf(each, [...path, name], fields))
}

interface Branch {
  [name: string]: unknown
}

const isBranch = (value: unknown): value is Branch => typeof value === "object" && value !== null

/** Without a prototype: `__proto__` is a name like any other, and is refused as one. */
const emptyBranch = (): Branch => Object.create(null)

const treeOf = (entries: ReadonlyArray<Entry>): Branch => {
  const root = emptyBranch()
  for (const [path, value] of entries) {
    const last = path.length - 1
    let at = root
    for (const name of path.slice(0, last)) {
      const next = Object.hasOwn(at, name) ? at[name] : undefined
      if (isBranch(next)) {
        at = next
      } else {
        const made = emptyBranch()
        at[name] = made
        at = made
      }
    }
    const name = path[last] ?? ""
    // `segment: {}` beside `preset`: both are in one block.
    if (!(isBranch(value) && isBranch(at[name]))) at[name] = value
  }
  return root
}

/** Decodes the options with a block of the file; what is wrong is reported in the names of the library. */
const decodeInput = <S extends Schema.ConstraintDecoder<unknown> & Schema.Top>(
  schema: S,
  input: object,
  rules: (block: S["Type"]) => ReadonlyArray<Problem>
): Effect.Effect<S["Type"], ConfigError> =>
  Effect.suspend(() => {
    const tree = treeOf(entriesOf(input, [], listFields(schema.ast)))
    const decoded = decodeTree(schema, tree, rules)
    if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
    const problems = reportProblems(decoded.failure, { schema, tree, formatPath: libraryPath })
    return Effect.fail(new ConfigError({ source: "options", problems }))
  })

/** The rules of every log of the library; what is told by a Layer is not among its options. */
const libraryRules = (block: typeof LogBlock.Type, kind: BackendKind): ReadonlyArray<Problem> => [
  ...identityRules(block),
  ...logRules(block),
  ...syncRules(block.sync, kind, ["sync"], []),
  ...budgetRules(block, kind, block.sync)
]

/** Warns of what was given and does not do what it seems to. */
export const sayNotices = (
  { compression = {} }: Pick<WalOptionsInput, "compression">,
  options: WalOptions
): Effect.Effect<void> =>
  Effect.forEach(
    [...compressionNotices(compression), ...budgetNotices(options)],
    (notice) => Effect.logWarning(notice),
    {
      discard: true
    }
  )

/**
 * Checks the options of the library and fills in the defaults. Fails `ConfigError`, which names every broken rule at
 * once, with the path in the library's names.
 */
export const resolveOptions = Effect.fnUntraced(
  function*(input: WalOptionsInput): Effect.fn.Return<WalOptions, ConfigError> {
    const block = yield* decodeInput(LogBlock, input, (decoded) => [
      ...libraryRules(decoded, "object_store"),
      ...singleWriterRules(decoded, decoded.conditional_writes, [["conditional_writes"]])
    ])
    return resolveLog(block, {
      kind: "object_store",
      conditionalWrites: block.conditional_writes,
      host: block.host
    })
  }
)

/** Conditional writes to a local disk are the program's own. */
const localConditionRules = (block: typeof LocalLogBlock.Type): ReadonlyArray<Problem> =>
  block.conditional_writes === "required" ? [] : [{
    path: ["conditional_writes"],
    rule: "must be required for a log on this machine's disk: it has conditional writes"
  }]

/** The same for a log on this machine's disk, which has a place of its own. */
export const resolveLocalOptions = Effect.fnUntraced(
  function*(
    { maxFileBytes, path, ...input }: LocalOptionsInput
  ): Effect.fn.Return<{ readonly options: WalOptions; readonly settings: LocalSettings }, ConfigError> {
    const given = { ...input, local: { path, maxFileBytes } }
    const block = yield* decodeInput(LocalLogBlock, given, (decoded) => [
      ...libraryRules(decoded, "local"),
      ...localWorkerRules(decoded),
      ...localConditionRules(decoded),
      ...perEntryRules(decoded, decoded.sync),
      ...(decoded.local.path === undefined ? [missing(["local", "path"], "name the directory")] : [])
    ])
    return {
      options: resolveLog(block, { kind: "local", conditionalWrites: "required", host: block.host }),
      settings: { type: "local", path: block.local.path ?? "", maxFileBytes: block.local.max_file_bytes }
    }
  }
)
