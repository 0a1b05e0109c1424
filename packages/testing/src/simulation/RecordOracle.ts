/**
 * What callers were told, held against all that any of them was told before.
 *
 * Checked: one number names one durable record, and one record has one number (P1) · what is shown to a reader is durable,
 * in order, without a hole (P3) · a mark never passes what was given up, never goes back within a writer, and is at least
 * what was called stored before a crash · a crash loses of what was only accepted at most what the gauge said (P2).
 */
import { defaultCursor } from "@effect-wal/core/format/CursorSet"
import type { CursorStatus, WalStatus } from "@effect-wal/core/WalService"
import type { BucketOracle } from "./BucketOracle.ts"
import { CursorSets } from "./CursorSets.ts"
import type { Violations } from "./Violations.ts"

/** What the disk takes of a spool beside what is counted before it is written: headers of frames and of files. */
const spoolSlack = 1.25

/** An append that was accepted. */
export interface AcceptedCall {
  readonly ids: ReadonlyArray<number>
  readonly first: number
  readonly epoch: number
}

/** What a writer said of itself when it was killed. */
export interface LastWords {
  readonly epoch: number
  readonly lastAccepted: number
  /** Up to here all was durable or in its spool. */
  readonly spooled: number
  readonly atRisk: number
}

/** What cursor `name` may have passed: everything up to `through`, and single numbers above it. */
interface GivenUp {
  through: number
  readonly above: Set<number>
}

export interface RecordOracleParts {
  readonly violations: Violations
  readonly bucket: BucketOracle
  /** Deletion by age or size is on: cursors hold nothing back. */
  readonly deletesByAge: boolean
  /** Nothing that is stored is damaged, and nothing else answers in its place: a log never fails. */
  readonly isWhole: () => boolean
  /** Most sealed segments that wait in memory. */
  readonly maxQueued: number
}

export class RecordOracle {
  private readonly parts: RecordOracleParts
  private readonly violations: Violations
  private readonly bucket: BucketOracle
  private readonly deletesByAge: boolean
  /** Which cursors there are. */
  readonly cursorSets: CursorSets
  private readonly idBySeq = new Map<number, number>()
  private readonly seqById = new Map<number, number>()
  private readonly givenUp = new Map<string, GivenUp>()
  /** What each cursor was said to be after a crash, the highest. */
  private readonly persisted = new Map<string, number>()
  private readonly lastWords: Array<LastWords> = []
  /** Records that survive the loss of their process, or so it was said. */
  readonly spooled = new Set<number>()
  highestDurable = 0

  constructor(parts: RecordOracleParts) {
    this.parts = parts
    this.violations = parts.violations
    this.bucket = parts.bucket
    this.deletesByAge = parts.deletesByAge
    this.cursorSets = new CursorSets(parts.violations)
  }

  /** How many records are known to be durable. */
  get durableCount(): number {
    return this.idBySeq.size
  }

  seqOf(id: number): number | undefined {
    return this.seqById.get(id)
  }

  /** An append was answered as durable. */
  durable(call: AcceptedCall): void {
    call.ids.forEach((id, index) => {
      this.name(call.first + index, id)
      this.bucket.promise(call.epoch, call.first + index, id)
    })
  }

  /** A reader was shown a record. */
  shown(seq: number, id: number): void {
    this.name(seq, id)
    const segment = this.bucket.inLog.find((one) => one.firstSeq <= seq && seq <= one.lastSeq)
    if (segment === undefined) {
      const trimmed = this.bucket.manifest?.trim.seq ?? 0
      this.violations.unless(seq <= trimmed, () => `P3: record ${seq} was shown and is not in the log`)
      return
    }
    this.bucket.promise(segment.epoch, seq, id)
  }

  private name(seq: number, id: number): void {
    const before = this.idBySeq.get(seq)
    this.violations.unless(before === undefined || before === id, () => `P1: number ${seq} names ${before} and ${id}`)
    const other = this.seqById.get(id)
    this.violations.unless(
      other === undefined || other === seq,
      () => `P1: record ${id} has numbers ${other} and ${seq}`
    )
    this.idBySeq.set(seq, id)
    this.seqById.set(id, seq)
    this.highestDurable = Math.max(this.highestDurable, seq)
  }

  /** Somebody is about to give up everything up to a number. */
  commits(cursor: string, seq: number): void {
    const given = this.givenUpBy(cursor)
    given.through = Math.max(given.through, seq)
    while (given.above.delete(given.through + 1)) given.through++
  }

  /** Somebody is about to give up a range. */
  acks(cursor: string, from: number, to: number): void {
    const given = this.givenUpBy(cursor)
    for (let seq = from; seq <= to; seq++) given.above.add(seq)
    while (given.above.delete(given.through + 1)) given.through++
  }

  /** A cursor is about to be removed: it may come again at any place. */
  removes(cursor: string): void {
    this.persisted.delete(cursor)
  }

