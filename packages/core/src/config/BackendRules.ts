/**
 * The rules between fields of the `durability` block: what is required, what excludes what, which sizes must fit
 * together.
 *
 * Pure: it looks at decoded values only. Each rule names the places that it reads; where one of them is itself broken,
 * the report leaves the rule out.
 */
import { Duration } from "effect"
import type { WalOptions } from "../WalOptions.ts"
import { budgetRules } from "./BudgetRules.ts"
import type { Path, Problem } from "./DecodeTree.ts"
import { localRules, missing, perEntryRules, syncRules } from "./LocalRules.ts"
import {
  type BackendBlock,
  type BackendKind,
  backendKind,
  type DurabilityBlock,
  type LogSettings
} from "./OptionsSchema.ts"
import { presets } from "./Presets.ts"
import { formatSize } from "./SizeText.ts"

/** Levels that each codec takes, inclusive, and the one without a setting. */
export const compressionLevels = {
  zstd: { min: 0, max: 22, default: 3 },
  lz4: { min: 1, max: 16, default: 4 }
} as const

const storeRules = (backend: BackendBlock): ReadonlyArray<Problem> => [
  ...objectStoreRules(backend),
  ...(backend.local === undefined
    ? []
    : [{ path: ["local"], reads: [["type"]], rule: "belongs to type: local; remove it, or write that type" }]),
  ...(backend.spool === undefined || backend.spool.path !== undefined
    ? []
    : [missing(["spool", "path"], "name the directory")])
]

const objectStoreRules = (backend: BackendBlock): ReadonlyArray<Problem> => {
  const reads = [["s3"], ["directory"]]
  if (backend.s3 === undefined && backend.directory === undefined) {
    return [{ path: ["s3"], reads, rule: "is missing; give an s3 block or a directory block" }]
  }
  if (backend.s3 !== undefined && backend.directory !== undefined) {
    return [{ path: ["directory"], reads, rule: "stands beside s3; give one of the two" }]
  }
  return [
    ...(backend.directory !== undefined && backend.directory.path === undefined
      ? [missing(["directory", "path"], "name the directory")]
      : []),
    ...(backend.s3 === undefined ? [] : s3Rules(backend.s3))
  ]
}

const s3Rules = (s3: NonNullable<BackendBlock["s3"]>): ReadonlyArray<Problem> => {
  const problems: Array<Problem> = []
  const secretNames = ["access_key_id", "secret_access_key", "session_token"] as const
  const given = secretNames.map((name) => s3[name] !== undefined || s3[`${name}_file`] !== undefined)
  const reads = secretNames.flatMap((name) => [["s3", name], ["s3", `${name}_file`]])
  if (s3.bucket === undefined) problems.push(missing(["s3", "bucket"], "name the bucket"))
  for (const name of secretNames) {
    if (s3[name] !== undefined && s3[`${name}_file`] !== undefined) {
      problems.push({ path: ["s3", `${name}_file`], reads, rule: `stands beside ${name}; give one of the two` })
    }
  }
  const [key, secret, token] = given
  if (key !== secret) {
    problems.push({
      path: ["s3", key ? "secret_access_key" : "access_key_id"],
      reads,
      rule: "is missing; access key and secret go together"
    })
  }
  if (token && !key && !secret) {
    problems.push({
      path: ["s3", "access_key_id"],
      reads,
      rule: "is missing; a session token needs the key that it belongs to"
    })
  }
  if (s3.kms_key_id !== undefined && s3.encryption !== "aws:kms") {
    problems.push({ path: ["s3", "kms_key_id"], reads: [["s3", "encryption"]], rule: "needs encryption: aws:kms" })
  }
  return problems
}

