/**
 * The one Schema of the `durability` block: names and defaults of the source documents, and the documentation of each
 * field. `docs/configuration.md` is written from it; the library's options are decoded with it too.
 *
 * Each key is optional here; what is required, and what must agree with what, is in `BackendRules.ts`, so that all of
 * it ends in one report.
 */
import { Effect, Schema } from "effect"
import { idRule, isId, isPrefix, prefixRule } from "../LogId.ts"
import { BudgetBlock } from "./BudgetSchema.ts"
import { choice, duration, flag, integer, optional, size, text, withDefault } from "./Field.ts"
import { ProducersBlock } from "./ProducersSchema.ts"
import { LegacySegment, SegmentTuning } from "./SegmentSchema.ts"
import { conditionalWrites, DirectoryBlock, LocalBlock, S3Block, SpoolBlock } from "./StoreSchema.ts"

/** The block, empty when it is left out. */
const block = <T>(self: Schema.Codec<T, object>) => self.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))

const mebibyte = 1_048_576

const ParallelPut = Schema.Struct({
  workers: withDefault(
    integer({
      min: 1,
      max: 8,
      note: "Uploads side by side. More: throughput when latency limits it; more memory and more at risk."
    }),
    1
  ),
  pipeline_depth: withDefault(
    integer({
      min: 1,
      max: 8,
      note: "PUTs in flight for each worker. `workers` times this is the window of slots not confirmed."
    }),
    1
  ),
  shutdown_timeout: withDefault(
    duration({
      min: "1ms",
      max: "1h",
      note: "How long closing may take; what is not stored by then is reported. The server's own " +
        "`shutdown_timeout` also bounds it."
    }),
    "30s"
  ),
  hedge: withDefault(
    choice(["off", "p95", "p99"], {
      note:
        "A PUT that is slower than that share of those of its size is sent once more, with the same key and the same " +
        "bytes; the first definite answer counts. p95: up to 5 % more requests, p99: up to 1 %. Not with `single_writer`."
    }),
    "off"
  )
})

const Compression = Schema.Struct({
  type: withDefault(
    choice(["none", "zstd", "lz4"], {
      note: "The codec of new segments. Stored segments name their own, so it can be changed at any time."
    }),
    "none"
  ),
  level: optional(
    integer({
      min: 0,
      max: 22,
      note: "zstd 0 to 22: higher is smaller and slower. lz4 1 to 16: accepted for compatible " +
        "configuration, but the level " +
        "changes nothing, the lz4 library has one. Not with `none`."
    }),
    "zstd 3, lz4 4"
  ),
  threshold_bytes: withDefault(
    size({
      min: 0,
      max: 256 * mebibyte,
      note: "Smaller segments are stored as they are: packing them costs more than it saves."
    }),
    10_240
  )
})

const Cursor = Schema.Struct({
  max_entries: withDefault(
    integer({
      min: 1,
      max: 1_000_000,
      note: "Records acknowledged before the cursor is stored. More: more is replayed after a crash."
    }),
    1_000
  ),
  interval: withDefault(
    duration({
      min: "1ms",
      max: "365d",
      note: "Longest time before the cursor is stored. Longer: more is replayed after a crash, fewer requests."
    }),
    "1s"
  ),
  max_ahead: withDefault(
    integer({
      min: 1,
      max: 1_000_000,
      note:
        "Ranges acknowledged above the oldest open record; beyond it an ack fails `CursorTooFarAhead`. Bounds memory."
    }),
    10_000
  )
})

const Manifest = Schema.Struct({
  max_segments: optional(
    integer({
      min: 1,
      max: 65_536,
      note: "Segments before the manifest is stored. It is off the ack path: more only makes opening look further."
    }),
    "8; 1024 with type: local"
  ),
  max_delay: withDefault(
    duration({
      min: "1ms",
      max: "1h",
      note: "Longest time before a changed manifest is stored. The source documents have 100ms; that " +
        "saves no requests above 10 segments/s."
    }),
    "10s"
  )
})

const age = (note: string) => duration({ min: "1ms", max: "36500d", note })

const Retention = Schema.Struct({
  policy: optional(
    choice(["committed", "keep", "age"], {
      note: "`committed` deletes what every cursor has passed. `keep` deletes nothing. `age` deletes by " +
        "age or size and ignores cursors."
    }),
    "committed; keep with conditional_writes: single_writer"
  ),
  min_age: withDefault(
    duration({
      min: "0ms",
      max: "36500d",
      note: "Nothing younger is deleted, whatever the policy says. Not with `keep`."
    }),
    "0ms"
  ),
  max_age: optional(age("What is older is deleted. Only with `age`.")),
  max_bytes: optional(
    size({ min: 1, max: 2 ** 50, note: "The oldest is deleted above this many stored bytes. Only with `age`." })
  )
})

const Retry = Schema.Struct({
  base: withDefault(
    duration({
      min: "1ms",
      max: "1h",
      note: "Wait before the first retry of a failed request; doubled for each next one, with jitter."
    }),
    "100ms"
  ),
  cap: withDefault(
    duration({ min: "1ms", max: "1h", note: "Longest wait between two retries. At least `base`." }),
    "5s"
  )
})

