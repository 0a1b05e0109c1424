/** One process that walks, and whoever watches that its walks end. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { WalkSums } from "./WalkSums.ts"

const keptErrorBytes = 4_000
const usualPart = 25
/** Loading the code takes no longer than so many walks may. */
const walksOfLoading = 10

export interface WalkProcessSettings {
  /** The tree whose code is walked. */
  readonly root: string
  readonly from: number
  /** Seeds below this one. */
  readonly end: number
  /** Every so many seeds. */
  readonly step: number
  /** Wall clock; no walk starts later. */
  readonly untilMillis: number
  readonly branches: boolean
  /** One walk takes no longer, or the process is killed; absent: nobody looks. */
  readonly walkMillis: number | undefined
  /** A folder for compiled code, so that the next process loads it faster; absent: none is kept. */
  readonly compileCache: string | undefined
  readonly onPart: (part: WalkSums) => void
}

/** How a process ended. */
export interface WalkProcessEnd {
  /** It had loaded the code. */
  readonly isLoaded: boolean
  /** It ended before its time, and not because it was told to: what it said on its standard error. */
  readonly broken: string | undefined
  /** The walk that took too long. */
  readonly endless: number | undefined
}

export interface WalkProcess {
  readonly kill: () => void
  readonly ended: Promise<WalkProcessEnd>
}

export const startWalking = (settings: WalkProcessSettings): WalkProcess => {
  const { branches, compileCache, end, from, root, step, untilMillis, walkMillis } = settings
  // Where walks are watched, each is told of on its own.
  const ofPart = walkMillis === undefined ? usualPart : 1
  const args = [from, end, step, untilMillis, branches ? 1 : 0, ofPart].map(String)
  const child = spawn(process.execPath, [join(root, "scripts", "sim", "sim-child.ts"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }) }
  })
  const kill = () => {
    child.kill("SIGKILL")
  }
  let errors = ""
  let next = from
  let isLoaded = false
  let endless: number | undefined
  const watch = () =>
    walkMillis === undefined ? undefined : setTimeout(() => {
      endless = next
      kill()
    }, isLoaded ? walkMillis : walkMillis * walksOfLoading)
  let watchdog = watch()
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-keptErrorBytes)
  })
  createInterface({ input: child.stdout }).on("line", (line) => {
    // Code that was changed may write there too.
    if (!line.startsWith("{")) return
    clearTimeout(watchdog)
    isLoaded = true
    watchdog = watch()
    const part: WalkSums = JSON.parse(line)
    next += part.walks * step
    settings.onPart(part)
  })
  const ended = new Promise<WalkProcessEnd>((resolve) => {
    child.on("close", (code, signal) => {
      clearTimeout(watchdog)
      const isBroken = code === null ? signal !== "SIGKILL" : code !== 0
      resolve({ isLoaded, endless, broken: isBroken ? `${signal ?? `exit status ${code}`}: ${errors}` : undefined })
    })
  })
  return { kill, ended }
}
