import { chmodSync, chownSync, existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { GroupCommit } from "../support/GroupCommit.ts"
import type { Peer } from "./Peer.ts"
import { type RunAs, runProgram, startProgram } from "./Program.ts"

/** Where Debian puts each version: not in the path of programs. */
const versions = "/usr/lib/postgresql"

const programFolder = (): string => {
  const newest = existsSync(versions)
    ? readdirSync(versions).toSorted((a, b) => Number(a) - Number(b)).at(-1)
    : undefined
  return newest === undefined ? "" : join(versions, newest, "bin")
}

/** PostgreSQL does not run as root; its files are then those of the user that Debian made for it. */
const userFor = async (folder: string): Promise<RunAs> => {
  if (process.getuid?.() !== 0) return {}
  const [uid = 0, gid = 0] = await Promise.all(
    ["-u", "-g"].map(async (which) => Number(await runProgram(["id", which, "postgres"])))
  )
  chownSync(folder, uid, gid)
  chmodSync(dirname(folder), 0o711)
  return { uid, gid }
}

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
    const programs = programFolder()
    const data = join(folder, "data")
    const runAs = await userFor(folder)
    await runProgram([join(programs, "initdb"), "-D", data, "-U", "bench", "--auth=trust", "--no-sync"], runAs)
    const settings = ["listen_addresses=", `unix_socket_directories=${folder}`, "synchronous_commit=on", "fsync=on"]
    const pool = new Pool({ host: folder, user: "bench", database: "postgres", max: connections })
    const server = await startProgram(
      [join(programs, "postgres"), "-D", data, ...settings.flatMap((setting) => ["-c", setting])],
      () => pool.query("SELECT 1").then(() => true, () => false),
      runAs
    )
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
