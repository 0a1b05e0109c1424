/**
 * What a load has sent, what was acknowledged of it and what was read back: the judge of a run with crashes.
 *
 * Each record carries its own ordinal and is sent once in its life, so that one record under two numbers, one number for
 * two records, and a record that nobody sent are all seen.
 */
import type { Run } from "./Run.ts"

/** Makes the line of an ordinal again, byte for byte. */
export type LineOf = (ordinal: number) => Buffer

const ordinalPattern = /^\{"n":(\d+),/

export class Ledger {
  private readonly run: Run
  private readonly lineOf: LineOf
  /** Ordinals given out; the next one. */
  sent = 0
  /** Records whose append was answered as durable. */
  acknowledged = 0
  /** Highest acknowledged sequence number. */
  highestAcknowledged = 0
  private readonly bySeq = new Map<number, number>()
  private readonly byOrdinal = new Map<number, number>()
  /** Ordinals that may never be read, and why. */
  private readonly gone = new Map<number, string>()

  constructor(run: Run, lineOf: LineOf) {
    this.run = run
    this.lineOf = lineOf
  }

  /** Ordinals for a batch. */
  take(count: number): ReadonlyArray<number> {
    const first = this.sent
    this.sent += count
    return Array.from({ length: count }, (_, index) => first + index)
  }

  /** The append of these was acknowledged as durable from this number on. */
  acknowledge(ordinals: ReadonlyArray<number>, firstSeq: number): void {
    ordinals.forEach((ordinal, index) => this.learn(firstSeq + index, ordinal, "acknowledged"))
    this.acknowledged += ordinals.length
    this.highestAcknowledged = Math.max(this.highestAcknowledged, firstSeq + ordinals.length - 1)
  }

  /** These were only accepted, from this number on, and the log was found to hold them after a crash. */
  keep(ordinals: ReadonlyArray<number>, firstSeq: number): void {
    ordinals.forEach((ordinal, index) => this.learn(firstSeq + index, ordinal, "accepted and kept"))
  }

  /** Nothing of these may ever be read: they were refused, or were found lost. */
  forget(ordinals: ReadonlyArray<number>, why: string): void {
    for (const ordinal of ordinals) this.gone.set(ordinal, why)
  }

  /** This was read: it must be what was sent, and must be the same for ever. */
  read(seq: number, payload: Buffer): void {
    const ordinal = Number(ordinalPattern.exec(payload.toString("latin1", 0, 40))?.[1] ?? Number.NaN)
    const known = ordinal < this.sent
    this.run.promise(known, `record ${seq} was never sent: ${payload.toString("utf8", 0, 80)}`)
    if (!known) return
    this.run.promise(this.lineOf(ordinal).equals(payload), `record ${seq} has other bytes than were sent as ${ordinal}`)
    const why = this.gone.get(ordinal)
    this.run.promise(why === undefined, `record ${seq} is ${ordinal}, which ${why}`)
    this.learn(seq, ordinal, "read")
  }

  private learn(seq: number, ordinal: number, how: string): void {
    const otherOrdinal = this.bySeq.get(seq)
    const otherSeq = this.byOrdinal.get(ordinal)
    this.run.promise(
      otherOrdinal === undefined || otherOrdinal === ordinal,
      `number ${seq} names two records: ${otherOrdinal} and ${ordinal} (${how})`
    )
    this.run.promise(
      otherSeq === undefined || otherSeq === seq,
      `record ${ordinal} has two numbers: ${otherSeq} and ${seq} (${how})`
    )
    this.bySeq.set(seq, ordinal)
    this.byOrdinal.set(ordinal, seq)
  }
}