/** What giving up conditional writes costs. `reads` is where `conditional_writes` stands. */
export const singleWriterRules = (
  backend: LogSettings,
  conditionalWrites: WalOptions["conditionalWrites"],
  reads: ReadonlyArray<Path>
): ReadonlyArray<Problem> => {
  if (conditionalWrites === "required") return []
  const { hedge, pipeline_depth: depth, workers } = backend.parallel_put
  const { min_age: minAge, policy } = backend.retention
  const must = (path: Path, word: string): Problem => ({
    path,
    reads,
    rule: `must be ${word} with conditional_writes: single_writer`
  })
  return [
    ...(workers === 1 ? [] : [must(["parallel_put", "workers"], "1")]),
    ...(depth === 1 ? [] : [must(["parallel_put", "pipeline_depth"], "1")]),
    ...(hedge === "off" ? [] : [must(["parallel_put", "hedge"], "off")]),
    ...(policy === undefined || policy === "keep" ? [] : [must(["retention", "policy"], "keep")]),
    ...(policy === undefined && Duration.isGreaterThan(minAge, Duration.zero)
      ? [{
        path: ["retention", "min_age"],
        reads: [...reads, ["retention", "policy"]],
        rule: "has no effect with conditional_writes: single_writer, which keeps all; remove it"
      }]
      : [])
  ]
}

const segmentRules = (backend: LogSettings): ReadonlyArray<Problem> => {
  const names = ["max_entries", "max_bytes", "flush_interval"] as const
  return names.filter((name) => backend.segment?.[name] !== undefined && backend.segment_tuning[name] !== undefined)
    .map((name) => ({
      path: ["segment", name],
      reads: [["segment_tuning", name]],
      rule: `is also given in segment_tuning.${name}; give it once`
    }))
}

const sizeRules = (backend: LogSettings): ReadonlyArray<Problem> => {
  const maxBytes = backend.segment_tuning.max_bytes ?? backend.segment?.max_bytes ??
    presets[backend.segment_tuning.strategy].maxBytes
  const reads = [["segment", "max_bytes"], ["segment_tuning"], ["segment_tuning", "max_bytes"], [
    "segment_tuning",
    "strategy"
  ], ["max_record_bytes"]]
  const bufferNeeds = 2 * maxBytes + backend.max_record_bytes
  const segmentNeeds = 2 * Math.max(maxBytes, backend.max_record_bytes)
  return [
    ...(backend.max_buffered_bytes >= bufferNeeds ? [] : [{
      path: ["max_buffered_bytes"],
      reads,
      rule: `must be at least 2 × max_bytes + max_record_bytes, here ${bufferNeeds} (${formatSize(bufferNeeds)})`
    }]),
    ...(backend.max_segment_bytes >= segmentNeeds ? [] : [{
      path: ["max_segment_bytes"],
      reads,
      rule: `must be at least twice max_bytes and twice max_record_bytes, here ${segmentNeeds} (${
        formatSize(segmentNeeds)
      })`
    }])
  ]
}

const compressionRules = (backend: LogSettings): ReadonlyArray<Problem> => {
  const { level, type } = backend.compression
  if (level === undefined) return []
  const at = { path: ["compression", "level"], reads: [["compression", "type"]] }
  if (type === "none") return [{ ...at, rule: "needs a type: none has no levels" }]
  const { max, min } = compressionLevels[type]
  return level >= min && level <= max ? [] : [{ ...at, rule: `must be a whole number, ${min} to ${max} for ${type}` }]
}

const retentionRules = (backend: LogSettings): ReadonlyArray<Problem> => {
  const { max_age: maxAge, max_bytes: maxBytes, min_age: minAge, policy } = backend.retention
  const reads = [["retention", "policy"]]
  if (policy === "age") {
    if (maxAge === undefined && maxBytes === undefined) {
      return [{
        path: ["retention", "max_age"],
        reads: [...reads, ["retention", "max_bytes"]],
        rule: "is missing; age needs max_age, max_bytes or both"
      }]
    }
    return maxAge !== undefined && Duration.isLessThan(maxAge, minAge)
      ? [{ path: ["retention", "max_age"], reads: [["retention", "min_age"]], rule: "must be at least min_age" }]
      : []
  }
  return [
    ...(maxAge === undefined ? [] : [{ path: ["retention", "max_age"], reads, rule: "needs policy: age" }]),
    ...(maxBytes === undefined ? [] : [{ path: ["retention", "max_bytes"], reads, rule: "needs policy: age" }]),
    ...(policy === "keep" && Duration.isGreaterThan(minAge, Duration.zero)
      ? [{ path: ["retention", "min_age"], reads, rule: "has no effect with keep; remove it" }]
      : [])
  ]
}

