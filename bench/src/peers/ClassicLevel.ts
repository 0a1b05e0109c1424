import { join } from "node:path"
import { GroupCommit } from "../support/GroupCommit.ts"
import type { Peer } from "./Peer.ts"

/** Digits of a key, so that the order of keys is that of numbers. */
const keyDigits = 16

/** LevelDB. Calls that wait share a batch. */
export const classicLevel: Peer = {
  name: "classic-level",
  isDurable: true,
  open: async (folder) => {
    const { ClassicLevel } = await import("classic-level")
    const database = new ClassicLevel<string, Uint8Array>(join(folder, "data"), { valueEncoding: "view" })
    await database.open()
    let last = 0
    const group = new GroupCommit((records) =>
      database.batch(
        records.map((value) => ({ type: "put", key: String(++last).padStart(keyDigits, "0"), value })),
        { sync: true }
      )
    )
    return { appendDurable: (records) => group.append(records), close: () => database.close() }
  }
}
