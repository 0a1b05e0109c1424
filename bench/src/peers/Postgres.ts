import { GroupCommit } from "../support/GroupCommit.ts"
import type { Peer } from "./Peer.ts"
import { postgresUser, startPostgres } from "./PostgresServer.ts"

const connections = 2

/** Rows of one statement: it takes at most 65,535 parameters. */
const maxRows = 1_000

const rows = (count: number): string => Array.from({ length: count }, (_, index) => `($${index + 1})`).join(",")

/** A cluster of its own with all that makes a commit durable switched on, as it comes. Calls that wait share an insert. */
export const postgres: Peer = {
  name: "PostgreSQL",
  isDurable: true,
  open: async (folder) => {
    const { default: { Pool } } = await import("pg")
    const server = await startPostgres(folder)
    const pool = new Pool({ host: folder, user: postgresUser, database: "postgres", max: connections })
    const close = async () => {
      await pool.end()
      await server.stop("SIGINT")
    }
    await pool.query("CREATE TABLE log (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload bytea NOT NULL)")
    const insert = async (records: ReadonlyArray<Uint8Array>) => {
      for (let start = 0; start < records.length; start += maxRows) {
        const values = records.slice(start, start + maxRows)
        const text = `INSERT INTO log (payload) VALUES ${rows(values.length)}`
        await pool.query({ name: `insert-${values.length}`, text, values })
      }
    }
    const group = new GroupCommit(insert)
    return { appendDurable: (records) => group.append(records), close }
  }
}
