/** What a user would pick instead, on the same core, with when it answers. */
import { mkdirSync } from "node:fs"
import { connect as connectSocket } from "node:net"
import { startProgram } from "../peers/Program.ts"
import type { Load } from "./LoadProcess.ts"
import { natsRequest, redisRequest } from "./Requests.ts"
import { freePort } from "./Servers.ts"

/** A peer that is running. */
export interface HttpPeer {
  readonly load: Load
  readonly stop: () => Promise<void>
}

/** Where it is started: `before` puts it on its core, `folder` is its own. */
export interface Place {
  readonly before: ReadonlyArray<string>
  readonly folder: string
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectSocket(port, "127.0.0.1")
    socket.once("error", () => resolve(false)).once("connect", () => {
      socket.destroy()
      resolve(true)
    })
  })

/** Redis that answers once its file is synced. */
export const startRedis = async ({ before, folder }: Place): Promise<HttpPeer> => {
  mkdirSync(folder)
  const port = await freePort()
  const place = ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder]
  const settings = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
  const { stop } = await startProgram([...before, "redis-server", ...place, ...settings], () => listens(port))
  return { load: { port, protocol: "redis", request: redisRequest }, stop: () => stop("SIGKILL") }
}

/** What NATS may keep on the disk. */
const keptBytes = 536_870_912

/** JetStream with files: it answers before they are synced. */
export const startNats = async ({ before, folder }: Place): Promise<HttpPeer> => {
  const { connect } = await import("@nats-io/transport-node")
  const { jetstreamManager, StorageType } = await import("@nats-io/jetstream")
  const port = await freePort()
  const place = ["--addr", "127.0.0.1", "--port", String(port), "--store_dir", folder]
  const { stop } = await startProgram([...before, "nats-server", "--jetstream", ...place], () => listens(port))
  const peer = { load: { port, protocol: "nats", ...natsRequest }, stop: () => stop("SIGKILL") } as const
  try {
    const connection = await connect({ servers: `127.0.0.1:${port}` })
    const manager = await jetstreamManager(connection)
    await manager.streams.add({ name: "LOG", subjects: ["log"], storage: StorageType.File, max_bytes: keptBytes })
    await connection.close()
    return peer
  } catch (cause) {
    await peer.stop()
    throw cause
  }
}
