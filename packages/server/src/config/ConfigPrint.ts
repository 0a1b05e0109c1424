/**
 * What `config print` shows: every value that is in force, and where it comes from.
 *
 * Sizes are bytes and durations milliseconds, so that nobody has to know the spellings; secrets are redacted, and what
 * comes from a variable with the name of a secret is shown as that name.
 */
import { compressionLevels } from "@effect-wal/core/config/BackendRules"
import { formatPath, type LocatedField, type Path, valueAt } from "@effect-wal/core/config/DecodeTree"
import type { FieldDoc } from "@effect-wal/core/config/Field"
import { type BackendBlock, type BackendKind, backendKind } from "@effect-wal/core/config/OptionsSchema"
import { resolveLog, resolveStore } from "@effect-wal/core/config/Resolve"
import { Duration } from "effect"
import { streamIdOf } from "./ServerRules.ts"
import type { FileBlock } from "./ServerSchema.ts"
import type { Source } from "./YamlSource.ts"

/** One value in force. */
export interface ConfigEntry {
  /** As in `streams[0].durability.backend.parallel_put.workers`. */
  readonly path: string
  /** Sizes as `1048576 bytes`, durations as `1000 ms`, secrets as `<redacted>`. */
  readonly value: string
  /** `default`, `preset balanced`, `sync per_entry`, `wal.yaml:12`, or `variable NAME (wal.yaml:12)`. */
  readonly origin: string
}

/** A checked file and where its values stood. */
export interface PrintContext {
  readonly file: FileBlock
  /** The tree of the file before substitution; empty where there is no file. */
  readonly tree: unknown
  readonly fields: ReadonlyArray<LocatedField>
  readonly source: string
  readonly lineOf: Source["lineOf"]
  /** By path: the variables that a value came from. */
  readonly variables: ReadonlyMap<string, ReadonlyArray<string>>
  /** The tree as it may be shown, and the places where that is not what is in force. */
  readonly shown: unknown
  readonly concealed: ReadonlySet<string>
}

const valueText = (value: unknown, doc: FieldDoc): string => {
  if (doc.kind === "secret") return "<redacted>"
  if (Duration.isDuration(value)) return `${Duration.toMillis(value)} ms`
  if (doc.kind === "size") return `${String(value)} bytes`
  return typeof value === "string" || Array.isArray(value) ? JSON.stringify(value) : String(value)
}

/** The places of a field: one for each element of each list on the way. */
const placesOf = (field: LocatedField, tree: unknown): ReadonlyArray<Path> =>
  field.path.reduce<ReadonlyArray<Path>>(
    (paths, part) =>
      paths.flatMap((path) => {
        if (part !== "*") return [[...path, part]]
        const list = valueAt(tree, path)
        return Array.isArray(list) ? list.map((_, index) => [...path, index]) : []
      }),
    [[]]
  )

const segmentNames = ["max_entries", "max_bytes", "flush_interval", "linger"] as const

interface Derived {
  readonly value: unknown
  /** What sets it, where it is neither the default nor the place itself. */
  readonly setBy?: string
  /** The place that it was given at, where that is another one. */
  readonly from?: Path
}

/** What a value of the segment comes from that nobody gave. */
const setByOf = (
  name: typeof segmentNames[number],
  kind: BackendKind,
  sync: BackendBlock["sync"],
  backend: BackendBlock
): Pick<Derived, "setBy"> => {
  if (name === "max_entries" && sync === "per_entry") return { setBy: "sync per_entry" }
  return name === "linger" && kind === "local" ? {} : { setBy: `preset ${backend.segment_tuning.strategy}` }
}

