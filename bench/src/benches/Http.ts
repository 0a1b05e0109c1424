/**
 * Appending over HTTP, on one core: what the server makes of what the runtime can do, and what others make of the core.
 *
 * The goals are held against a log in front of a store that takes no time, as a bare server keeps nothing either; what a disk
 * adds is told beside it.
 */
import { join } from "node:path"
import type { Bench, BenchContext } from "../Bench.ts"
import { findCores } from "../http/Cores.ts"
import { connections, type Load, type LoadProcess, startLoad } from "../http/LoadProcess.ts"
import { type HttpPeer, startNats, startRedis } from "../http/Peers.ts"
import { batch, batchRequest, recordRequest } from "../http/Requests.ts"
import { type Listening, startBare, startLocal, startOurs } from "../http/Servers.ts"
import type { Measurement } from "../Line.ts"
import { type Contender, type Results, takeTurns } from "../Rounds.ts"
import { pairedRatios, spreadOf } from "../Stats.ts"

const goal = 0.5

/** A client that is as busy as this may be what is measured. */
const busyShare = 0.95

const names = {
  bare: "node:http",
  durable: "server, durable",
  accepted: "server, accepted",
  local: "server, durable on the disk",
  redis: "Redis XADD",
  nats: "NATS JetStream",
  bareBatch: "node:http that splits lines",
  batch: "server, batches",
  localBatch: "server, batches on the disk"
} as const

interface Servers {
  readonly bare: Listening
  readonly ours: Listening
  readonly local: Listening
  readonly redis: HttpPeer | undefined
  readonly nats: HttpPeer | undefined
}

/** Starts all of them, uses them, ends them. A peer that cannot be had is left out, and that is said. */
const withServers = async <A>(
  context: BenchContext,
  before: ReadonlyArray<string>,
  use: (servers: Servers) => Promise<A>
): Promise<A> => {
  const started: Array<Pick<Listening, "stop">> = []
  const starting = async <S extends Pick<Listening, "stop">>(server: Promise<S>): Promise<S> => {
    started.push(await server)
    return server
  }
  const peer = (name: string, server: Promise<HttpPeer>) =>
    starting(server).catch((cause: unknown) => {
      context.say(`${name} is left out: ${cause instanceof Error ? cause.message : String(cause)}`)
      return undefined
    })
  try {
    return await use({
      bare: await starting(startBare(before)),
      ours: await starting(startOurs(before)),
      local: await starting(startLocal(before, join(context.folder, "local"))),
      redis: await peer(names.redis, startRedis({ before, folder: join(context.folder, "redis") })),
      nats: await peer(names.nats, startNats({ before, folder: join(context.folder, "nats") }))
    })
  } finally {
    for (const { stop } of started) await stop()
  }
}

/** What rounds tell besides their rate. */
interface Told {
  /** Microseconds of the server's core for an answer, by contender and round; the first round warms up. */
  readonly cpuMicros: Map<string, Array<number>>
  /** How busy the client was at most. */
  clientShare: number
}

interface Asked {
  readonly name: string
  readonly server: Listening | undefined
  readonly load: Load
}

const contender = (client: LoadProcess, told: Told, { load, name, server }: Asked): Contender => ({
  name,
  unit: "answers/s",
  round: async (millis) => {
    const cpuBefore = server?.cpuSeconds() ?? 0
    const { answers, answersPerSecond, clientShare } = await client.run(load, millis)
    told.clientShare = Math.max(told.clientShare, clientShare)
    if (server !== undefined) {
      const rounds = told.cpuMicros.get(name) ?? []
      told.cpuMicros.set(name, [...rounds, (server.cpuSeconds() - cpuBefore) / answers * 1e6])
    }
    return answersPerSecond
  }
})

/** Batches onto the disk are left out where there is little time: they are told beside the goals, and no more. */
const contendersOf = (
  client: LoadProcess,
  told: Told,
  { bare, local, nats, ours, redis }: Servers,
  isQuick: boolean
) => {
  const http = (name: string, server: Listening, request: string): Contender =>
    contender(client, told, { name, server, load: { port: server.port, protocol: "http", request } })
  const peer = (name: string, found: HttpPeer | undefined): ReadonlyArray<Contender> =>
    found === undefined ? [] : [contender(client, told, { name, server: undefined, load: found.load })]
  return [
    http(names.bare, bare, recordRequest()),
    http(names.durable, ours, recordRequest()),
    http(names.accepted, ours, recordRequest("?ack=accepted")),
    http(names.local, local, recordRequest()),
    ...peer(names.redis, redis),
    ...peer(names.nats, nats),
    http(names.bareBatch, bare, batchRequest),
    http(names.batch, ours, batchRequest),
    ...isQuick ? [] : [http(names.localBatch, local, batchRequest)]
  ]
}

