/** The program of a peer, for as long as a benchmark needs it. */
import { spawn, type SpawnOptions } from "node:child_process"
import { once } from "node:events"
import { nowMillis, pause } from "../../../scripts/acceptance/Run.ts"

export interface Program {
  readonly pid: number
  /** Ends it, with this signal where `SIGTERM` would wait for somebody. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>
}

/** Longest wait for a program to be ready, and between two looks. */
const readyWithinMillis = 20_000
const lookMillis = 10

/** The user that programs run as which refuse to be root. */
export type RunAs = Pick<SpawnOptions, "gid" | "uid">

/** Starts a program and waits until it is ready, which may show in what it said last. Fails where it is missing or ends before, with what it said last. */
export const startProgram = async (
  command: ReadonlyArray<string>,
  isReady: (said: string) => Promise<boolean>,
  runAs: RunAs = {}
): Promise<Program> => {
  const [program = "", ...args] = command
  let said = ""
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...runAs })
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-1_000)
    })
  }
  await once(child, "spawn")
  const isRunning = () => child.exitCode === null && child.signalCode === null
  // Not even where this process ends in the middle.
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)
  const stop: Program["stop"] = async (signal = "SIGTERM") => {
    process.removeListener("exit", kill)
    if (!isRunning()) return
    const ended = once(child, "close")
    child.kill(signal)
    await ended
  }
  const until = nowMillis() + readyWithinMillis
  while (!(await isReady(said))) {
    if (isRunning() && nowMillis() < until) {
      await pause(lookMillis)
      continue
    }
    await stop("SIGKILL")
    throw new Error(`${program} does not get ready: ${lastLine(said)}`)
  }
  return { pid: child.pid ?? 0, stop }
}

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? ""

/** Runs a program to its end. Fails where it is missing or ends with an error, with what it said last. */
export const runProgram = async (command: ReadonlyArray<string>, runAs: RunAs = {}): Promise<string> => {
  const [program = "", ...args] = command
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...runAs })
  let said = ""
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => {
      said += text
    })
  }
  const [code] = await once(child, "close")
  if (code !== 0) throw new Error(`${program} has ended with ${code}: ${lastLine(said)}`)
  return said
}
