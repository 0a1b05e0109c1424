/**
 * The rules of a log on this machine's disk, and of the kinds of `sync`, which only such a log has all of.
 *
 * Pure; each rule names the places that it reads, as in `BackendRules.ts`.
 */
import type { Path, Problem } from "./DecodeTree.ts"
import type { BackendBlock, BackendKind, LogSettings } from "./OptionsSchema.ts"

/** What a report says of a key that has to be given. */
export const missing = (path: Path, what: string): Problem => ({ path, rule: `is missing; ${what}` })

const oneWorker: ReadonlyArray<
  readonly [name: string, value: (parallel: LogSettings["parallel_put"]) => string | number, only: string | number]
> = [
  ["workers", (parallel) => parallel.workers, 1],
  ["pipeline_depth", (parallel) => parallel.pipeline_depth, 1],
  ["hedge", (parallel) => parallel.hedge, "off"]
]

/** A file is appended to by one worker, in order. Paths start at the backend. */
export const localWorkerRules = (backend: LogSettings): ReadonlyArray<Problem> =>
  oneWorker.filter(([, value, only]) => value(backend.parallel_put) !== only).map(([name, , only]) => ({
    path: ["parallel_put", name],
    reads: [["type"]],
    rule: `must be ${only} with type: local: its files are written by one worker, in order`
  }))

/** The rules of a backend block of `type: local`. Paths start at the backend. */
export const localRules = (backend: BackendBlock): ReadonlyArray<Problem> => {
  const away = (["s3", "directory"] as const).filter((name) => backend[name] !== undefined).map((name) => ({
    path: [name],
    reads: [["type"]],
    rule: "does not go with type: local; remove it, or write type: object_store"
  }))
  return [
    ...away,
    ...(backend.spool === undefined ? [] : [{
      path: ["spool"],
      reads: [["type"]],
      rule: "does not go with type: local, whose segments are on this disk already; remove it"
    }]),
    ...localWorkerRules(backend)
  ]
}

/** `per_entry` is refused for an object store, wherever it stands; `at` is the place and `reads` the type's. */
export const syncRules = (
  sync: LogSettings["sync"],
  kind: BackendKind | undefined,
  at: Path,
  reads: ReadonlyArray<Path>
): ReadonlyArray<Problem> =>
  sync === "per_entry" && kind !== "local"
    ? [{
      path: at,
      reads,
      rule: "per_entry cannot be had from an object store: it would be one PUT for each record; use " +
        "group_commit with the low_latency preset, or type: local"
    }]
    : []

/** `per_entry` says how many records a segment has: one. Paths start at the backend. */
export const perEntryRules = (backend: LogSettings, sync: LogSettings["sync"]): ReadonlyArray<Problem> =>
  sync !== "per_entry" ? [] : (["segment", "segment_tuning"] as const)
    .filter((block) => backend[block]?.max_entries !== undefined)
    .map((block) => ({
      path: [block, "max_entries"],
      reads: [["sync"]],
      rule: "does not go with sync: per_entry, which gives each record a segment of its own; remove one of the two"
    }))
