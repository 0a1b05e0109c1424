/**
 * A load with all three ack levels, and the judge of what may be missing afterwards.
 *
 * Each record carries its own ordinal and is sent once. `durable` means: there, under its number. `spooled`: there once,
 * under whatever number. `accepted`: of one life of the server a contiguous suffix may be missing.
 */
import { nowMillis, pause, type Run } from "./Run.ts"
import type { ServerProcess } from "./ServerProcess.ts"

export type Level = "durable" | "spooled" | "accepted"

interface Sent {
  readonly ordinal: number
  readonly level: Level
  readonly seq: number
}

/** What the server said of itself last. */
export interface Snapshot {
  readonly epoch: number
  readonly lastAccepted: number
  readonly spooled: number
  readonly durable: number
  readonly atRisk: number
  readonly spoolRecords: number
  readonly spoolBytes: number
}

const numberOf = (value: unknown, name: string): number =>
  typeof value === "object" && value !== null ? Number(Object.entries(value).find(([key]) => key === name)?.[1]) : 0

/** Asks for the status; `undefined` where the server does not answer or has no log yet. */
export const snapshotOf = async (server: ServerProcess): Promise<Snapshot | undefined> => {
  const status = await server.json("").catch(() => undefined)
  if (status?.["state"] !== "open") return undefined
  return {
    epoch: Number(status["epoch"]),
    lastAccepted: Number(status["last_accepted"]),
    spooled: Number(status["spooled"]),
    durable: Number(status["durable"]),
    atRisk: numberOf(status["at_risk"], "records"),
    spoolRecords: numberOf(status["spool"], "records"),
    spoolBytes: numberOf(status["spool"], "bytes")
  }
}

const ordinalPattern = /^\{"n":(\d+),/

export class SpoolLedger {
  /** Ordinals given out. */
  sent = 0
  readonly answered: Record<Level, number> = { durable: 0, spooled: 0, accepted: 0 }
  /** The last word of each life of the server, by epoch. */
  readonly snapshots = new Map<number, Snapshot>()
  private readonly run: Run
  /** What was answered, by the epoch that answered it. */
  private readonly lives = new Map<number, Array<Sent>>()
  private readonly refused = new Set<number>()

  constructor(run: Run) {
    this.run = run
  }

  take(count: number): ReadonlyArray<number> {
    const first = this.sent
    this.sent += count
    return Array.from({ length: count }, (_, index) => first + index)
  }

  note(ordinals: ReadonlyArray<number>, answer: { level: Level; epoch: number; firstSeq: number }): void {
    const { epoch, firstSeq, level } = answer
    const life = this.lives.get(epoch) ?? []
    this.lives.set(epoch, life)
    ordinals.forEach((ordinal, index) => life.push({ ordinal, level, seq: firstSeq + index }))
    this.answered[level] += ordinals.length
  }

  /** Nothing of these may ever be read. */
  refuse(ordinals: ReadonlyArray<number>): void {
    for (const ordinal of ordinals) this.refused.add(ordinal)
  }

  /** Judges all that was read, ordinal by number. */
  judge(read: ReadonlyMap<number, number>) {
    const { run } = this
    const places = new Map<number, number>()
    for (const [seq, ordinal] of read) {
      run.promise(!places.has(ordinal), `record ${ordinal} stands at ${places.get(ordinal)} and at ${seq}`)
      run.promise(ordinal < this.sent, `record ${ordinal} at ${seq} was never sent`)
      run.promise(!this.refused.has(ordinal), `record ${ordinal} at ${seq} was refused as not stored`)
      places.set(ordinal, seq)
    }
    let renumbered = 0
    for (const { level, ordinal, seq } of [...this.lives.values()].flat()) {
      const place = places.get(ordinal)
      if (level === "durable") {
        run.promise(place === seq, `record ${ordinal} was durable as ${seq} and is ${place ?? "gone"}`)
      }
      if (level === "spooled") {
        run.promise(place !== undefined, `record ${ordinal} was spooled as ${seq} and is gone`)
        if (place !== undefined && place !== seq) renumbered++
      }
    }
    return { renumbered, ...this.judgeLives(places) }
  }

  /** What is missing of each life: one suffix, and no more than what was at risk. */
  private judgeLives(places: ReadonlyMap<number, number>) {
    let lost = 0
    let most = 0
    let livesWithLoss = 0
    for (const [epoch, answered] of this.lives) {
      const life = answered.toSorted((left, right) => left.seq - right.seq)
      const from = life.findIndex(({ ordinal }) => !places.has(ordinal))
      if (from === -1) continue
      const missing = life.slice(from)
      this.run.promise(
        missing.every(({ ordinal }) => !places.has(ordinal)),
        `epoch ${epoch}: record ${missing[0]?.seq} is missing, and later ones are there`
      )
      const last = this.snapshots.get(epoch)
      const since = missing.filter(({ seq }) => seq > (last?.lastAccepted ?? 0)).length
      this.run.promise(
        missing.length <= (last?.atRisk ?? 0) + since,
        `epoch ${epoch}: ${missing.length} are missing; ${last?.atRisk ?? 0} were at risk, ${since} were accepted since`
      )
      lost += missing.length
      most = Math.max(most, missing.length)
      livesWithLoss++
    }
    return { acceptedLost: lost, mostLostAtOnce: most, livesWithLoss }
  }
}

/** The ordinal of a line. */
export const ordinalOf = (payload: Buffer): number =>
  Number(ordinalPattern.exec(payload.toString("latin1", 0, 40))?.[1] ?? Number.NaN)

/** The line of an ordinal, without its end. */
export const lineOf = (ordinal: number, padding: string): string => `{"n":${ordinal},"text":"${padding}"}`

/** What a server answered. */
export interface Reply {
  readonly status: number
  readonly text: string
}

/** One append of these records; nothing where the connection was lost. */
export const send = (
  server: ServerProcess,
  lines: ReadonlyArray<string>,
  level: Level,
  headers: Readonly<Record<string, string>> = {}
): Promise<Reply | undefined> =>
  server.call(`/records?ack=${level}`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", ...headers },
    body: lines.map((line) => `${line}\n`).join("")
  }).then(async (response) => ({ status: response.status, text: await response.text() })).catch(() => undefined)

