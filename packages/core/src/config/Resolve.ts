/**
 * From a decoded and checked backend block to the settings that the log and the store are made with.
 */
import type { Duration, Redacted } from "effect"
import type { SegmentOptions, WalOptions } from "../WalOptions.ts"
import { compressionLevels } from "./BackendRules.ts"
import type { BackendBlock, LogSettings } from "./OptionsSchema.ts"
import { presets } from "./Presets.ts"

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

/** Where the objects are. */
export type StoreSettings = S3Settings | DirectorySettings

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
    etagQuoting: s3.etag,
    conditionalWrites: s3.conditional_writes,
    maxSockets: s3.max_sockets
  }
}

/** The store of a checked backend block. */
export const resolveStore = (backend: BackendBlock): StoreSettings =>
  backend.s3 === undefined
    ? {
      type: "directory",
      path: backend.directory?.path ?? "",
      allowNetworkFileSystem: backend.directory?.allow_network_file_system ?? false
    }
    : s3Settings(backend.s3)

/** The segment's limits: the preset, overridden by what is given in either block. */
export const resolveSegment = (backend: LogSettings): SegmentOptions => {
  const { segment, segment_tuning: tuning } = backend
  const preset = presets[tuning.strategy]
  return {
    maxEntries: tuning.max_entries ?? segment?.max_entries ?? preset.maxEntries,
    maxBytes: tuning.max_bytes ?? segment?.max_bytes ?? preset.maxBytes,
    flushInterval: tuning.flush_interval ?? segment?.flush_interval ?? preset.flushInterval,
    linger: tuning.linger ?? preset.linger
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

/**
 * The log's settings of a checked block; `outer` is what stands elsewhere in the file, or is found out by the program.
 */
export const resolveLog = (
  backend: LogSettings,
  outer: {
    readonly conditionalWrites: WalOptions["conditionalWrites"]
    readonly sync?: WalOptions["sync"] | undefined
    readonly host?: string | undefined
  }
): WalOptions => {
  const nodeId = backend.node_id ?? ""
  return {
    nodeId,
    streamId: backend.stream_id ?? "",
    prefix: backend.prefix ?? "",
    segment: resolveSegment(backend),
    parallelPut: {
      workers: backend.parallel_put.workers,
      pipelineDepth: backend.parallel_put.pipeline_depth,
      shutdownTimeout: backend.parallel_put.shutdown_timeout
    },
    compression: resolveCompression(backend),
    cursor: {
      maxEntries: backend.cursor.max_entries,
      interval: backend.cursor.interval,
      maxAhead: backend.cursor.max_ahead
    },
    manifest: { maxSegments: backend.manifest.max_segments, maxDelay: backend.manifest.max_delay },
    retention: resolveRetention(backend, outer.conditionalWrites),
    producers: { max: backend.producers.max, ttl: backend.producers.ttl },
    retry: { base: backend.retry.base, cap: backend.retry.cap },
    sync: backend.sync ?? outer.sync ?? "group_commit",
    conditionalWrites: outer.conditionalWrites,
    maxBufferedBytes: backend.max_buffered_bytes,
    maxRecordBytes: backend.max_record_bytes,
    maxSegmentBytes: backend.max_segment_bytes,
    tailBufferBytes: backend.tail_buffer_bytes,
    prefetch: backend.prefetch,
    openTimeout: backend.open_timeout,
    host: outer.host ?? nodeId
  }
}

/** What is accepted but does not do what it seems to: said at start and by `config print`, never passed over. */
export const backendNotices = (backend: BackendBlock): ReadonlyArray<string> => [
  ...(backend.compression.type === "lz4" && backend.compression.level !== undefined
    ? [`compression.level ${backend.compression.level} changes nothing: the lz4 library has one level`]
    : []),
  ...(backend.s3?.conditional_writes === "single_writer"
    ? ["conditional_writes: single_writer: no protection against a second writer or late requests; nothing is deleted"]
    : []),
  ...(backend.directory === undefined ? [] : ["the directory store does not survive the loss of this machine's disk"])
]
