/**
 * From a decoded and checked backend block to the settings that the log and the store are made with.
 */
import { Duration, type Redacted } from "effect"
import type { CodecName } from "../codec/Compression.ts"
import type { SegmentOptions, WalOptions } from "../WalOptions.ts"
import { compressionLevels } from "./BackendRules.ts"
import { resolveBudget } from "./BudgetRules.ts"
import { type BackendBlock, type BackendKind, localIds, type LogSettings } from "./OptionsSchema.ts"
import { presets } from "./Presets.ts"
import { defaultMaxFileBytes } from "./StoreSchema.ts"

/** A secret, or the file that holds it. */
export type SecretSource = { readonly value: Redacted.Redacted } | { readonly file: string }

/** Credentials that the configuration names; without them the default chain of the SDK is asked. */
export interface CredentialSources {
  readonly accessKeyId: SecretSource
  readonly secretAccessKey: SecretSource
  readonly sessionToken?: SecretSource
}

/** The `s3` block, resolved; what is absent is left to the S3 store. */
export interface S3Settings {
  readonly type: "s3"
  readonly bucket: string
  readonly region?: string
  readonly endpoint?: string
  readonly forcePathStyle?: boolean
  readonly credentials?: CredentialSources
  readonly encryption?: { readonly type: "AES256" } | { readonly type: "aws:kms"; readonly kmsKeyId?: string }
  readonly attemptDeadline: Duration.Duration
  readonly smallRequestDeadline: Duration.Duration
  readonly connectTimeout: Duration.Duration
  readonly checksums: "when_supported" | "when_required"
  readonly putPath: "direct" | "sdk"
  readonly unsignedPayload: "over_tls" | "always"
  readonly etagQuoting: "auto" | "quoted" | "unquoted"
  readonly conditionalWrites: "required" | "single_writer"
  readonly maxSockets: number
}

/** The `directory` block, resolved. */
export interface DirectorySettings {
  readonly type: "directory"
  readonly path: string
  readonly allowNetworkFileSystem: boolean
}

/** The `local` block, resolved. */
export interface LocalSettings {
  readonly type: "local"
  readonly path: string
  readonly maxFileBytes: number
}

/** Where the log is kept. */
export type StoreSettings = S3Settings | DirectorySettings | LocalSettings

/** The `spool` block, resolved. */
export interface SpoolSettings {
  readonly path: string
  readonly maxBytes: number
  /** Spooling starts when a PUT has failed or has been under way so long. */
  readonly after: Duration.Duration
}

const source = (value: Redacted.Redacted | undefined, file: string | undefined): SecretSource | undefined =>
  value !== undefined ? { value } : file !== undefined ? { file } : undefined