  /** The highest number that every cursor may have passed. */
  get givenUpTo(): number {
    return this.givenUpBy(defaultCursor).through
  }

  private givenUpBy(cursor: string): GivenUp {
    const known = this.givenUp.get(cursor)
    if (known !== undefined) return known
    const fresh: GivenUp = { through: 0, above: new Set() }
    this.givenUp.set(cursor, fresh)
    return fresh
  }

  /** A writer that can still write says how it is. */
  status(status: WalStatus, previous: WalStatus | undefined): void {
    const { atRisk, buffered, durable, lastAccepted, spooled, trimmedTo } = status
    const { violations } = this
    violations.unless(
      buffered.bytes <= buffered.limitBytes,
      () => `P5: ${buffered.bytes} bytes buffered, the limit is ${buffered.limitBytes}`
    )
    this.bounds(status)
    violations.unless(
      durable <= spooled && spooled <= lastAccepted,
      () => `durable ${durable}, spooled ${spooled}, accepted ${lastAccepted} are out of order`
    )
    violations.unless(
      atRisk.records === lastAccepted - spooled,
      () => `P2: ${atRisk.records} at risk, accepted ${lastAccepted}, spooled ${spooled}`
    )
    violations.unless(durable >= (previous?.durable ?? 0), () => `the durable watermark went back to ${durable}`)
    violations.unless(trimmedTo <= durable, () => `trimmed to ${trimmedTo}, durable is ${durable}`)
    for (const [name, cursor] of Object.entries(status.cursors)) {
      this.cursor(name, cursor, status, previous?.cursors[name])
    }
  }

  private bounds({ buffered, spool, state, stateReason }: WalStatus): void {
    const { isWhole, maxQueued } = this.parts
    const { violations } = this
    violations.unless(
      buffered.queuedSegments <= maxQueued,
      () => `P5: ${buffered.queuedSegments} segments wait in memory, most are ${maxQueued}`
    )
    if (spool !== undefined) {
      violations.unless(
        spool.bytes <= spool.limitBytes * spoolSlack,
        () => `P5: the spool takes ${spool.bytes} bytes, the limit is ${spool.limitBytes}`
      )
    }
    violations.unless(!isWhole() || state !== "failed", () => `a log failed that is whole: ${stateReason}`)
  }

  private cursor(name: string, { mark, persisted }: CursorStatus, status: WalStatus, previous?: CursorStatus): void {
    const { violations } = this
    // A new cursor starts at the trim point, which may be on its way to the store still; only age moves that past others.
    if (name !== defaultCursor) this.commits(name, this.deletesByAge ? status.durable : this.givenUpTo)
    const given = this.givenUpBy(name).through
    violations.unless(mark <= given, () => `cursor ${name} is at ${mark}, given up was ${given}`)
    violations.unless(mark <= status.durable, () => `cursor ${name} is at ${mark}, durable is ${status.durable}`)
    // One that was removed and made again below is found at its old place, until the new one is stored.
    violations.unless(
      persisted <= mark || name !== defaultCursor,
      () => `cursor ${name} is stored as ${persisted} and is at ${mark}`
    )
    if (previous !== undefined && mark < previous.mark) {
      // Removed and made again in between it can be anywhere, so only the cursor that cannot be removed is held to this.
      violations.unless(name !== defaultCursor, () => `cursor ${name} went back from ${previous.mark} to ${mark}`)
    }
    if (name === defaultCursor) this.persisted.set(name, Math.max(this.persisted.get(name) ?? 0, persisted))
  }

  /** A writer has opened the log. */
  opened(status: WalStatus): void {
    // One that was overtaken before it could say that it is open knows less than the newer one has promised since.
    if (this.bucket.manifest?.live !== status.epoch) return
    this.cursorSets.found(status.cursors)
    const mark = status.cursors[defaultCursor]?.mark ?? 0
    const stored = this.persisted.get(defaultCursor) ?? 0
    this.violations.unless(mark >= stored, () => `P3: cursor default was stored as ${stored} and is opened at ${mark}`)
    this.violations.unless(
      status.durable >= this.highestDurable,
      () => `P1: opened at ${status.durable}, ${this.highestDurable} was durable`
    )
    for (const words of this.lastWords.splice(0)) this.checkLoss(words)
  }

  /** A writer was killed. */
  killed(words: LastWords): void {
    this.lastWords.push(words)
  }

  /** What a crash took of an epoch that has its end now. */
  private checkLoss(words: LastWords): void {
    const end = this.bucket.endOf(words.epoch)
    if (end === undefined || end.slot === 0) return
    const lost = words.lastAccepted - Math.max(end.seq, words.spooled)
    this.violations.unless(
      lost <= words.atRisk,
      () => `P2: ${lost} records of epoch ${words.epoch} were lost, at risk were ${words.atRisk}`
    )
  }
}
