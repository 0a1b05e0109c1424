/** The readers of the soak: a consumer that commits what it has read, and a live tail; both outlive the servers. */
import { ReadFailed, readNdjson, recordAt } from "./ReadBack.ts"
import { pause } from "./Run.ts"
import { commit, type ServerProcess } from "./ServerProcess.ts"
import { countOne, type SoakLog } from "./SoakLog.ts"

/** Codes that say that records are damaged or gone, which nobody has done here. */
const damage =
  /"code":"(segment_corrupt|segment_missing|segment_too_new|sequence_gap|end_marker_lost|manifest_\w+|trimmed|log_failed)"/

const codePattern = /"code":"(\w+)"/

/** Counts what reading was answered; from whoever has the log it must not be damage. */
const noteProblem = (log: SoakLog, server: ServerProcess, status: number, text: string): void => {
  countOne(log.readProblems, `${status} ${codePattern.exec(text)?.[1] ?? "?"}`)
  log.promise(server !== log.current || !damage.test(text), `reading was answered ${status} ${text.slice(0, 300)}`)
}

const noteFailure = (log: SoakLog, server: ServerProcess, error: unknown): void => {
  if (error instanceof ReadFailed) noteProblem(log, server, error.status, error.text)
  else countOne(log.readProblems, "connection lost")
}

/** Reads on from its cursor, judges each record, and commits; as a consumer without a memory of its own would. */
export class Consumer {
  /** All up to here was read without a hole. */
  readTo = 0
  /** Highest commit that was sent, and highest that a server said is stored. */
  committed = 0
  persisted = 0
  /** Commits what it reads. */
  commits = true
  private readonly log: SoakLog
  private readonly chance: () => number
  private server: ServerProcess | undefined
  private next = 1

  constructor(log: SoakLog, chance: () => number) {
    this.log = log
    this.chance = chance
  }

  /** Until the readers are told to stop. */
  run(): Promise<void> {
    return this.log.whileHeld(() => this.log.reading, async (server) => {
      try {
        if (this.server !== server) await this.resume(server)
        await this.readOn(server)
        if (this.commits && this.chance() < 0.7) await this.commit(server)
      } catch (error) {
        noteFailure(this.log, server, error)
        // What this server says next may come from another one that has taken over.
        this.server = undefined
      }
      await pause(150 + 300 * this.chance())
    })
  }

  /** Starts behind the cursor. It may stand lower than it was told, and never higher. */
  async resume(server: ServerProcess): Promise<void> {
    const { log } = this
    const { persisted, seq } = await this.cursor(server)
    const { trimmed_to: trimmed } = await server.json("")
    if (server !== log.current) return
    log.promise(seq <= this.committed, `the cursor stands at ${seq}, nobody committed beyond ${this.committed}`)
    log.promise(seq >= this.persisted, `the cursor stands at ${seq}, and ${this.persisted} was stored`)
    log.promise(Number(trimmed ?? 0) <= this.committed, `trimmed to ${String(trimmed)}, committed is ${this.committed}`)
    this.persisted = Math.max(this.persisted, persisted)
    this.next = seq + 1
    this.server = server
  }

  /** Reads to the durable end as it is now. */
  async readOn(server: ServerProcess): Promise<void> {
    const until = await server.number("", "durable")
    for await (const { payload, seq } of readNdjson(server, this.next, 1_000)) {
      this.log.promise(seq === this.next, `a hole: record ${seq} where ${this.next} must stand`)
      this.log.saw(seq, payload)
      this.next = seq + 1
      this.readTo = Math.max(this.readTo, seq)
      if (seq >= until) return
    }
  }

  async commit(server: ServerProcess): Promise<void> {
    if (this.next === 1) return
    this.committed = Math.max(this.committed, this.next - 1)
    await commit(server, this.next - 1)
    const { persisted } = await this.cursor(server)
    // Whoever has lost the log meanwhile says nothing that the others must know.
    if (server === this.log.current) this.persisted = Math.max(this.persisted, persisted)
  }

  private async cursor(server: ServerProcess) {
    const { persisted, seq } = await server.json("/cursors/default")
    return { persisted: Number(persisted), seq: Number(seq) }
  }
}

/** Longest silence of a live tail: the server sends a comment every 15 s. */
const silenceMillis = 20_000

/** A live tail that comes back behind the last record it has seen. */
export class LiveTail {
  private readonly log: SoakLog
  private next = 1

  constructor(log: SoakLog) {
    this.log = log
  }

  /** Until the readers are told to stop. */
  run(): Promise<void> {
    return this.log.whileHeld(() => this.log.reading, async (server) => {
      const controller = new AbortController()
      const watching = this.abortWhenOver(server, controller)
      try {
        await this.follow(server, controller.signal)
      } catch {
        countOne(this.log.readProblems, "tail lost")
      }
      controller.abort()
      await watching
      await pause(200)
    })
  }

  private async abortWhenOver(server: ServerProcess, controller: AbortController): Promise<void> {
    while (!controller.signal.aborted && this.log.reading && server === this.log.current && server.running) {
      await pause(100)
    }
    controller.abort()
  }

  private async follow(server: ServerProcess, signal: AbortSignal): Promise<void> {
    const answer = await server.call(`/records?from=${this.next}`, {
      headers: { accept: "text/event-stream" },
      signal
    })
    if (answer.status !== 200 || answer.body === null) {
      const text = await answer.text()
      const trimmedTo = /"trimmedTo":(\d+)/.exec(text)?.[1]
      // The consumer was quicker, and what it has read is deleted.
      if (answer.status === 410 && trimmedTo !== undefined) this.next = Number(trimmedTo) + 1
      else noteProblem(this.log, server, answer.status, text)
      return
    }
    let rest = Buffer.alloc(0)
    for await (const chunk of withoutSilence(answer.body)) {
      rest = Buffer.concat([rest, chunk])
      for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
        this.take(server, rest.subarray(0, end))
        rest = rest.subarray(end + 2)
      }
    }
  }

  private take(server: ServerProcess, event: Buffer): void {
    if (event[0] === 0x3a) return
    const data = event.indexOf("data: ") + "data: ".length
    const head = event.toString("latin1", 0, data)
    if (head.startsWith("event: error")) {
      const text = event.toString("utf8", data)
      // Overtaken by deletion; the next connection is told where to go on.
      if (!text.includes("\"code\":\"trimmed\"")) noteProblem(this.log, server, 200, text)
      return
    }
    const { payload, seq } = recordAt(event, data, event.length)
    this.log.promise(seq === this.next, `a hole in the live tail: record ${seq} where ${this.next} must stand`)
    this.log.saw(seq, payload)
    this.next = seq + 1
  }
}

/** The chunks of a body; fails when none comes for too long. */
async function* withoutSilence(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("silence")), silenceMillis)
      })
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer))
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Reads what a server that may have lost the log still gives out: less than there is, but nothing else. */
export const readOfZombie = async (log: SoakLog, server: ServerProcess, from: number): Promise<number> => {
  let count = 0
  try {
    for await (const { payload, seq } of readNdjson(server, from, 200)) {
      log.saw(seq, payload)
      if (++count >= 1_000) break
    }
  } catch (error) {
    noteFailure(log, server, error)
  }
  return count
}
