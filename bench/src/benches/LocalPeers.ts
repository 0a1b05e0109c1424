/** The peers of a local log: opened for a load, left out loudly where they cannot be. */
import { mkdirSync, rmSync } from "node:fs"
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

const folderOf = (context: BenchContext, index: number): string => join(context.folder, `peer-${index}`)

export type PeerAtWork = Peer & OpenPeer

export interface OpenedPeers {
  readonly peers: ReadonlyArray<PeerAtWork>
  /** Who is missing, in words. */
  readonly missing: ReadonlyArray<string>
}

/** Opens all that are there, each in a folder of its own, uses them, ends them. */
export const withPeers = async <A>(context: BenchContext, use: (opened: OpenedPeers) => Promise<A>): Promise<A> => {
  const opened: Array<PeerAtWork> = []
  const missing: Array<string> = []
  try {
    for (const [index, peer] of peers.entries()) {
      const folder = folderOf(context, index)
      mkdirSync(folder)
      try {
        opened.push({ ...peer, ...await peer.open(folder) })
      } catch (cause) {
        missing.push(peer.name)
        context.say(`${peer.name} is left out: ${cause instanceof Error ? cause.message : String(cause)}`)
      }
    }
    return await use({ peers: opened, missing })
  } finally {
    for (const closed of await Promise.allSettled(opened.map((peer) => peer.close()))) {
      if (closed.status === "rejected") context.say(`a peer has not ended in order: ${String(closed.reason)}`)
    }
    for (const index of peers.keys()) rmSync(folderOf(context, index), { recursive: true, force: true })
  }
}
