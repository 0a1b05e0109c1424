/**
 * The cursors of a log: names, marks, and the revision of the whole set.
 *
 * Owns: what is acknowledged, in memory. Does not own: when a set is stored; it is told which revision is.
 *
 * Invariants: no mark is above the durable watermark · marks only rise · every change gets a higher revision.
 */
import { compareRevisions, type CursorSet, defaultCursor, maxCursors, type Revision } from "../format/CursorSet.ts"
import { idRule, isId } from "../LogId.ts"
import { type AckError, CommitBeyondDurable, type CursorError, CursorTooFarAhead, InvalidCursor } from "../WalError.ts"
import type { CursorStatus } from "../WalService.ts"
import { acknowledge, type AckRanges, commitThrough, type SeqRange, startAt } from "./AckRanges.ts"

export interface CursorSettings {
  readonly epoch: number
  /** Ranges held above a mark at most. */
  readonly maxAhead: number
}

export class Cursors {
  private readonly settings: CursorSettings
  private readonly durable: () => number
  private readonly trimmed: () => number
  private readonly states = new Map<string, AckRanges>()
  private readonly persistedMarks = new Map<string, number>()
  /** The revision that each cursor came with which was made here. */
  private readonly madeAt = new Map<string, Revision>()
  private revision: Revision
  private persisted: Revision
  private changedAt: number | undefined = undefined
  /** Records that marks have moved over, and how many of them are stored. */
  private moved = 0
  private storedMoved = 0
  /** The newest snapshot: what it holds of `moved`, and when the first change after it came. */
  private taken: { n: number; moved: number; changedAt: number | undefined } = { n: 0, moved: 0, changedAt: undefined }

  private newest: CursorSet | undefined = undefined

  constructor(stored: CursorSet, settings: CursorSettings, durable: () => number, trimmed: () => number) {
    this.settings = settings
    this.durable = durable
    this.trimmed = trimmed
    for (const [name, mark] of Object.entries(stored.marks)) {
      this.states.set(name, startAt(mark))
      this.persistedMarks.set(name, mark)
    }
    this.revision = { epoch: settings.epoch, n: 0 }
    this.persisted = this.revision
  }

  /** The set as it is now: the same one until it changes. */
  snapshot(): CursorSet {
    if (this.taken.n !== this.revision.n) {
      this.taken = { n: this.revision.n, moved: this.moved, changedAt: undefined }
    }
    if (this.newest?.revision !== this.revision) {
      const marks = Object.fromEntries([...this.states].map(([name, state]) => [name, state.mark]))
      this.newest = { revision: this.revision, marks }
    }
    return this.newest
  }

  /** The revision of the set as it is now. */
  get current(): Revision {
    return this.revision
  }

  /** Since when a change is not stored, in milliseconds of the monotonic clock; `undefined` when all is. */
  get dirtySinceMillis(): number | undefined {
    return this.changedAt
  }

  /** Records that marks have moved over since the last stored set. */
  get unstoredRecords(): number {
    return this.moved - this.storedMoved
  }

  /** A set with this revision would be found after a crash. */
  stored(set: CursorSet): void {
    if (compareRevisions(set.revision, this.persisted) < 0) return
    this.persisted = set.revision
    this.persistedMarks.clear()
    for (const [name, mark] of Object.entries(set.marks)) this.persistedMarks.set(name, mark)
    // Of a set that is neither the newest nor the last taken it is not known what came after it: all counts as not stored.
    if (set.revision.epoch !== this.settings.epoch || set.revision.n !== this.taken.n) return
    this.changedAt = this.taken.changedAt
    this.storedMoved = this.taken.moved
  }

  /** The mark of a cursor; `undefined` where there is none of this name. */
  mark(name: string): number | undefined {
    return this.states.get(name)?.mark
  }