/** What is in force for one stream's fields that the Schema leaves open; keys are paths below the stream. */
const derivedOf = (stream: NonNullable<FileBlock["streams"]>[number]): ReadonlyMap<string, Derived> => {
  const derived = new Map<string, Derived>([["id", {
    value: streamIdOf(stream),
    from: ["durability", "backend", "stream_id"]
  }]])
  const { durability } = stream
  if (durability === undefined) return derived
  const { backend } = durability
  const conditionalWrites = backend.s3?.conditional_writes ?? "required"
  const kind = backendKind(durability) ?? "object_store"
  const sync = backend.sync ?? durability.sync
  const log = resolveLog(backend, { kind, conditionalWrites, sync, streamId: stream.id })
  const segment = {
    max_entries: log.segment.maxEntries,
    max_bytes: log.segment.maxBytes,
    flush_interval: log.segment.flushInterval,
    linger: log.segment.linger
  }
  for (const name of segmentNames) {
    const legacy = name !== "linger" && backend.segment?.[name] !== undefined
    derived.set(`durability.backend.segment_tuning.${name}`, {
      value: segment[name],
      ...(legacy ? { from: ["durability", "backend", "segment", name] } : setByOf(name, kind, sync, backend))
    })
  }
  if (kind === "local") {
    const store = resolveStore(backend, kind, durability.path)
    derived.set("durability.backend.type", { value: kind })
    derived.set("durability.backend.node_id", { value: log.nodeId })
    derived.set("durability.backend.stream_id", { value: log.streamId, from: ["id"] })
    if (store.type === "local") {
      derived.set("durability.backend.local.path", { value: store.path, from: ["durability", "path"] })
      derived.set("durability.backend.local.max_file_bytes", { value: store.maxFileBytes })
    }
  }
  derived.set("durability.backend.manifest.max_segments", { value: log.manifest.maxSegments })
  derived.set("durability.backend.budget.puts_per_second", {
    value: log.budget?.putsPerSecond,
    from: ["durability", "backend", "budget", "dollars_per_month"]
  })
  derived.set("durability.backend.prefix", { value: log.prefix })
  derived.set("durability.backend.retention.policy", { value: log.retention.policy })
  derived.set("durability.backend.sync", {
    value: sync ?? log.sync,
    ...(durability.sync === undefined ? {} : { from: ["durability", "sync"] })
  })
  if (backend.compression.type !== "none") {
    derived.set("durability.backend.compression.level", { value: compressionLevels[backend.compression.type].default })
  }
  if (backend.s3 !== undefined) {
    derived.set("durability.backend.s3.path_style", {
      value: backend.s3.path_style ?? backend.s3.endpoint !== undefined
    })
  }
  return derived
}

const isShownElsewhere = (path: string): boolean =>
  path.startsWith("durability.backend.segment.") || path === "durability.sync" || path === "durability.path"

/** Every value in force, in the order of the Schema. */
export const listEntries = (context: PrintContext): ReadonlyArray<ConfigEntry> => {
  const derived = (context.file.streams ?? []).map(derivedOf)
  const given = (path: Path): string | undefined => {
    if (valueAt(context.tree, path) === undefined) return undefined
    const line = context.lineOf(path)
    const place = line === undefined ? context.source : `${context.source}:${line}`
    const names = context.variables.get(formatPath(path))
    return names === undefined ? place : `variable ${names.join(", ")} (${place})`
  }
  const concealed = [...context.concealed]
  /** What stands for a value that a secret was put into, or into a part of it. */
  const standIn = (path: Path): string | undefined => {
    const name = formatPath(path)
    return concealed.some((each) => each === name || each.startsWith(`${name}[`))
      ? JSON.stringify(valueAt(context.shown, path))
      : undefined
  }
  const entryOf = (path: Path, doc: FieldDoc): ReadonlyArray<ConfigEntry> => {
    const [first, index] = path
    const local = first === "streams" && typeof index === "number" ? formatPath(path.slice(2)) : ""
    if (isShownElsewhere(local)) return []
    const other = typeof index === "number" ? derived[index]?.get(local) : undefined
    const own = valueAt(context.file, path)
    const value = own ?? other?.value
    if (value === undefined) return []
    const from = other?.from === undefined ? path : [...path.slice(0, 2), ...other.from]
    const origin = given(path) ?? given(from) ?? other?.setBy ?? "default"
    const instead = doc.kind === "secret" ? undefined : standIn(own === undefined ? from : path)
    return [{ path: formatPath(path), value: instead ?? valueText(value, doc), origin }]
  }
  return context.fields.flatMap((field) => placesOf(field, context.file).flatMap((path) => entryOf(path, field.doc)))
}

/** The text of `config print`: one value a line, with its origin behind it, then the notices. */
export const printConfig = (config: {
  readonly entries: ReadonlyArray<ConfigEntry>
  readonly notices: ReadonlyArray<string>
}): string =>
  [
    ...config.entries.map((entry) => `${entry.path} = ${entry.value}  # ${entry.origin}`),
    ...config.notices.map((notice) => `# notice: ${notice}`)
  ].map((line) => `${line}\n`).join("")
