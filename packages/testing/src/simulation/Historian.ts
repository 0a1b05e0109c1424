/**
 * Writes down what callers asked and were answered, for the check of linearizability at the end of a walk.
 *
 * A log that was not empty at its start has no whole history, and deletion by age moves what no caller has moved: such walks
 * write down nothing, or no cursors.
 */
import { defaultCursor } from "@effect-wal/core/format/CursorSet"
import type { WalStatus } from "@effect-wal/core/WalService"
import type { BucketOracle } from "./BucketOracle.ts"
import { type Ack, type Append, History } from "./History.ts"
import { checkLinearizable } from "./Linearizability.ts"
import type { SimWriter } from "./SimWriter.ts"
import type { Violations } from "./Violations.ts"
import type { WalkSettings } from "./WalkSettings.ts"

/** What is told of an append that has begun. */
export interface ToldAppend {
  readonly accepted: (first: number) => void
  readonly durable: (first: number) => void
  /** It was refused: nothing of it is in the log, ever. */
  readonly refused: () => void
}

/** What is told of a read that has begun: where it started, what it saw, and whether it went on to the durable end. */
export type ToldRead = (from: number, ids: ReadonlyArray<number>, isWhole: boolean) => void

const nothing = () => undefined
const untold: ToldAppend = { accepted: nothing, durable: nothing, refused: nothing }

export class Historian {
  private readonly history = new History()
  private readonly stored: BucketOracle
  private readonly settings: WalkSettings
  /** Writers whose opening is in the history. */
  private readonly openings = new Set<SimWriter>()

  constructor(settings: WalkSettings, stored: BucketOracle) {
    this.settings = settings
    this.stored = stored
  }

  private get isOn(): boolean {
    return !this.settings.startsLong
  }

  private get keepsCursors(): boolean {
    return this.isOn && this.settings.options.retention?.policy !== "age"
  }

  /** An append begins. With a spool it can come to be in the log in pieces, under other numbers. */
  append(writer: SimWriter, ids: ReadonlyArray<number>): ToldAppend {
    if (!this.isOn || ids.length === 0) return untold
    const hasSpool = this.settings.spoolBytes !== undefined
    const append = this.history.append(writer.name, ids, hasSpool ? "pieces" : "prefix")
    return { ...this.told(append), accepted: hasSpool ? nothing : (first) => this.history.accepted(append, first) }
  }

  /** A call of a producer begins: in the log as a whole or not at all. All its repeats are this one. */
  call(writer: SimWriter, ids: ReadonlyArray<number>): ToldAppend {
    return this.isOn ? this.told(this.history.append(writer.name, ids, "whole")) : untold
  }

  private told(append: Append): ToldAppend {
    return {
      accepted: nothing,
      durable: (first) => this.history.durable(append, first),
      refused: () => this.history.refused(append)
    }
  }

  /** A read begins. What a writer shows that was not overtaken meanwhile, up to its end, is all that there is. */
  read(writer: SimWriter): ToldRead {
    if (!this.isOn) return nothing
    const read = this.history.read(writer.name)
    return (from, ids, isWhole) => {
      if (from < 1) return
      const isNewest = this.stored.manifest?.live === writer.lastStatus?.epoch
      this.history.seen(read, { from, ids, strength: isWhole && isNewest ? "strong" : "weak" })
    }
  }

  /** Giving up a range of numbers begins, of the cursor that is always there; the answer is told where it is a success. */
  ack(writer: SimWriter, cursor: string, from: number, to: number): () => void {
    if (!this.keepsCursors || cursor !== defaultCursor || from > to) return nothing
    const ack: Ack = this.history.ack(writer.name, { cursor, from, to })
    return () => this.history.acked(ack)
  }

  /** A writer has opened the log. One that was overtaken meanwhile has found what does not hold any more. */
  opened(writer: SimWriter, status: WalStatus): void {
    if (this.stored.manifest?.live !== status.epoch) return
    this.openings.add(writer)
    this.mark(writer, status, true)
  }

  /** A status was looked at. */
  looked(writer: SimWriter, status: WalStatus): void {
    if (this.openings.has(writer)) this.mark(writer, status, false)
  }

  private mark(writer: SimWriter, status: WalStatus, opening: boolean): void {
    const cursor = status.cursors[defaultCursor]
    if (!this.keepsCursors || cursor === undefined) return
    this.history.marked(this.history.mark(writer.name, defaultCursor, { opening }), cursor.mark)
    if (cursor.persisted > 0) this.history.persisted(writer.name, defaultCursor, cursor.persisted)
  }

  /** Whether there is an order of everything that explains every answer. Answers false where the search was too long. */
  check(violations: Violations): boolean {
    const verdict = checkLinearizable(this.history)
    if (verdict._tag === "Violation") violations.add(`not linearizable: ${verdict.message}`)
    return verdict._tag !== "Undecided"
  }
}
