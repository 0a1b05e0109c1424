/** The servers that are compared, each a process on the same one core. */
import { mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { serverMain } from "../../../scripts/acceptance/Places.ts"
import { writeConfig } from "../../../scripts/acceptance/ServerProcess.ts"
import { startProgram } from "../peers/Program.ts"

/** Something that listens. */
export interface Listening {
  readonly port: number
  /** Seconds that the process has used of its core since it started. */
  readonly cpuSeconds: () => number
  /** At once: there is nothing to lose. */
  readonly stop: () => Promise<void>
}

/** The kernel tells programs the time of processes in steps of this. */
const ticksPerSecond = 100

/** Time in user mode and in the kernel, of all threads: the 14th and the 15th field. */
const cpuSecondsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Starts a server and waits until `ready` knows its port, from what it says on its output. */
const startServer = async (
  command: ReadonlyArray<string>,
  ready: (said: string) => Promise<number | undefined>
): Promise<Listening> => {
  let port: number | undefined
  const { pid, stop } = await startProgram(command, async (said) => {
    port ??= await ready(said)
    return port !== undefined
  })
  return { port: port ?? 0, cpuSeconds: () => cpuSecondsOf(pid), stop: () => stop("SIGKILL") }
}

/** Where a server says that it listens. */
const portIn = (said: string): number | undefined => {
  const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]
  return port === undefined ? undefined : Number(port)
}

const childCommand = (before: ReadonlyArray<string>, name: string) => [
  ...before,
  process.execPath,
  join(import.meta.dirname, name)
]

/** Bare `node:http`. */
export const startBare = (before: ReadonlyArray<string>): Promise<Listening> =>
  startServer(childCommand(before, "bare-child.ts"), async (said) => portIn(said))

/** The stream that our server has. */
export const recordsPath = "/v1/streams/main/records"

const isTaking = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status === 200, () => false)

/** Once the log of the server is open. */
const readyPort = async (said: string): Promise<number | undefined> => {
  const port = portIn(said)
  return port !== undefined && await isTaking(port) ? port : undefined
}

/** Our server, its log in front of a store that takes no time. */
export const startOurs = (before: ReadonlyArray<string>): Promise<Listening> =>
  startServer(childCommand(before, "server-child.ts"), readyPort)

/** What a log may keep on the disk: the oldest goes, so that a long run does not fill it. */
const keptBytes = "512MiB"

/** A free port, for programs that do not choose one themselves. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" ? address?.port ?? 0 : 0))
    })
  })

/** Our server as everybody starts it, with one stream on the disk below the folder. */
export const startLocal = async (before: ReadonlyArray<string>, folder: string): Promise<Listening> => {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const backend = {
    type: "local",
    prefix: undefined,
    local: { path: join(folder, "data") },
    retention: { policy: "age", max_bytes: keptBytes }
  }
  const config = writeConfig(folder, "config", backend, { port })
  const command = [...before, process.execPath, serverMain, "serve", "--config", config]
  return startServer(command, async () => await isTaking(port) ? port : undefined)
}