const credentialsOf = (s3: NonNullable<BackendBlock["s3"]>): CredentialSources | undefined => {
  const accessKeyId = source(s3.access_key_id, s3.access_key_id_file)
  const secretAccessKey = source(s3.secret_access_key, s3.secret_access_key_file)
  const sessionToken = source(s3.session_token, s3.session_token_file)
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

const s3Settings = (s3: NonNullable<BackendBlock["s3"]>): S3Settings => {
  const credentials = credentialsOf(s3)
  const kms = s3.kms_key_id === undefined ? {} : { kmsKeyId: s3.kms_key_id }
  return {
    type: "s3",
    bucket: s3.bucket ?? "",
    ...(s3.region === undefined ? {} : { region: s3.region }),
    ...(s3.endpoint === undefined ? {} : { endpoint: s3.endpoint }),
    ...(s3.path_style === undefined ? {} : { forcePathStyle: s3.path_style }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(s3.encryption === undefined
      ? {}
      : { encryption: s3.encryption === "AES256" ? { type: s3.encryption } : { type: s3.encryption, ...kms } }),
    attemptDeadline: s3.attempt_deadline,
    smallRequestDeadline: s3.small_request_deadline,
    connectTimeout: s3.connect_timeout,
    checksums: s3.checksums,
    putPath: s3.put_path,
    unsignedPayload: s3.unsigned_payload,
    etagQuoting: s3.etag,
    conditionalWrites: s3.conditional_writes,
    maxSockets: s3.max_sockets
  }
}

/** The store of a checked backend block; `path` is the older spelling of that of a local log. */
export const resolveStore = (backend: BackendBlock, kind: BackendKind, path: string | undefined): StoreSettings =>
  kind === "local"
    ? {
      type: "local",
      path: backend.local?.path ?? path ?? "",
      maxFileBytes: backend.local?.max_file_bytes ?? defaultMaxFileBytes
    }
    : backend.s3 === undefined
    ? {
      type: "directory",
      path: backend.directory?.path ?? "",
      allowNetworkFileSystem: backend.directory?.allow_network_file_system ?? false
    }
    : s3Settings(backend.s3)

/** The spool of a checked backend block. */
export const resolveSpool = ({ spool }: BackendBlock): SpoolSettings | undefined =>
  spool === undefined ? undefined : { path: spool.path ?? "", maxBytes: spool.max_bytes, after: spool.after }

/** What is told beside the log's own block, or found out by the program. */
export interface OuterSettings {
  readonly kind: BackendKind
  readonly conditionalWrites: WalOptions["conditionalWrites"]
  readonly sync?: LogSettings["sync"]
  readonly host?: string | undefined
  /** What a local log is called whose `stream_id` is not given. */
  readonly streamId?: string | undefined
}

/** Segments before the manifest is stored: on a local disk the next opening finds them with one pass over a file. */
const manifestMaxSegments: Readonly<Record<BackendKind, number>> = { object_store: 8, local: 1_024 }

/** The segment's limits: the preset, overridden by what is given in either block. */
const resolveSegment = (backend: LogSettings, sync: LogSettings["sync"], kind: BackendKind): SegmentOptions => {
  const { segment, segment_tuning: tuning } = backend
  const preset = presets[tuning.strategy]
  return {
    maxEntries: sync === "per_entry" ? 1 : tuning.max_entries ?? segment?.max_entries ?? preset.maxEntries,
    maxBytes: tuning.max_bytes ?? segment?.max_bytes ?? preset.maxBytes,
    flushInterval: tuning.flush_interval ?? segment?.flush_interval ?? preset.flushInterval,
    linger: tuning.linger ?? (kind === "local" ? Duration.zero : preset.linger)
  }
}

const resolveCompression = (backend: LogSettings): WalOptions["compression"] => {
  const { level, threshold_bytes: thresholdBytes, type } = backend.compression
  return type === "none"
    ? { type, thresholdBytes }
    : { type, level: level ?? compressionLevels[type].default, thresholdBytes }
}

const resolveRetention = (
  backend: LogSettings,
  conditionalWrites: WalOptions["conditionalWrites"]
): WalOptions["retention"] => {
  const { max_age: maxAge, max_bytes: maxBytes, min_age: minAge, policy } = backend.retention
  return {
    policy: policy ?? (conditionalWrites === "single_writer" ? "keep" : "committed"),
    minAge,
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(maxBytes === undefined ? {} : { maxBytes })
  }
}

const idsOf = (backend: LogSettings, outer: OuterSettings): Pick<WalOptions, "nodeId" | "streamId"> =>
  outer.kind === "local"
    ? {
      nodeId: backend.node_id ?? localIds.nodeId,
      streamId: backend.stream_id ?? outer.streamId ?? localIds.streamId
    }
    : { nodeId: backend.node_id ?? "", streamId: backend.stream_id ?? "" }

/** The log's settings of a checked block. `sync: per_entry` becomes segments of one record. */
export const resolveLog = (backend: LogSettings, outer: OuterSettings): WalOptions => {
  const ids = idsOf(backend, outer)
  const sync = backend.sync ?? outer.sync ?? "group_commit"
  return {
    ...ids,
    prefix: backend.prefix ?? "",
    segment: resolveSegment(backend, sync, outer.kind),
    ...resolveBudget(backend.budget),
    parallelPut: {
      workers: backend.parallel_put.workers,
      pipelineDepth: backend.parallel_put.pipeline_depth,
      shutdownTimeout: backend.parallel_put.shutdown_timeout,
      hedge: backend.parallel_put.hedge
    },
    compression: resolveCompression(backend),
    cursor: {
      maxEntries: backend.cursor.max_entries,
      interval: backend.cursor.interval,
      maxAhead: backend.cursor.max_ahead
    },
    manifest: {
      maxSegments: backend.manifest.max_segments ?? manifestMaxSegments[outer.kind],
      maxDelay: backend.manifest.max_delay
    },
    retention: resolveRetention(backend, outer.conditionalWrites),
    producers: { max: backend.producers.max, ttl: backend.producers.ttl },
    retry: { base: backend.retry.base, cap: backend.retry.cap },
    sync: sync === "per_entry" ? "group_commit" : sync,
    conditionalWrites: outer.conditionalWrites,
    maxBufferedBytes: backend.max_buffered_bytes,
    maxRecordBytes: backend.max_record_bytes,
    maxSegmentBytes: backend.max_segment_bytes,
    tailBufferBytes: backend.tail_buffer_bytes,
    prefetch: backend.prefetch,
    openTimeout: backend.open_timeout,
    host: outer.host ?? ids.nodeId
  }
}

/** A level that was given and changes nothing. */
export const compressionNotices = (
  { level, type = "none" }: { readonly level?: number | undefined; readonly type?: CodecName | undefined }
): ReadonlyArray<string> =>
  type === "lz4" && level !== undefined
    ? [`compression.level ${level} changes nothing: the lz4 library has one level`]
    : []

/** What is accepted but does not do what it seems to: said at start and by `config print`, never passed over. */
export const backendNotices = (backend: BackendBlock, kind: BackendKind): ReadonlyArray<string> => [
  ...compressionNotices(backend.compression),
  ...(backend.s3?.conditional_writes === "single_writer"
    ? ["conditional_writes: single_writer: no protection against a second writer or late requests; nothing is deleted"]
    : []),
  ...(backend.directory === undefined ? [] : ["the directory store does not survive the loss of this machine's disk"]),
  ...(kind === "local" ? ["the local log does not survive the loss of this machine's disk"] : [])
]
