/**
 * The Schema of the whole configuration file: `server` and `streams`.
 */
import { formatDuration } from "@effect-wal/core/config/DurationText"
import {
  choice,
  decimal,
  duration,
  field,
  flag,
  integer,
  optional,
  refused,
  secret,
  size,
  text,
  withDefault
} from "@effect-wal/core/config/Field"
import { DurabilityBlock } from "@effect-wal/core/config/OptionsSchema"
import { idRule, isId } from "@effect-wal/core/LogId"
import { Effect, Result, Schema } from "effect"
import { logFormats, logLevels } from "../observe/Logging.ts"
import { endpointRule, headersRule, isEndpoint, parseHeaders } from "../observe/OtlpSource.ts"
import { otlpProtocols } from "../observe/Tracing.ts"
import { defaultLimits } from "../Settings.ts"

const limit = (options: { readonly min: number; readonly max: number; readonly note: string }, byDefault: number) =>
  withDefault(size(options), byDefault)

const wait = (byDefault: Parameters<typeof formatDuration>[0], note: string) =>
  withDefault(duration({ min: "1ms", max: "1h", note }), formatDuration(byDefault))

const mebibyte = 1_048_576

const LimitsBlock = Schema.Struct({
  max_body_bytes: limit(
    { min: 1_024, max: 1_024 * mebibyte, note: "Largest body of a request, packed and unpacked; beyond it 413." },
    defaultLimits.maxBodyBytes
  ),
  max_batch_records: withDefault(
    integer({
      min: 1,
      max: 1_000_000,
      note: "Most records of a request; beyond it 413. Higher: fewer requests for small records. Lower: less memory, " +
        "a few hundred bytes a record until the request is appended, and less time in which others wait."
    }),
    defaultLimits.maxBatchRecords
  ),
  max_in_flight_body_bytes: limit(
    {
      min: 1_024,
      max: 2 ** 40,
      note:
        "Memory for the bodies of all requests together, and for their records; beyond it 503, but for a request that is " +
        "alone. The pages that are being sent may take as much again. At least `max_body_bytes`."
    },
    defaultLimits.maxInFlightBodyBytes
  ),
  max_buffered_bytes: optional(
    size({
      min: 1,
      max: 2 ** 50,
      note:
        "Memory for the records of all streams that are not yet durable, beside each stream's own bound; at least the largest `max_record_bytes`."
    }),
    "only each stream's own bound"
  ),
  max_header_bytes: limit(
    { min: 1_024, max: mebibyte, note: "Largest head of a request; beyond it 431." },
    defaultLimits.maxHeaderBytes
  ),
  max_connections: withDefault(
    integer({ min: 1, max: 1_000_000, note: "Connections at a time; the next one is closed at once." }),
    defaultLimits.maxConnections
  ),
  header_timeout: wait(
    defaultLimits.headerTimeout,
    "From the first byte of a request to the end of its head; beyond it 408. A TLS handshake has as long."
  ),
  request_timeout: wait(
    defaultLimits.requestTimeout,
    "From the first byte of a request to the end of its body; beyond it 408."
  ),
  keep_alive_timeout: wait(
    defaultLimits.keepAliveTimeout,
    "How long an idle connection stays open; longer than the load balancer's own, which must close first."
  ),
  send_timeout: wait(
    defaultLimits.sendTimeout,
    "How long a client may take nothing of its answer before the connection ends. Shorter: less for clients that read " +
      "nothing to hold on to."
  ),
  ack_timeout: wait(
    defaultLimits.ackTimeout,
    "How long an append waits for durability before it answers 504 with its range; the records go on to be stored."
  ),
  room_timeout: wait(
    defaultLimits.roomTimeout,
    "How long an append waits for room in the buffer before it answers 503."
  ),
  max_page_records: withDefault(
    integer({ min: 1, max: 1_000_000, note: "Most records in one answer." }),
    defaultLimits.maxPageRecords
  ),
  max_page_bytes: limit(
    { min: 1, max: 1_024 * mebibyte, note: "An answer ends with the record that passes this." },
    defaultLimits.maxPageBytes
  )
})

const scopeNames = ["read", "write", "admin"] as const
const isScope = Schema.is(Schema.Literals(scopeNames))

const scopes = field(
  Schema.Array(Schema.Literals(scopeNames)),
  { kind: "list", range: "a list of read, write, admin", note: "What the token allows. Required." },
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isScope)
      ? Result.succeed(value)
      : Result.fail("must be a list of one or more of read, write, admin")
)

const streamIds = field(
  Schema.Array(Schema.String),
  { kind: "list", range: "a list of stream ids", note: "Only these streams." },
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string" && isId(each))
      ? Result.succeed(value)
      : Result.fail("must be a list of one or more stream ids")
)