const sync = choice(["group_commit", "periodic", "per_entry"], {
  note: "`group_commit` acks when the record is durable and seals as soon as somebody waits. `periodic` " +
    "seals on entries, bytes and the interval only: durable is what the last seal covered. `per_entry`, only with " +
    "`type: local`, gives each record a segment and a sync of its own. Either in `durability` or in `backend`."
})

/** The ids of a local log that are not given: nobody else shares its disk. */
export const localIds = { nodeId: "node-0", streamId: "main" } as const

/** What the log itself is told, whatever the store. */
const logFields = {
  node_id: optional(
    text({
      range: idRule,
      test: isId,
      note: "The node. Required with `type: object_store`. Two writers with the same ids fence each other."
    }),
    `${localIds.nodeId} with type: local`
  ),
  stream_id: optional(
    text({ range: idRule, test: isId, note: "The stream. Required with `type: object_store`." }),
    `the id of the stream with type: local, else ${localIds.streamId}`
  ),
  prefix: optional(
    text({ range: prefixRule, test: isPrefix, note: "What all keys start with, before node and stream." }),
    "none"
  ),
  segment_tuning: block(SegmentTuning),
  budget: Schema.optionalKey(BudgetBlock),
  parallel_put: block(ParallelPut),
  compression: block(Compression),
  cursor: block(Cursor),
  manifest: block(Manifest),
  retention: block(Retention),
  producers: block(ProducersBlock),
  retry: block(Retry),
  sync: optional(sync, "group_commit"),
  max_buffered_bytes: withDefault(
    size({
      min: 1,
      max: 2 ** 40,
      note: "Memory for records not yet durable: open, queued and in flight. Append waits when it is " +
        "full. At least 2 × the " +
        "segment's `max_bytes` + `max_record_bytes`."
    }),
    "256MiB"
  ),
  max_record_bytes: withDefault(
    size({ min: 1, max: 256 * mebibyte, note: "Largest record; a larger one fails `RecordTooLarge`." }),
    "16MiB"
  ),
  max_segment_bytes: withDefault(
    size({
      min: 1_024,
      max: 1_024 * mebibyte,
      note:
        "Largest unpacked segment that a reader takes: a guard against damaged or hostile objects. At least twice " +
        "`max_record_bytes` and twice the segment's `max_bytes`."
    }),
    "64MiB"
  ),
  tail_buffer_bytes: withDefault(
    size({
      min: 0,
      max: 2 ** 40,
      note: "Recent durable records kept for live readers, who need no requests while they keep up."
    }),
    "16MiB"
  ),
  prefetch: withDefault(
    integer({ min: 1, max: 256, note: "Segments fetched ahead of a reader. More: faster recovery, more memory." }),
    16
  ),
  open_timeout: withDefault(
    duration({
      min: "1ms",
      max: "1h",
      note: "How long opening may take before it fails `OpenTimeout`; nothing is half-done then."
    }),
    "60s"
  )
}

/** `durability.backend`. */
export const BackendBlock = Schema.Struct({
  type: optional(
    choice(["object_store", "local"], {
      note: "`object_store`: objects in a bucket (`s3`) or in a directory that processes can share (`directory`); a " +
        "newer writer takes over. `local`: append-only files of one process on this machine's disk; the quickest. " +
        "Required, except where `local` or `durability.path` stands."
    })
  ),
  local: Schema.optionalKey(LocalBlock),
  s3: Schema.optionalKey(S3Block),
  directory: Schema.optionalKey(DirectoryBlock),
  ...logFields,
  segment: Schema.optionalKey(LegacySegment),
  spool: Schema.optionalKey(SpoolBlock)
})

const libraryFields = {
  ...logFields,
  conditional_writes: withDefault(conditionalWrites, "required"),
  host: optional(text({ note: "Reported as the owner of the log to whoever is fenced by it." }), "the node id")
}

/** The options of the library, whose store is a Layer; the names of the file, `ResolveOptions.ts` turns them. */
export const LogBlock = Schema.Struct(libraryFields)

/** The options of the library for a log on this machine's disk. */
export const LocalLogBlock = Schema.Struct({ ...libraryFields, local: block(LocalBlock) })

/** The decoded part that library and file share; `segment` comes from the file only. */
export type LogSettings = Omit<typeof LogBlock.Type, "conditional_writes" | "host"> & Pick<BackendBlock, "segment">

/** A decoded `durability.backend`, before the rules between its fields. */
export type BackendBlock = typeof BackendBlock.Type

/** `durability`. */
export const DurabilityBlock = Schema.Struct({
  enabled: withDefault(
    flag({ note: "`false` is refused by the server: a stream that keeps nothing is not served." }),
    true
  ),
  path: optional(text({ note: "The older spelling of `backend.local.path`." }), "see backend.local.path"),
  sync: optional(sync, "group_commit"),
  backend: block(BackendBlock)
})

/** A decoded `durability`, before the rules between its fields. */
export type DurabilityBlock = typeof DurabilityBlock.Type

/** What keeps a log. */
export type BackendKind = NonNullable<BackendBlock["type"]>

/** The type that is given, or that the blocks beside it mean; `undefined` where nothing says it. */
export const backendKind = ({ backend, path }: DurabilityBlock): BackendKind | undefined => {
  if (backend.type !== undefined) return backend.type
  if (backend.s3 !== undefined || backend.directory !== undefined) return "object_store"
  return backend.local !== undefined || path !== undefined ? "local" : undefined
}