  /** Whether the cursor would be found after a crash: one that was made here, once a set with it is stored. */
  isStored(name: string): boolean {
    const made = this.madeAt.get(name)
    return this.states.has(name) && (made === undefined || compareRevisions(this.persisted, made) >= 0)
  }

  statuses(): Readonly<Record<string, CursorStatus>> {
    const durable = this.durable()
    return Object.fromEntries(
      [...this.states].map(([name, { mark }]) => [
        name,
        { mark, persisted: this.persistedMarks.get(name) ?? 0, lag: Math.max(0, durable - mark) }
      ])
    )
  }

  /** The lowest mark and whose it is. */
  lowest(): { readonly name: string; readonly mark: number } {
    let lowest = { name: defaultCursor, mark: this.states.get(defaultCursor)?.mark ?? 0 }
    for (const [name, state] of this.states) if (state.mark < lowest.mark) lowest = { name, mark: state.mark }
    return lowest
  }

  /** These are done. Answers the error of a call that changes nothing. */
  ack(name: string, done: SeqRange, nowMillis: number): AckError | undefined {
    const state = this.states.get(name) ?? startAt(this.trimmed())
    const problem = this.valueProblem(name, done.from, 1) ?? this.valueProblem(name, done.to, done.from) ??
      this.limitProblem(name, done.to)
    if (problem !== undefined) return problem
    const next = acknowledge(state, done)
    if (next.ahead.length > this.settings.maxAhead) {
      return new CursorTooFarAhead({ cursor: name, mark: state.mark, limit: this.settings.maxAhead })
    }
    this.set(name, state, next, nowMillis)
    return undefined
  }

  /** Everything up to `seq` is done. */
  commit(name: string, seq: number, nowMillis: number): CursorError | undefined {
    const problem = this.valueProblem(name, seq, 0) ?? this.limitProblem(name, seq)
    if (problem !== undefined) return problem
    const state = this.states.get(name) ?? startAt(this.trimmed())
    this.set(name, state, commitThrough(state, seq), nowMillis)
    return undefined
  }

  remove(name: string, nowMillis: number): CursorError | undefined {
    if (name === defaultCursor) {
      return new InvalidCursor({ cursor: name, value: name, rule: "cannot be removed: it always exists" })
    }
    if (this.states.delete(name)) {
      this.madeAt.delete(name)
      this.change(0, nowMillis)
      return undefined
    }
    // Removed by a call that was given up before it was so in the store: this one waits for that.
    if (this.persistedMarks.has(name)) return undefined
    return new InvalidCursor({ cursor: name, value: name, rule: "does not exist" })
  }

  private valueProblem(name: string, value: number, lowest: number): InvalidCursor | undefined {
    if (Number.isSafeInteger(value) && value >= lowest) return undefined
    return new InvalidCursor({
      cursor: name,
      value: String(value),
      rule: `must be a whole number from ${lowest} to ${Number.MAX_SAFE_INTEGER}`
    })
  }

  private limitProblem(name: string, seq: number): InvalidCursor | CommitBeyondDurable | undefined {
    if (!isId(name)) return new InvalidCursor({ cursor: name, value: name, rule: idRule })
    const durable = this.durable()
    if (seq > durable) return new CommitBeyondDurable({ cursor: name, requested: seq, durable })
    if (this.states.has(name) || this.states.size < maxCursors) return undefined
    return new InvalidCursor({ cursor: name, value: name, rule: `would be one more than ${maxCursors} cursors` })
  }

  private set(name: string, before: AckRanges, after: AckRanges, nowMillis: number): void {
    const created = !this.states.has(name)
    this.states.set(name, after)
    if (created || after.mark !== before.mark) this.change(after.mark - before.mark, nowMillis)
    if (created) this.madeAt.set(name, this.revision)
  }

  private change(records: number, nowMillis: number): void {
    this.revision = { epoch: this.settings.epoch, n: this.revision.n + 1 }
    this.changedAt ??= nowMillis
    this.taken.changedAt ??= nowMillis
    this.moved += records
  }
}