export interface Poster {
  readonly ledger: SpoolLedger
  readonly level: () => Level
  readonly count: () => number
  readonly padding: string
  readonly pauseMillis: number
  /** Answers by status, 0 for a lost connection. */
  readonly answers: Map<number, number>
  readonly until: () => boolean
  readonly onAnswer?: (millis: number, status: number) => void
}

const levels: ReadonlyArray<string> = ["durable", "spooled", "accepted"] satisfies ReadonlyArray<Level>
const isLevel = (value: unknown): value is Level => typeof value === "string" && levels.includes(value)

interface Answer {
  readonly first_seq?: number
  readonly epoch?: number
  readonly ack?: unknown
  readonly error?: {
    readonly code?: string
    readonly data?: string
    readonly details?: { readonly first_seq?: number; readonly epoch?: number }
  }
}

/** Keeps what an answer says of the records of its call. */
export const noteAnswer = (
  ledger: Pick<SpoolLedger, "note" | "refuse">,
  ordinals: ReadonlyArray<number>,
  { status, text }: Reply
): void => {
  const answer: Answer = JSON.parse(text)
  if (status === 200 && isLevel(answer.ack)) {
    ledger.note(ordinals, { level: answer.ack, epoch: Number(answer.epoch), firstSeq: Number(answer.first_seq) })
  } else if (answer.error?.code === "ack_pending") {
    const { details } = answer.error
    const firstSeq = Number(details?.first_seq)
    ledger.note(ordinals, { level: "accepted", epoch: Number(details?.epoch), firstSeq })
  } else if (answer.error?.data === "not-durable") ledger.refuse(ordinals)
}

/** Appends until the connection breaks or it is told to stop. A batch whose answer is lost is never sent again. */
export const post = async (poster: Poster, server: ServerProcess): Promise<void> => {
  const { answers, ledger, padding } = poster
  while (server.running && !poster.until()) {
    const ordinals = ledger.take(poster.count())
    const startedAt = nowMillis()
    const answer = await send(server, ordinals.map((ordinal) => lineOf(ordinal, padding)), poster.level())
    const status = answer?.status ?? 0
    answers.set(status, (answers.get(status) ?? 0) + 1)
    poster.onAnswer?.(nowMillis() - startedAt, status)
    if (answer === undefined) return
    noteAnswer(ledger, ordinals, answer)
    await pause(poster.pauseMillis)
  }
}

/** Keeps the last word of a server until it is gone or it is told to stop. */
export const watch = async (
  ledger: SpoolLedger,
  server: ServerProcess,
  until: () => boolean,
  everyMillis = 25
): Promise<void> => {
  while (server.running && !until()) {
    const snapshot = await snapshotOf(server)
    if (snapshot !== undefined) ledger.snapshots.set(snapshot.epoch, snapshot)
    await pause(everyMillis)
  }
}

/** Waits until all is durable and the spool is empty. */
export const drained = async (run: Run, server: ServerProcess, withinMillis: number): Promise<void> => {
  const until = nowMillis() + withinMillis
  for (;;) {
    const now = await snapshotOf(server)
    if (now !== undefined && now.durable === now.lastAccepted && now.spoolRecords === 0) return
    if (nowMillis() > until) {
      run.promise(false, `not drained after ${withinMillis} ms: ${JSON.stringify(now)}`)
      return
    }
    await pause(50)
  }
}
