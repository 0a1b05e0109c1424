/**
 * The rules between the fields of a configuration file: unique ids, tokens, memory that fits together.
 */
import { durabilityRules } from "@effect-wal/core/config/BackendRules"
import type { Path, Problem } from "@effect-wal/core/config/DecodeTree"
import { backendKind, localIds } from "@effect-wal/core/config/OptionsSchema"
import { formatSize } from "@effect-wal/core/config/SizeText"
import { Duration } from "effect"
import type { FileBlock } from "./ServerSchema.ts"
import type { Environment } from "./Substitution.ts"

/** What the rules need to know besides the file. */
export interface RuleContext {
  readonly env: Environment
  /** `--insecure`: an address that is not loopback may go without tokens. */
  readonly insecure: boolean
}

type Server = FileBlock["server"]
type Token = NonNullable<Server["tokens"]>[number]
type StreamBlock = NonNullable<FileBlock["streams"]>[number]

/** Whether only this machine can reach the address. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)

const isLocal = ({ durability }: StreamBlock): boolean =>
  durability !== undefined && backendKind(durability) === "local"

/** The id of a stream in URLs. */
export const streamIdOf = (stream: StreamBlock): string | undefined =>
  stream.id ?? stream.durability?.backend.stream_id ?? (isLocal(stream) ? localIds.streamId : undefined)

const tokenSources = ["sha256", "file", "env"] as const

const tokenRules = (
  token: Token,
  at: Path,
  context: RuleContext,
  known: ReadonlySet<string>
): ReadonlyArray<Problem> => {
  const given = tokenSources.filter((name) => token[name] !== undefined)
  const reads = tokenSources.map((name) => [...at, name])
  const { env } = token
  const variable = env !== undefined && Object.hasOwn(context.env, env) ? context.env[env] : undefined
  return [
    ...(token.id === undefined ? [{ path: [...at, "id"], rule: "is missing; name the token" }] : []),
    ...(token.scopes === undefined
      ? [{ path: [...at, "scopes"], rule: "is missing; list one or more of read, write, admin" }]
      : []),
    ...(given.length === 1
      ? []
      : [{ path: [...at, given[1] ?? "sha256"], reads, hidden: true, rule: "give exactly one of sha256, file, env" }]),
    ...(given.length === 1 && token.env !== undefined && (variable === undefined || variable.trim() === "")
      ? [{
        path: [...at, "env"],
        rule: `needs the variable ${token.env}, which is ${variable === undefined ? "not set" : "blank"}`
      }]
      : []),
    ...(token.streams ?? []).filter((id) => !known.has(id)).map((id) => ({
      path: [...at, "streams"],
      reads: [["streams"]],
      rule: `names ${id}, which is not a configured stream`
    }))
  ]
}

/** The places whose value stood at an earlier place already; `undefined` values do not count. */
const repeated = (
  values: ReadonlyArray<string | undefined>
): ReadonlyArray<{ readonly index: number; readonly first: number }> =>
  values.flatMap((value, index) => {
    const first = value === undefined ? index : values.indexOf(value)
    return first < index ? [{ index, first }] : []
  })

const serverRules = (file: FileBlock, context: RuleContext): ReadonlyArray<Problem> => {
  const { server } = file
  const tokens = server.tokens ?? []
  const known = new Set((file.streams ?? []).flatMap((stream) => streamIdOf(stream) ?? []))
  const { limits } = server
  return [
    ...tokens.flatMap((token, index) => tokenRules(token, ["server", "tokens", index], context, known)),
    ...repeated(tokens.map((token) => token.id)).map(({ first, index }) => ({
      path: ["server", "tokens", index, "id"],
      rule: `is also the id of server.tokens[${first}]`
    })),
    ...(isLoopback(server.host) || tokens.length > 0 || context.insecure
      ? []
      : [{
        path: ["server", "host"],
        reads: [["server", "tokens"]],
        rule: "can be reached from elsewhere and needs server.tokens; --insecure goes without"
      }]),
    ...(server.tls === undefined ?
      [] :
      (["cert_file", "key_file"] as const).filter((name) => server.tls?.[name] === undefined)
        .map((name) => ({ path: ["server", "tls", name], rule: "is missing; tls needs cert_file and key_file" }))),
    ...(server.otlp === undefined || server.otlp.endpoint !== undefined
      ? []
      : [{ path: ["server", "otlp", "endpoint"], rule: "is missing; otlp needs the URL of a collector" }]),
    ...(Duration.isLessThan(server.drain_delay, server.shutdown_timeout)
      ? []
      : [{
        path: ["server", "drain_delay"],
        reads: [["server", "shutdown_timeout"]],
        rule: "must be shorter than shutdown_timeout, of which it is a part"
      }]),
    ...(limits.max_in_flight_body_bytes >= limits.max_body_bytes
      ? []
      : [{
        path: ["server", "limits", "max_in_flight_body_bytes"],
        reads: [["server", "limits", "max_body_bytes"]],
        rule: "must be at least max_body_bytes"
      }])
  ]
}

const memoryRules = (file: FileBlock): ReadonlyArray<Problem> => {
  const limit = file.server.limits.max_buffered_bytes
  const streams = file.streams ?? []
  const largest = Math.max(0, ...streams.map((stream) => stream.durability?.backend.max_record_bytes ?? 0))
  return limit === undefined || largest <= limit ? [] : [{
    path: ["server", "limits", "max_buffered_bytes"],
    reads: streams.map((_, index) => ["streams", index, "durability", "backend", "max_record_bytes"]),
    rule: `must hold the largest record that a stream takes, here ${largest} (${formatSize(largest)})`
  }]
}

/**
 * Names the log as its metrics do: not where it is. Two streams of one name could be one log, and their numbers would be
 * one another's in any case.
 */
const logName = (stream: StreamBlock): string | undefined => {
  const backend = stream.durability?.backend
  const nodeId = backend?.node_id ?? (isLocal(stream) ? localIds.nodeId : undefined)
  const streamId = backend?.stream_id ?? (isLocal(stream) ? streamIdOf(stream) : undefined)
  return nodeId === undefined || streamId === undefined ? undefined : JSON.stringify([nodeId, streamId])
}

const streamRules = (streams: NonNullable<FileBlock["streams"]>): ReadonlyArray<Problem> => [
  ...streams.flatMap(({ durability }, index) => {
    const at = ["streams", index, "durability"]
    if (durability === undefined) return [{ path: at, rule: "is missing" }]
    return [
      ...(durability.enabled
        ? []
        : [{ path: [...at, "enabled"], rule: "must be true: a stream that keeps nothing is not served" }]),
      ...durabilityRules(durability, at)
    ]
  }),
  ...repeated(streams.map(streamIdOf)).map(({ first, index }) => ({
    path: ["streams", index, "id"],
    reads: [["streams", index, "durability", "backend", "stream_id"]],
    rule: `is the same as that of streams[${first}]; ids are unique`
  })),
  ...repeated(streams.map(logName)).map(({ first, index }) => ({
    path: ["streams", index, "durability", "backend", "stream_id"],
    rule: `is that of streams[${first}], which has the same node_id too: their logs and metrics could not be told apart`
  }))
]

/** All rules between the fields of a decoded file. */
export const fileRules = (file: FileBlock, context: RuleContext): ReadonlyArray<Problem> => [
  ...serverRules(file, context),
  ...(file.streams === undefined || file.streams.length === 0
    ? [{ path: ["streams"], rule: "is missing; give at least one stream" }]
    : streamRules(file.streams)),
  ...memoryRules(file)
]