const retryRules = (backend: LogSettings): ReadonlyArray<Problem> =>
  Duration.isLessThan(backend.retry.cap, backend.retry.base)
    ? [{ path: ["retry", "cap"], reads: [["retry", "base"]], rule: "must be at least base" }]
    : []

/** Ids that nobody can guess: an object store is shared by all nodes. */
export const identityRules = (backend: LogSettings): ReadonlyArray<Problem> => [
  ...(backend.node_id === undefined
    ? [missing(["node_id"], "give each node its own, for instance \"${HOSTNAME}\"")]
    : []),
  ...(backend.stream_id === undefined ? [missing(["stream_id"], "name the stream")] : [])
]

/** Rules that also hold for the library, whose store is a Layer. Paths start at the backend. */
export const logRules = (backend: LogSettings): ReadonlyArray<Problem> => [
  ...segmentRules(backend),
  ...sizeRules(backend),
  ...compressionRules(backend),
  ...retentionRules(backend),
  ...retryRules(backend)
]

const below = (start: Path) => (problem: Problem): Problem => ({
  ...problem,
  path: [...start, ...problem.path],
  ...(problem.reads === undefined ? {} : { reads: problem.reads.map((path) => [...start, ...path]) })
})

const kindRules = (backend: BackendBlock, kind: BackendKind | undefined): ReadonlyArray<Problem> => {
  const type = missing(["type"], "write type: local or type: object_store")
  if (kind === undefined) return [type, ...identityRules(backend)]
  if (kind === "local") return localRules(backend)
  return [...(backend.type === undefined ? [type] : []), ...storeRules(backend), ...identityRules(backend)]
}

/** The keys that stand in `durability` itself; paths start there. */
const outerRules = (durability: DurabilityBlock, kind: BackendKind | undefined): ReadonlyArray<Problem> => {
  const { backend, path, sync } = durability
  const localPath: Path = ["backend", "local", "path"]
  return [
    ...(sync === undefined || backend.sync === undefined ? syncRules(sync, kind, ["sync"], [["backend", "type"]]) : [{
      path: ["sync"],
      reads: [["backend", "sync"]],
      rule: "is also given in backend.sync; give it once"
    }]),
    ...(path === undefined || kind === "local" ? [] : [{
      path: ["path"],
      reads: [["backend", "type"]],
      rule: "is the older spelling of backend.local.path and belongs to type: local; remove it, or write that type"
    }]),
    ...(path === undefined || kind !== "local" || backend.local?.path === undefined ? [] : [{
      path: ["path"],
      reads: [localPath],
      rule: "is also given in backend.local.path; give it once"
    }]),
    ...(kind !== "local" || path !== undefined || backend.local?.path !== undefined ? [] : [{
      ...missing(localPath, "name the directory"),
      reads: [["path"]]
    }]),
    ...perEntryRules(backend, backend.sync ?? sync).map(below(["backend"]))
  ]
}

/** All rules of a `durability` block that stands at `start`. */
export const durabilityRules = (durability: DurabilityBlock, start: Path): ReadonlyArray<Problem> => {
  const { backend } = durability
  const kind = backendKind(durability)
  const inBackend = [
    ...kindRules(backend, kind),
    ...syncRules(backend.sync, kind, ["sync"], [["type"]]),
    ...budgetRules(backend, kind, backend.sync ?? durability.sync),
    ...singleWriterRules(backend, backend.s3?.conditional_writes ?? "required", [["s3", "conditional_writes"]]),
    ...logRules(backend)
  ]
  return [...inBackend.map(below(["backend"])), ...outerRules(durability, kind)].map(below(start))
}
