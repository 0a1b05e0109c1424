/**
 * Loads the configuration of the server: text, variables, Schema, rules, and one report of everything that is wrong.
 *
 * No request is made and, besides the configuration itself, no file is read.
 */
import { type BackendSettings, resolveDurability } from "@effect-wal/core/config/DecodeBackend"
import { decodeTree, listFields, type Path, type Problem, reportProblems } from "@effect-wal/core/config/DecodeTree"
import { ConfigError } from "@effect-wal/core/WalError"
import { Effect, Result } from "effect"
import { readFile } from "node:fs/promises"
import { hostname } from "node:os"
import type { LogSettings } from "../observe/Logging.ts"
import { otlpOfBlock } from "../observe/OtlpSource.ts"
import type { OtlpSettings } from "../observe/Tracing.ts"
import { defaultLimits } from "../Settings.ts"
import type { ServerSettings, TokenSettings } from "../Settings.ts"
import { type ConfigEntry, listEntries } from "./ConfigPrint.ts"
import { fileRules, isLoopback, streamIdOf } from "./ServerRules.ts"
import { FileBlock } from "./ServerSchema.ts"
import { type Environment, substitute, type Substituted } from "./Substitution.ts"
import { maxSourceLength, parseSource, type Source, type SourceProblem } from "./YamlSource.ts"

/** One stream: its id in URLs, its log's settings and its store. */
export interface StreamConfig extends BackendSettings {
  readonly id: string
}

/** A checked configuration. */
export interface ServerConfig {
  /** The file, or what stands for it. */
  readonly source: string
  readonly settings: ServerSettings
  readonly log: LogSettings
  /** Where spans go, by the file; without it the variables of OpenTelemetry count. */
  readonly otlp: OtlpSettings | undefined
  readonly streams: ReadonlyArray<StreamConfig>
  /** Sentences to log at start: what is accepted but does not do what it seems to. */
  readonly notices: ReadonlyArray<string>
  /** Every value with its origin, secrets redacted; `printConfig` makes text of it. */
  readonly entries: ReadonlyArray<ConfigEntry>
}

/** Where the configuration comes from. */
export interface LoadOptions {
  /** A YAML or JSON file. Without `path` and `text`, the variable `EFFECT_WAL_CONFIG` names it. */
  readonly path?: string
  /** The text itself, instead of a file. */
  readonly text?: string
  /** The variables to substitute. */
  readonly env: Environment
  /** `--host`: listen there instead of at `server.host`, which the notices are about then. */
  readonly host?: string
  /** `--insecure`: listen on an address that is not loopback without tokens. Default false. */
  readonly insecure?: boolean
  /** Reported as the owner of the logs. Default: this machine's name. */
  readonly hostname?: string
}

/** What runs where nothing is configured: one stream, on this machine's disk. */
const defaultSource: Source = {
  tree: {
    streams: [{
      id: "main",
      durability: {
        backend: { type: "local", node_id: "node-0", stream_id: "main", local: { path: "./data" } }
      }
    }]
  },
  lineOf: () => undefined,
  problems: []
}

const fields = listFields(FileBlock.ast)

interface NamedSource {
  readonly name: string
  readonly source: Source
  readonly isDefault: boolean
}

