import { join } from "node:path"
import type { Peer } from "./Peer.ts"

/** A key-value store in memory-mapped files, by its asynchronous writes: calls of one turn share a transaction. */
export const lmdb: Peer = {
  name: "lmdb",
  isDurable: true,
  open: async (folder) => {
    const { open } = await import("lmdb")
    const database = open<Uint8Array, number>({ path: join(folder, "data"), encoding: "binary" })
    let last = 0
    return {
      appendDurable: (records) => {
        for (const record of records) void database.put(++last, record)
        // A write is done when it can be read. It is on the disk when this is done.
        return Promise.resolve(database.flushed)
      },
      close: () => database.close()
    }
  }
}
