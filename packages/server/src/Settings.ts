/** What the server needs to know, resolved: every field present, sizes in bytes, durations as `Duration`. */
import { Context, Duration } from "effect"

/** What a request may use. */
export interface Limits {
  /** Largest body of one request, packed and unpacked, bytes. */
  readonly maxBodyBytes: number
  /** Most records of one request. */
  readonly maxBatchRecords: number
  /**
   * What the bodies of all requests in flight, with their records, may hold together, bytes; beyond is `overloaded`. The
   * pages of records that are being sent may hold as much again.
   */
  readonly maxInFlightBodyBytes: number
  /** What the records of all streams that are not durable may hold together, beside each stream's own bound, bytes. */
  readonly maxBufferedBytes: number
  /** Largest request head, bytes. */
  readonly maxHeaderBytes: number
  /** Connections at a time; the next one is closed at once. */
  readonly maxConnections: number
  /** From the first byte of a request to the end of its head; of a connection to the end of its TLS handshake. */
  readonly headerTimeout: Duration.Duration
  /** From the first byte of a request to the end of its body. */
  readonly requestTimeout: Duration.Duration
  /** How long an idle connection stays open; above the 60 s of common load balancers, which must close first. */
  readonly keepAliveTimeout: Duration.Duration
  /** How long a client may take nothing of its answer before the connection ends. */
  readonly sendTimeout: Duration.Duration
  /** How long an append or a flush waits for durability before it answers 504. */
  readonly ackTimeout: Duration.Duration
  /** How long an append waits for room in the buffer before it answers 503. */
  readonly roomTimeout: Duration.Duration
  /** Most records in one answer. */
  readonly maxPageRecords: number
  /** An answer ends with the record that passes this, bytes. */
  readonly maxPageBytes: number
}

/** What a token allows. */
export type TokenScope = "read" | "write" | "admin"

/** One bearer token; exactly one of `sha256`, `file`, `env` says what it is. */
export interface TokenSettings {
  /** Names the token in logs. */
  readonly id: string
  readonly secret:
    /** SHA-256 of the token, 64 hexadecimal digits. */
    | { readonly sha256: string }
    /** A file with the token; white space around it does not count. */
    | { readonly file: string }
    /** An environment variable with the token. */
    | { readonly env: string }
  readonly scopes: ReadonlyArray<TokenScope>
  /** Only these streams; absent: all. */
  readonly streams?: ReadonlyArray<string>
}

/** The server's own settings; how a stream is opened is `LogOpener`'s. */
export interface ServerSettings {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** PEM files. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  /** Something in front of the server takes the requests, under whatever names it has. No header of it is believed. */
  readonly behindProxy?: boolean
  readonly tokens: ReadonlyArray<TokenSettings>
  /** Allows an address that is not loopback without tokens. */
  readonly insecure: boolean
  readonly limits: Limits
  /** How long PUTs may fail before a stream counts as not ready. */
  readonly storeGrace: Duration.Duration
  /** From the signal until appends are refused, for load balancers that are slow to notice; part of `drainTimeout`. */
  readonly drainDelay: Duration.Duration
  /** From the signal until the process ends, below Kubernetes' 30 s. */
  readonly drainTimeout: Duration.Duration
  /** The streams to open, by id. */
  readonly streams: ReadonlyArray<string>
}

/** The limits where nothing else is configured. */
export const defaultLimits: Limits = {
  maxBodyBytes: 33_554_432,
  maxBatchRecords: 100_000,
  maxInFlightBodyBytes: 268_435_456,
  maxBufferedBytes: Number.POSITIVE_INFINITY,
  maxHeaderBytes: 16_384,
  maxConnections: 10_000,
  headerTimeout: Duration.seconds(10),
  requestTimeout: Duration.seconds(60),
  keepAliveTimeout: Duration.seconds(75),
  sendTimeout: Duration.seconds(60),
  ackTimeout: Duration.seconds(30),
  roomTimeout: Duration.seconds(5),
  maxPageRecords: 10_000,
  maxPageBytes: 8_388_608
}

/** The settings of this process. */
export class Settings extends Context.Service<Settings, ServerSettings>()("@effect-wal/server/Settings") {}
