/** A PostgreSQL of its own in a folder, on a socket there: for benchmarks, and for the tests of the examples. */
import { chmodSync, chownSync, existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Program, type RunAs, runProgram, startProgram } from "./Program.ts"

/** Where Debian puts each version: not in the path of programs. */
const versions = "/usr/lib/postgresql"

const programFolder = (): string => {
  const newest = existsSync(versions)
    ? readdirSync(versions).toSorted((a, b) => Number(a) - Number(b)).at(-1)
    : undefined
  return newest === undefined ? "" : join(versions, newest, "bin")
}

/** Whether this machine has one. */
export const hasPostgres = (): boolean => existsSync(join(programFolder(), "initdb"))

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

/** The user of the cluster, whom it trusts. */
export const postgresUser = "bench"

/**
 * Starts a cluster with all that makes a commit durable switched on, as it comes, and waits until it answers. It listens on
 * a socket in `folder`, which must be empty; root lets others pass through the folder above.
 */
export const startPostgres = async (folder: string): Promise<Program> => {
  const programs = programFolder()
  const data = join(folder, "data")
  const runAs = await userFor(folder)
  await runProgram([join(programs, "initdb"), "-D", data, "-U", postgresUser, "--auth=trust", "--no-sync"], runAs)
  const settings = ["listen_addresses=", `unix_socket_directories=${folder}`, "synchronous_commit=on", "fsync=on"]
  return startProgram(
    [join(programs, "postgres"), "-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    () => runProgram([join(programs, "pg_isready"), "-q", "-h", folder]).then(() => true, () => false),
    runAs
  )
}
