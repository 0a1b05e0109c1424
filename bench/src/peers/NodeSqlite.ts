import { join } from "node:path"
import { GroupCommit } from "../support/GroupCommit.ts"
import type { Peer } from "./Peer.ts"

const setup = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE log (seq INTEGER PRIMARY KEY, payload BLOB NOT NULL)`

/**
 * SQLite as the runtime has it. It stands for better-sqlite3 too: the same engine, synchronous in the same way. Calls that
 * wait share a transaction, which SQLite does not do by itself: one for each call is many times slower.
 */
export const nodeSqlite: Peer = {
  name: "SQLite",
  isDurable: true,
  open: async (folder) => {
    const { DatabaseSync } = await import("node:sqlite")
    const database = new DatabaseSync(join(folder, "log.db"))
    database.exec(setup)
    const insert = database.prepare("INSERT INTO log (payload) VALUES (?)")
    const group = new GroupCommit(async (records) => {
      database.exec("BEGIN")
      for (const record of records) insert.run(record)
      database.exec("COMMIT")
    })
    return { appendDurable: (records) => group.append(records), close: async () => database.close() }
  }
}
