/** Starts the store of the benchmarks, asks it what it has seen, ends it. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import type { Latency } from "./Latency.ts"

export interface StoreSettings {
  readonly latency: Latency
  /** Of each connection; absent: what the machine does. */
  readonly megabytesPerSecond?: number
  /** Segments can be read back; else only their size is kept. */
  readonly keepsSegments: boolean
  readonly seed?: number
}

/** Requests since the last look. */
export interface StoreCounts {
  PUT: number
  GET: number
  LIST: number
  DELETE: number
  /** Of the GETs: whole segments, and headers of segments. */
  segments: number
  headers: number
  bodyBytes: number
}

export interface StoreProcess {
  readonly endpoint: string
  readonly counts: () => Promise<StoreCounts>
  /** From now on it answers so. */
  readonly setLatency: (latency: Latency) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Starts a store, uses it, stops it. */
export const withStore = async <A>(
  settings: StoreSettings,
  use: (store: StoreProcess) => Promise<A>
): Promise<A> => {
  const store = await startStore(settings)
  try {
    return await use(store)
  } finally {
    await store.stop()
  }
}

const startStore = async (settings: StoreSettings): Promise<StoreProcess> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "store-child.ts"), JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim()))
    child.once("error", reject)
    child.once("close", (code) => reject(new Error(`the store has ended with ${code}`)))
  })
  const endpoint = `http://127.0.0.1:${port}`
  const counts = async (): Promise<StoreCounts> => JSON.parse(await (await fetch(`${endpoint}/_counts`)).text())
  return {
    endpoint,
    counts,
    setLatency: async (latency) => {
      await fetch(`${endpoint}/_latency`, { method: "POST", body: JSON.stringify(latency) })
    },
    stop: async () => {
      child.stdin.end()
      await ended
    }
  }
}