const TokenBlock = Schema.Struct({
  id: optional(text({ range: idRule, test: isId, note: "Names the token in logs. Required, unique." })),
  sha256: optional(
    text({
      kind: "secret",
      range: "must be 64 hexadecimal digits",
      test: (value) => /^[0-9a-fA-F]{64}$/.test(value),
      note: "SHA-256 of the token. One of `sha256`, `file`, `env`."
    })
  ),
  file: optional(text({ note: "A file with the token; read again on SIGHUP." })),
  env: optional(
    text({
      range: "must be the name of a variable",
      test: (value) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(value),
      note: "A variable with the token."
    })
  ),
  scopes: optional(scopes),
  streams: optional(streamIds, "all")
})

const LogBlock = Schema.Struct({
  format: withDefault(
    choice(logFormats, {
      note: "`json`: one object a line, for collectors. The flags `--log-format` and `--json` win."
    }),
    "text"
  ),
  level: withDefault(
    choice(logLevels, {
      note:
        "The least grave lines that are written; `debug` shows each segment that is sealed. The flag `--log-level` wins."
    }),
    "info"
  )
})

const OtlpBlock = Schema.Struct({
  endpoint: optional(
    text({
      kind: "url",
      range: endpointRule,
      test: isEndpoint,
      note:
        "The base URL of an OTLP collector over HTTP; `/v1/traces` is added. Required in `otlp`. Without the block the " +
        "variable `OTEL_EXPORTER_OTLP_ENDPOINT` and its relatives count."
    })
  ),
  headers: optional(
    secret({
      range: headersRule,
      test: (value) => parseHeaders(value) !== undefined,
      note: "Sent with each request to the collector, as `api-key=${OTLP_KEY}`."
    })
  ),
  protocol: withDefault(choice(otlpProtocols, { note: "How spans are encoded." }), "http/json"),
  service_name: withDefault(text({ note: "`service.name` of the spans." }), "effect-wal"),
  sample_ratio: withDefault(
    decimal({
      min: 0,
      max: 1,
      note:
        "Share of the requests without a `traceparent` that are traced. Tracing costs throughput: traced requests do " +
        "not take the short way."
    }),
    1
  )
})

const ServerBlock = Schema.Struct({
  host: withDefault(
    text({
      range: "must be a host name or an address",
      test: (value) => /^[A-Za-z0-9.:_-]+$/.test(value),
      note: "The address to listen on. Any but a loopback one needs `tokens`, or the flag `--insecure`."
    }),
    "127.0.0.1"
  ),
  port: withDefault(integer({ min: 0, max: 65_535, note: "0 takes any free port." }), 8_180),
  tokens: Schema.optionalKey(Schema.Array(TokenBlock)),
  tls: Schema.optionalKey(Schema.Struct({
    cert_file: optional(text({ note: "The certificate chain, PEM. Required in `tls`." })),
    key_file: optional(text({ note: "Its private key, PEM. Required in `tls`." }))
  })),
  behind_proxy: withDefault(
    flag({
      note:
        "Something in front of the server ends TLS: no notice that tokens travel in the clear, and requests may name " +
        "any host. No header of a proxy is believed, `X-Forwarded-*` neither."
    }),
    false
  ),
  log: LogBlock.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  otlp: Schema.optionalKey(OtlpBlock),
  limits: LimitsBlock.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  store_grace: withDefault(
    duration({
      min: "0ms",
      max: "1d",
      note: "How long PUTs may fail before readyz answers 503. Longer: fewer flaps. Shorter: traffic moves away sooner."
    }),
    "30s"
  ),
  drain_delay: withDefault(
    duration({
      min: "0ms",
      max: "1h",
      note: "From SIGTERM until appends are refused, for load balancers that notice late; a part of " +
        "`shutdown_timeout`. 3s suits Kubernetes."
    }),
    "0ms"
  ),
  shutdown_timeout: withDefault(
    duration({
      min: "1ms",
      max: "1h",
      note: "From SIGTERM until the process ends; below the 30 s after which Kubernetes kills."
    }),
    "25s"
  )
})

const engine = (name: string): string =>
  `${name} belongs to the engine of the source documents; this version has no ${name}, ` +
  "records come in and go out over HTTP"

const StreamBlock = Schema.Struct({
  id: optional(text({ range: idRule, test: isId, note: "The stream in URLs. Unique." }), "backend.stream_id"),
  durability: Schema.optionalKey(DurabilityBlock),
  input: refused(engine("input")),
  pipeline: refused(engine("pipeline")),
  output: refused(engine("output"))
})

/** A configuration file. */
export const FileBlock = Schema.Struct({
  server: ServerBlock.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  streams: Schema.optionalKey(Schema.Array(StreamBlock))
})

/** A decoded file, before the rules between its fields. */
export type FileBlock = typeof FileBlock.Type
