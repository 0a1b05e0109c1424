/**
 * One log of the soak: who has it now, what was answered for it, and what was read of it.
 *
 * Records are deleted while the run goes on, so they are judged as they come: a number that was acknowledged as durable
 * and is read must hold the record that it was acknowledged for, whichever of the two happens first. At the end the
 * ledger judges all that was ever read.
 */
import { pause, type Run } from "./Run.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import { type Level, lineOf, ordinalOf, SpoolLedger } from "./SpoolLoad.ts"

/** Text of a record; its length differs from one to the next. */
const textOf = (ordinal: number): string => "x".repeat(40 + (ordinal * 37) % 400)

/** The line of an ordinal. */
export const soakLine = (ordinal: number): string => lineOf(ordinal, textOf(ordinal))

interface Answered {
  readonly level: Level
  readonly epoch: number
  readonly firstSeq: number
}

export class SoakLog {
  readonly name: string
  readonly run: Run
  readonly ledger: SpoolLedger
  /** The server that has the log; none while there is none. Load and readers go where this points. */
  current: ServerProcess | undefined
  /** Ordinals by number, of all that was ever read. */
  readonly seen = new Map<number, number>()
  /** Records that were read, however often. */
  deliveries = 0
  /** Answers to appends by status, 0 for a lost connection. */
  readonly answers = new Map<number, number>()
  /** What reading was answered instead of records, by status and code. */
  readonly readProblems = new Map<string, number>()
  /** The load goes on. */
  loading = true
  /** Readers go on. */
  reading = true
  private readonly durable = new Map<number, number>()

  constructor(run: Run, name: string) {
    this.run = run
    this.name = name
    this.ledger = new SpoolLedger(run)
  }

  /** Something that must hold of this log. */
  promise(holds: boolean, what: string): void {
    this.run.promise(holds, `${this.name}: ${what}`)
  }

  /** Keeps what an append was answered. */
  note(ordinals: ReadonlyArray<number>, answered: Answered): void {
    this.ledger.note(ordinals, answered)
    if (answered.level !== "durable") return
    ordinals.forEach((ordinal, index) => {
      const seq = answered.firstSeq + index
      const acknowledged = this.durable.get(seq)
      const read = this.seen.get(seq)
      this.promise(
        acknowledged === undefined || acknowledged === ordinal,
        `number ${seq} was acknowledged for ${acknowledged} and for ${ordinal}`
      )
      this.promise(
        read === undefined || read === ordinal,
        `number ${seq} was read as ${read} and acknowledged for ${ordinal} afterwards`
      )
      this.durable.set(seq, ordinal)
    })
  }

  /** These were refused as not stored. */
  refuse(ordinals: ReadonlyArray<number>): void {
    this.ledger.refuse(ordinals)
  }

  /** This was read, whether by a consumer, a live tail or of a server that has lost the log. */
  saw(seq: number, payload: Buffer): void {
    this.deliveries++
    const ordinal = ordinalOf(payload)
    const known = ordinal < this.ledger.sent
    this.promise(known, `record ${seq} was never sent: ${payload.toString("utf8", 0, 80)}`)
    if (!known) return
    this.promise(payload.equals(Buffer.from(soakLine(ordinal))), `record ${seq} has other bytes than were sent`)
    const before = this.seen.get(seq)
    const acknowledged = this.durable.get(seq)
    this.promise(before === undefined || before === ordinal, `number ${seq} was read as ${before} and as ${ordinal}`)
    this.promise(
      acknowledged === undefined || acknowledged === ordinal,
      `number ${seq} was acknowledged for ${acknowledged} and holds ${ordinal}`
    )
    this.seen.set(seq, ordinal)
  }

  /** Runs something on whoever has the log, again and again, until it is over; what fails is tried again. */
  async whileHeld(goesOn: () => boolean, step: (server: ServerProcess) => Promise<void>): Promise<void> {
    while (goesOn()) {
      const server = this.current
      if (server === undefined || !server.running) await pause(50)
      else await step(server)
    }
  }
}

/** Adds one to a count by name. */
export const countOne = <Key>(counts: Map<Key, number>, key: Key): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
