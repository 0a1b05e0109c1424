import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Peer } from "./Peer.ts"
import { startProgram } from "./Program.ts"

const subject = "log"

/** Where the server says that it listens; it chooses the port. */
const addressIn = (folder: string): string => {
  const file = readdirSync(folder).find((name) => name.endsWith(".ports"))
  const ports = file === undefined ? { nats: [] } : JSON.parse(readFileSync(join(folder, file), "utf8"))
  return String(ports.nats?.[0] ?? "")
}

/** JetStream with files. Each record is a message of its own, all of a call are sent before the first answer. */
export const natsJetStream: Peer = {
  name: "NATS JetStream",
  isDurable: false,
  note: "its answer does not wait for a sync: what it has answered in the last two minutes can be lost with the power",
  open: async (folder) => {
    const { connect } = await import("@nats-io/transport-node")
    const { jetstream, jetstreamManager, StorageType } = await import("@nats-io/jetstream")
    const place = ["--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir", folder, "--store_dir", folder]
    const server = await startProgram(["nats-server", "--jetstream", ...place], async () => addressIn(folder) !== "")
    const connection = await connect({ servers: addressIn(folder) })
    const manager = await jetstreamManager(connection)
    await manager.streams.add({ name: "LOG", subjects: [subject], storage: StorageType.File })
    const stream = jetstream(connection)
    return {
      appendDurable: (records) => Promise.all(records.map((record) => stream.publish(subject, record))),
      close: async () => {
        await connection.close()
        await server.stop()
      }
    }
  }
}
