import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Peer } from "./Peer.ts"
import { startProgram } from "./Program.ts"

const sockets = 16

/** Redis keeps what it has in memory; the file that it appends to is never rewritten here, nor are snapshots taken. */
const settings = ["--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0", "--save", ""]

/** XADD over several connections; those of a call go over one of them, all before the first is answered. */
export const redisStreams: Peer = {
  name: "Redis Streams",
  isDurable: true,
  open: async (folder) => {
    const { Redis } = await import("ioredis")
    const path = join(folder, "redis.sock")
    const place = ["--port", "0", "--unixsocket", path, "--dir", folder]
    const server = await startProgram(["redis-server", ...place, ...settings], async () => existsSync(path))
    const clients = Array.from({ length: sockets }, () => new Redis({ path }))
    let nth = 0
    return {
      appendDurable: (records) => {
        const client = clients[nth++ % sockets]
        return Promise.all(
          records.map(({ buffer, byteOffset, length }) =>
            client?.xadd("log", "*", "payload", Buffer.from(buffer, byteOffset, length))
          )
        )
      },
      close: async () => {
        for (const client of clients) client.disconnect()
        await server.stop("SIGKILL")
      }
    }
  }
}
