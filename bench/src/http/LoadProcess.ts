/** The client of the benchmark, in a process of its own: the same one for every server. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import type { Protocol } from "./Replies.ts"

/** What is asked of a server, again and again, on each of some connections: one request at a time. */
export interface Load {
  readonly port: number
  readonly protocol: Protocol
  /** Sent once on a new connection, and what the answer to that ends with; `{n}` is the number of the connection. */
  readonly greeting?: { readonly text: string; readonly answer: string }
  /** The request, base64. */
  readonly request: string
  /** In front of it, with `{n}` as in the greeting. */
  readonly head?: string
}

/** How many connections there are. */
export const connections = 64

/** What the child is told. */
export interface LoadOrder extends Load {
  readonly connections: number
  readonly millis: number
}

/** What came of it. */
export interface LoadResult {
  readonly answers: number
  readonly answersPerSecond: number
  /** How much of its core the client used, 0 to 1: near 1 it is the limit itself. */
  readonly clientShare: number
  /** Set where an answer was not what was asked for, or a connection broke. */
  readonly problem?: string
}

export interface LoadProcess {
  /** Sends the load for so long. Fails where an answer is not what was asked for. */
  readonly run: (load: Load, millis: number) => Promise<LoadResult>
  readonly stop: () => Promise<void>
}

type Child = ChildProcessByStdio<Writable, Readable, null>

/** Starts the client; `before` is what runs it, where that is not this process itself. */
export const startLoad = (before: ReadonlyArray<string>): LoadProcess => {
  const [program = "", ...args] = [...before, process.execPath, join(import.meta.dirname, "load-child.ts")]
  const child: Child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] })
  const ended = once(child, "close")
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<LoadResult> => {
    const line = await lines.next()
    if (line.done === true) throw new Error("the client has ended")
    return JSON.parse(line.value)
  }
  return {
    run: async (load, millis) => {
      const order: LoadOrder = { connections, ...load, millis }
      child.stdin.write(`${JSON.stringify(order)}\n`)
      const result = await answer()
      if (result.problem !== undefined) throw new Error(result.problem)
      return result
    },
    stop: async () => {
      child.stdin.end()
      await ended
    }
  }
}
