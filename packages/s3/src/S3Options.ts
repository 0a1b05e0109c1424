/**
 * Where the bucket is and how to talk to it.
 *
 * Durations are per HTTP request and come from Effect's `Clock`; the SDK's own time-outs stand behind them, twice as
 * long, and only ever act when a fiber cannot.
 */
import { ConfigError } from "@effect-wal/core/WalError"
import { Duration, Effect, Option, Redacted, Schema } from "effect"

/** A key pair, with the token that session credentials need. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  readonly sessionToken?: Redacted.Redacted
}

/** A provider could not name credentials. `detail` is for people and must not hold a secret. */
export class S3CredentialsError extends Schema.TaggedError<S3CredentialsError>()("S3CredentialsError", {
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

/**
 * Credentials that change: asked once, then again whenever the store says that those in use have expired. Where it
 * fails, or takes longer than `smallRequestDeadline`, requests fail `CredentialsUnavailable` and the next one asks again.
 */
export interface S3CredentialsProvider {
  readonly provider: Effect.Effect<S3Credentials, S3CredentialsError>
}

/** Server-side encryption. With `aws:kms`, `kmsKeyId` names the key; absent, the account's default key is used. */
export type S3Encryption =
  | { readonly type: "AES256" }
  | { readonly type: "aws:kms"; readonly kmsKeyId?: string }

/** A bucket and how it is reached. Only `bucket` is required. */
export interface S3Options {
  readonly bucket: string
  /** Absent: from the environment or the profile, or `us-east-1` where an endpoint is given. */
  readonly region?: string
  /** `http://host:port` or `https://…` of a store other than AWS. Absent: AWS. */
  readonly endpoint?: string
  /** The bucket in the path instead of in the host name. Default: true with an endpoint, false on AWS. */
  readonly forcePathStyle?: boolean
  /** Absent: the SDK's chain (environment, profile, web identity, container, instance). */
  readonly credentials?: S3Credentials | S3CredentialsProvider
  readonly encryption?: S3Encryption
  /**
   * Longest wait for a whole PUT or GET, body included. Default 30 s, at most 1 h. Too low, and a slow link never gets
   * a segment through; too high, and a dead connection holds one up for so long.
   */
  readonly attemptDeadline?: Duration.Input
  /** The same for requests without an object body: listing, removing, looking. Default 15 s, at most 1 h. */
  readonly smallRequestDeadline?: Duration.Input
  /** Longest wait for a new connection. Default 5 s, at most 1 h. */
  readonly connectTimeout?: Duration.Input
  /** `when_required` sends no checksum header: for stores that refuse them with 501. Default `when_supported`. */
  readonly checksums?: "when_supported" | "when_required"
  /**
   * `direct` (default) sends PUTs with the SDK's credentials, signer and connections, but not through its middleware,
   * which takes more of the processor than all else that a segment needs. `sdk` sends them as every other request.
   */
  readonly putPath?: "direct" | "sdk"
  /**
   * When a direct PUT leaves its body out of its signature: `over_tls` (default), or `always`. Without TLS the signature
   * then proves who sends and not what; the CRC-32 in its headers still finds accidents, and half of the processor's work
   * for a PUT is saved. For networks that are trusted.
   */
  readonly unsignedPayload?: "over_tls" | "always"
  /** How a tag is written in `If-Match`: `auto` (default) sends it as it came and finds out what the store wants. */
  readonly etagQuoting?: "auto" | "quoted" | "unquoted"
  /** `single_writer` sends writes without their condition: only where a store has none. Default `required`. */
  readonly conditionalWrites?: "required" | "single_writer"
  /** Most connections at once, 1 to 4,096; requests beyond wait inside their deadline. Default 128. */
  readonly maxSockets?: number
}

/** The options with every default filled in. */
export interface ResolvedS3Options {
  readonly bucket: string
  readonly region: string | undefined
  readonly endpoint: string | undefined
  readonly forcePathStyle: boolean
  readonly credentials: S3Credentials | S3CredentialsProvider | undefined
  readonly encryption: S3Encryption | undefined
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

/** What stands where an option is left out. */
export const s3Defaults = {
  attemptDeadline: Duration.seconds(30),
  smallRequestDeadline: Duration.seconds(15),
  connectTimeout: Duration.seconds(5),
  checksums: "when_supported",
  putPath: "direct",
  unsignedPayload: "over_tls",
  etagQuoting: "auto",
  conditionalWrites: "required",
  maxSockets: 128
} as const

const maxDuration = Duration.hours(1)

interface Problem {
  readonly path: string
  readonly rule: string
  readonly value?: string
}

const endpointProblem = (endpoint: string | undefined): ReadonlyArray<Problem> => {
  if (endpoint === undefined) return []
  const rule = "must be an http or https URL without user, path or query"
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  const good = url !== undefined && (url.protocol === "http:" || url.protocol === "https:") && url.pathname === "/" &&
    url.search === "" && url.username === "" && url.password === ""
  // The value is left out: somebody may have written a password into it.
  return good ? [] : [{ path: "s3.endpoint", rule }]
}

const durationOf = (input: Duration.Input | undefined, fallback: Duration.Duration): Duration.Duration | undefined => {
  const duration = input === undefined ? fallback : Option.getOrUndefined(Duration.fromInput(input))
  if (duration === undefined) return undefined
  return Duration.toMillis(duration) >= 1 && Duration.isLessThanOrEqualTo(duration, maxDuration) ? duration : undefined
}

const bucketPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/

const problemsOf = (options: S3Options): ReadonlyArray<Problem> => {
  const problems: Array<Problem> = [...endpointProblem(options.endpoint)]
  if (!bucketPattern.test(options.bucket)) {
    problems.push({
      path: "s3.bucket",
      rule: "must be a bucket's name: letters, digits, `.`, `_`, `-`",
      value: options.bucket
    })
  }
  if (options.region === "") problems.push({ path: "s3.region", rule: "must not be empty" })
  for (const name of ["attemptDeadline", "smallRequestDeadline", "connectTimeout"] as const) {
    if (durationOf(options[name], s3Defaults[name]) === undefined) {
      problems.push({ path: `s3.${name}`, rule: "must be a duration from 1 ms to 1 h" })
    }
  }
  const sockets = options.maxSockets ?? s3Defaults.maxSockets
  if (!Number.isInteger(sockets) || sockets < 1 || sockets > 4096) {
    problems.push({ path: "s3.maxSockets", rule: "must be an integer from 1 to 4096", value: String(sockets) })
  }
  const inline = options.credentials
  if (inline !== undefined && !("provider" in inline)) {
    if (inline.accessKeyId.trim() === "" || Redacted.value(inline.secretAccessKey).trim() === "") {
      problems.push({ path: "s3.credentials", rule: "must have an access key id and a secret access key" })
    }
  }
  return problems
}

/** Fills in the defaults. Fails `ConfigError` with every broken rule at once, before any request. */
export const resolveS3Options = (options: S3Options): Effect.Effect<ResolvedS3Options, ConfigError> => {
  const problems = problemsOf(options)
  if (problems.length > 0) return Effect.fail(new ConfigError({ source: "S3 options", problems }))
  return Effect.succeed({
    bucket: options.bucket,
    region: options.region ?? (options.endpoint === undefined ? undefined : "us-east-1"),
    endpoint: options.endpoint,
    forcePathStyle: options.forcePathStyle ?? options.endpoint !== undefined,
    credentials: options.credentials,
    encryption: options.encryption,
    attemptDeadline: durationOf(options.attemptDeadline, s3Defaults.attemptDeadline) ?? s3Defaults.attemptDeadline,
    smallRequestDeadline: durationOf(options.smallRequestDeadline, s3Defaults.smallRequestDeadline) ??
      s3Defaults.smallRequestDeadline,
    connectTimeout: durationOf(options.connectTimeout, s3Defaults.connectTimeout) ?? s3Defaults.connectTimeout,
    checksums: options.checksums ?? s3Defaults.checksums,
    putPath: options.putPath ?? s3Defaults.putPath,
    unsignedPayload: options.unsignedPayload ?? s3Defaults.unsignedPayload,
    etagQuoting: options.etagQuoting ?? s3Defaults.etagQuoting,
    conditionalWrites: options.conditionalWrites ?? s3Defaults.conditionalWrites,
    maxSockets: options.maxSockets ?? s3Defaults.maxSockets
  })
}

/** `s3://host/bucket`: the same for every layer on one bucket, whatever its credentials or time-outs. */
export const storeId = (options: ResolvedS3Options): string =>
  `s3://${options.endpoint === undefined ? "s3.amazonaws.com" : new URL(options.endpoint).host}/${options.bucket}`
