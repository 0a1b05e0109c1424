/** A server of its own process, as a supervisor runs it, and the HTTP calls of the scenarios. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { serverMain } from "./Places.ts"
import { nowMillis, pause, type Run } from "./Run.ts"

/** Longest wait for a server to be ready, or to end after SIGTERM. */
const readyWithinMillis = 90_000
const endWithinMillis = 40_000

/** The stream of every scenario. */
export const streamId = "main"
export const nodeId = "node-0"

/** A configuration with one stream on the given store; `backend` adds to its backend block, `server` to the server's. */
export const writeConfig = (
  folder: string,
  prefix: string,
  backend: Readonly<Record<string, unknown>>,
  server: Readonly<Record<string, unknown>> = {}
): string => {
  const path = join(folder, `${prefix}.json`)
  const block = { type: "object_store", node_id: nodeId, stream_id: streamId, prefix, ...backend }
  const config = { server: { port: 0, ...server }, streams: [{ id: streamId, durability: { backend: block } }] }
  writeFileSync(path, JSON.stringify(config, undefined, 2))
  return path
}

export class ServerProcess {
  readonly child: ChildProcess
  /** How long a call waits for its answer; for ever where it is not set. A stopped process answers nothing. */
  patienceMillis: number | undefined
  /** Set once it listens. */
  private url = ""
  private readonly ended: Promise<number | null>

  /** `before` is what runs the program, where that is not this process itself. */
  constructor(run: Run, configPath: string, logPath: string, before: ReadonlyArray<string> = []) {
    const log = openSync(logPath, "a")
    const [program = "", ...args] = [...before, process.execPath, serverMain, "serve", "--config", configPath]
    this.child = spawn(program, args, { stdio: ["ignore", "pipe", log] })
    this.child.once("close", () => closeSync(log))
    this.ended = once(this.child, "exit").then(([code]: Array<number | null>) => code ?? null)
    run.atEnd(() => {
      this.child.kill("SIGKILL")
    })
    let text = ""
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      writeSync(log, chunk)
      if (this.url !== "") return
      text += chunk
      this.url = /listens on (http:\/\/\S+)/.exec(text)?.[1] ?? ""
    })
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** Waits until it listens, when its log is being opened, or until it has ended. */
  async listening(): Promise<void> {
    while (this.running && this.url === "") await pause(2)
  }

  /** Waits until the log is open and takes records; false when the process ended before. */
  async ready(withinMillis = readyWithinMillis): Promise<boolean> {
    const until = nowMillis() + withinMillis
    let reason: string | undefined
    while (this.running) {
      if (nowMillis() > until) throw new Error(`the server was not ready after ${withinMillis} ms: ${reason}`)
      const answer = this.url === "" ? undefined : await fetch(`${this.url}/readyz`).catch(() => undefined)
      const status = answer?.status
      reason = await answer?.text().catch(() => undefined)
      if (status === 200) return true
      await pause(10)
    }
    return false
  }

  /** SIGKILL, and waits until the process is gone. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL")
    await this.ended
  }

  /** SIGSTOP: it keeps its memory, files and connections, and does nothing. */
  freeze(): void {
    this.child.kill("SIGSTOP")
  }

  /** SIGCONT: it goes on as if no time had passed. */
  thaw(): void {
    this.child.kill("SIGCONT")
  }

  /** SIGTERM, and the exit code. */
  async stop(): Promise<number | null> {
    this.child.kill("SIGTERM")
    return await Promise.race([
      this.ended,
      pause(endWithinMillis).then(() => Promise.reject(new Error(`no end ${endWithinMillis} ms after SIGTERM`)))
    ])
  }

  /** One call on the stream; `path` starts with a slash or a question mark, or is empty. */
  call(path: string, init: RequestInit = {}): Promise<Response> {
    return this.get(`/v1/streams/${streamId}${path}`, init)
  }

  /** A call on any path of the server. */
  get(path: string, init: RequestInit = {}): Promise<Response> {
    const { patienceMillis } = this
    const signal = patienceMillis === undefined ? {} : { signal: AbortSignal.timeout(patienceMillis) }
    return fetch(`${this.url}${path}`, { ...signal, ...init })
  }

  /** The answer of a call as JSON; fails for any status but 200. */
  async json(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    const answer = await this.call(path, init)
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${init.method ?? "GET"} ${path}: ${answer.status} ${text}`)
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? { ...value } : {}
  }

  /** A number of an answer. */
  async number(path: string, name: string, init: RequestInit = {}): Promise<number> {
    return Number((await this.json(path, init))[name])
  }
}

/** The answer to an append. */
export interface AppendAnswer {
  readonly status: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly text: string
  /** The header `Retry-After`. */
  readonly retryAfter: string | null
}

const newline = Buffer.from("\n")

/** Appends lines as NDJSON and waits until they are what is asked for. Fails when the connection does. */
export const append = async (
  server: ServerProcess,
  lines: ReadonlyArray<Buffer>,
  ack: "durable" | "spooled" | "accepted" = "durable"
): Promise<AppendAnswer> => {
  const answer = await server.call(`/records?ack=${ack}`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: new Uint8Array(Buffer.concat(lines.flatMap((line) => [line, newline])))
  })
  const text = await answer.text()
  const body: { readonly first_seq?: number; readonly last_seq?: number } = answer.status === 200
    ? JSON.parse(text)
    : {}
  return {
    status: answer.status,
    firstSeq: Number(body.first_seq),
    lastSeq: Number(body.last_seq),
    text,
    retryAfter: answer.headers.get("retry-after")
  }
}

/** Commits a cursor. */
export const commit = (server: ServerProcess, seq: number, cursor = "default") =>
  server.json(`/cursors/${cursor}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ seq })
  })