const setting = `${connections} connections with one request each; server and peers on one core, the client on another`

const ratios = (results: Results): ReadonlyArray<Measurement> => {
  const ratio = (name: string, floor: string, note: string): Measurement => ({
    metric: `${name}, against ${floor}`,
    value: results.ratio(name, floor),
    unit: "x",
    better: "higher",
    goal,
    floor: results.named(floor),
    note: `${note}; the store takes no time; ${setting}`
  })
  return [
    ratio(names.durable, names.bare, "a POST of 1 KiB, answered when it is durable"),
    ratio(names.accepted, names.bare, "a POST of 1 KiB, answered when it is accepted"),
    ratio(
      names.batch,
      names.bareBatch,
      `${batch} × 1 KiB as NDJSON, each line checked to be JSON, answered when durable`
    )
  ]
}

/** The same by what a processor does for an answer, which says more on a machine that is shared. */
const processor = ({ cpuMicros }: Told): ReadonlyArray<Measurement> => {
  const rounds = (name: string) => cpuMicros.get(name)?.slice(1) ?? []
  const line = (name: string, floor: string): Measurement => ({
    metric: `${name}, processor for an answer`,
    value: spreadOf(pairedRatios(rounds(name), rounds(floor))),
    unit: "x",
    better: "lower",
    floor: { name: floor, value: spreadOf(rounds(floor)).median, unit: "µs" }
  })
  return [line(names.durable, names.bare), line(names.accepted, names.bare), line(names.batch, names.bareBatch)]
}

/** What a disk adds, and what others make of the same core. */
const beside = (results: Results, { nats, redis }: Servers, isQuick: boolean): ReadonlyArray<Measurement> => {
  const missing = [...redis === undefined ? [names.redis] : [], ...nats === undefined ? [names.nats] : []]
  const leftOut = missing.length === 0 ? "" : `; left out, as missing: ${missing.join(", ")}`
  const rate = (name: string, note: string): Measurement => ({
    metric: name,
    value: results.spread(name),
    unit: "answers/s",
    better: "higher",
    note
  })
  const against = (name: string, peer: string, note: string): Measurement => ({
    metric: `${name}, against ${peer}`,
    value: results.ratio(name, peer),
    unit: "x",
    better: "higher",
    peer: results.named(peer),
    note
  })
  return [
    rate(
      names.local,
      `as \`serve\` runs it with \`type: local\`: synced before the answer, a line logged for each segment${leftOut}`
    ),
    ...isQuick ? [] : [rate(names.localBatch, `${batch} × 1 KiB a request, of which the disk is a part`)],
    ...(redis === undefined
      ? []
      : [against(names.local, names.redis, "appendfsync always: both answer what is on the disk; no pipelining")]),
    ...(nats === undefined
      ? []
      : [
        against(
          names.accepted,
          names.nats,
          "neither waits for a sync; NATS writes its files, ours has a store of no time"
        )
      ])
  ]
}

export const http: Bench = {
  name: "http",
  about: `appending over HTTP on one core, 1 KiB a request and batches of ${batch}, against bare node:http`,
  run: async (context) => {
    const cores = findCores()
    if (cores.problem !== undefined) context.say(`${cores.problem}: servers and client share all cores`)
    const client = startLoad(cores.client)
    try {
      return await withServers(context, cores.server, async (servers) => {
        const told: Told = { cpuMicros: new Map(), clientShare: 0 }
        const results = await takeTurns(context, contendersOf(client, told, servers, context.quick))
        if (told.clientShare > busyShare) {
          context.say(
            `the client used ${Math.round(told.clientShare * 100)} % of its core: it may be what was measured`
          )
        }
        return [...ratios(results), ...processor(told), ...beside(results, servers, context.quick)]
      })
    } finally {
      await client.stop()
    }
  }
}
