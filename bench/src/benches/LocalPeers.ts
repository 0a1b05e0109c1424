/** The peers of a local log: opened for a load, left out loudly where they cannot be. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { BenchContext } from "../Bench.ts"
import { classicLevel } from "../peers/ClassicLevel.ts"
import { lmdb } from "../peers/Lmdb.ts"
import { natsJetStream } from "../peers/NatsJetStream.ts"
import { nodeSqlite } from "../peers/NodeSqlite.ts"
import type { OpenPeer, Peer } from "../peers/Peer.ts"
import { postgres } from "../peers/Postgres.ts"
import { redisStreams } from "../peers/RedisStreams.ts"

const peers: ReadonlyArray<Peer> = [lmdb, redisStreams, nodeSqlite, classicLevel, postgres, natsJetStream]

export type PeerAtWork = Peer & OpenPeer

export interface OpenedPeers {
  readonly peers: ReadonlyArray<PeerAtWork>
  /** Who is missing, in words. */
  readonly missing: ReadonlyArray<string>
}

/** Opens all that are there, each in a folder of its own below this one, uses them, ends them. */
export const withPeers = async <A>(
  context: BenchContext,
  folder: string,
  use: (opened: OpenedPeers) => Promise<A>
): Promise<A> => {
  const opened: Array<PeerAtWork> = []
  const missing: Array<string> = []
  try {
    for (const [index, peer] of peers.entries()) {
      const own = join(folder, `peer-${index}`)
      mkdirSync(own, { recursive: true })
      try {
        opened.push({ ...peer, ...await peer.open(own) })
      } catch (cause) {
        missing.push(peer.name)
        context.say(`${peer.name} is left out: ${cause instanceof Error ? cause.message : String(cause)}`)
      }
    }
    return await use({ peers: opened, missing })
  } finally {
    for (const peer of opened) await peer.close()
  }
}