const readSource = (path: string): Effect.Effect<NamedSource, ConfigError> =>
  Effect.tryPromise({
    try: () => readFile(path),
    catch: (cause) => unreadable(path, `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
  }).pipe(
    Effect.flatMap((bytes) => {
      const text = Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
      return bytes.byteLength > 4 * maxSourceLength || Result.isFailure(text)
        ? Effect.fail(unreadable(path, "is not UTF-8 text"))
        : Effect.succeed({ name: path, source: parseSource(text.success), isDefault: false })
    })
  )

const unreadable = (path: string, rule: string): ConfigError =>
  new ConfigError({ source: path, problems: [{ path: "(the whole)", rule }] })

const findSource = (options: LoadOptions): Effect.Effect<NamedSource, ConfigError> => {
  if (options.text !== undefined) {
    return Effect.succeed({
      name: options.path ?? "configuration",
      source: parseSource(options.text),
      isDefault: false
    })
  }
  const named = options.env["EFFECT_WAL_CONFIG"]
  const path = options.path ?? (named === undefined || named.trim() === "" ? undefined : named)
  return path === undefined
    ? Effect.succeed({ name: "default configuration", source: defaultSource, isDefault: true })
    : readSource(path)
}

const tokenSecret = (token: NonNullable<FileBlock["server"]["tokens"]>[number]): TokenSettings["secret"] =>
  token.file !== undefined
    ? { file: token.file }
    : token.env !== undefined
    ? { env: token.env }
    : { sha256: (token.sha256 ?? "").toLowerCase() }

const tokenSettings = (token: NonNullable<FileBlock["server"]["tokens"]>[number]): TokenSettings => ({
  id: token.id ?? "",
  secret: tokenSecret(token),
  scopes: token.scopes ?? [],
  ...(token.streams === undefined ? {} : { streams: token.streams })
})

const serverSettings = (file: FileBlock, streams: ReadonlyArray<StreamConfig>, insecure: boolean): ServerSettings => {
  const { limits, tls, ...server } = file.server
  return {
    host: server.host,
    port: server.port,
    ...(tls?.cert_file === undefined || tls.key_file === undefined
      ? {}
      : { tls: { certFile: tls.cert_file, keyFile: tls.key_file } }),
    ...(server.behind_proxy ? { behindProxy: true } : {}),
    tokens: (server.tokens ?? []).map(tokenSettings),
    insecure,
    limits: {
      maxBodyBytes: limits.max_body_bytes,
      maxBatchRecords: limits.max_batch_records,
      maxInFlightBodyBytes: limits.max_in_flight_body_bytes,
      maxBufferedBytes: limits.max_buffered_bytes ?? defaultLimits.maxBufferedBytes,
      maxHeaderBytes: limits.max_header_bytes,
      maxConnections: limits.max_connections,
      headerTimeout: limits.header_timeout,
      requestTimeout: limits.request_timeout,
      keepAliveTimeout: limits.keep_alive_timeout,
      sendTimeout: limits.send_timeout,
      ackTimeout: limits.ack_timeout,
      roomTimeout: limits.room_timeout,
      maxPageRecords: limits.max_page_records,
      maxPageBytes: limits.max_page_bytes
    },
    storeGrace: server.store_grace,
    drainDelay: server.drain_delay,
    drainTimeout: server.shutdown_timeout,
    streams: streams.map((stream) => stream.id)
  }
}

const noticesOf = (
  file: FileBlock,
  streams: ReadonlyArray<StreamConfig>,
  flagged: string | undefined
): ReadonlyArray<string> => {
  const { behind_proxy: behindProxy, tls } = file.server
  const [source, host] = flagged === undefined ? ["server.host", file.server.host] : ["--host", flagged]
  return [
    ...(isLoopback(host) || tls !== undefined || behindProxy
      ? []
      : [
        `${source} ${host} speaks HTTP without TLS: tokens and records travel in the clear; ` +
        "set tls, or behind_proxy: true"
      ]),
    ...streams.flatMap((stream) => stream.notices.map((notice) => `stream ${stream.id}: ${notice}`))
  ]
}

const hasLine = (problem: Problem): problem is SourceProblem & { readonly line: number } =>
  "line" in problem && typeof problem.line === "number"

/** The report in order of lines; a problem of the text knows its own line. */
const report = (
  name: string,
  source: Source,
  problems: ReadonlyArray<Problem>,
  { conceal, shown }: Substituted
): ConfigError => {
  const lines = problems.map((problem) => hasLine(problem) ? problem.line : source.lineOf(problem.path))
  const reported = reportProblems(problems, { schema: FileBlock, tree: shown }).map((problem, index) => {
    const line = lines[index]
    return { ...problem, rule: conceal(problem.rule), ...(line === undefined ? {} : { line }) }
  })
  return new ConfigError({ source: name, problems: reported.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)) })
}

const startsAt = (start: Path) => (problem: Problem): boolean =>
  start.every((part, index) => part === problem.path[index])

const check = (
  { isDefault, name, source }: NamedSource,
  options: LoadOptions
): Result.Result<ServerConfig, ConfigError> => {
  const substituted = substitute(source.tree, options.env, fields)
  const { conceal, concealed, problems: unresolved, shown, tree, variables } = substituted
  const insecure = options.insecure === true
  const decoded = decodeTree(FileBlock, tree, (file) => fileRules(file, { env: options.env, insecure }))
  const first = [...source.problems, ...unresolved]
  // A text without structure has no fields to report, and a variable that is not there would be reported twice.
  const rest = Result.isSuccess(decoded) || source.problems.some((problem) => problem.path.length === 0)
    ? []
    : decoded.failure.filter((problem) => !unresolved.some((each) => startsAt(each.path)(problem)))
  if (first.length > 0 || Result.isFailure(decoded)) {
    return Result.fail(report(name, source, [...first, ...rest], substituted))
  }
  const file = decoded.success
  const host = options.hostname ?? hostname()
  const streams = (file.streams ?? []).flatMap((stream): ReadonlyArray<StreamConfig> =>
    stream.durability === undefined
      ? []
      : [{ ...resolveDurability(stream.durability, { host, streamId: stream.id }), id: streamIdOf(stream) ?? "" }]
  )
  return Result.succeed({
    source: name,
    settings: serverSettings(file, streams, insecure),
    log: file.server.log,
    otlp: otlpOfBlock(file.server.otlp),
    streams,
    notices: noticesOf(file, streams, options.host).map(conceal),
    entries: listEntries({
      file,
      tree: isDefault ? {} : source.tree,
      fields,
      source: name,
      lineOf: source.lineOf,
      variables,
      shown,
      concealed
    })
  })
}

/**
 * Loads and checks the configuration. Fails `ConfigError`, which names everything that is wrong at once, each with
 * path, rule, line and, where it is no secret, the value; `main` ends with exit code 2 then.
 */
export const loadConfig = (options: LoadOptions): Effect.Effect<ServerConfig, ConfigError> =>
  findSource(options).pipe(Effect.flatMap((source) => Effect.fromResult(check(source, options))))
