/**
 * What callers of one log did and were told, as operations with a beginning and an end: what `checkLinearizable` judges.
 *
 * Times are counts of events: each beginning and each end takes the next number, so they are in one total order. An
 * operation without an end (`returnedAt` is infinity) was cut off by a crash, or nothing definite was said.
 */

/**
 * What can be left of an append that was not answered as durable.
 *
 * `whole`: all of it at one instant, or nothing (one segment). `prefix`: its first records, with consecutive numbers (a call
 * over several segments). `pieces`: its first records in order, others may stand between them (a call over several segments
 * whose rest a spool stores again later). An append that was durable always has consecutive numbers.
 */
export type AppendShape = "whole" | "prefix" | "pieces"

interface Timed {
  /** Place in `History.operations`. */
  readonly index: number
  /** Who: one opening of the log, or one reader. */
  readonly process: string
  readonly calledAt: number
  returnedAt: number
}

export interface Append extends Timed {
  readonly _tag: "Append"
  readonly ids: ReadonlyArray<number>
  readonly shape: AppendShape
  /** Place of its first record in `History.records`. */
  readonly firstRecord: number
  /** The number at which it stands if it takes effect at all; `undefined`: any. */
  acceptedFirst: number | undefined
  outcome: "unknown" | "durable" | "refused"
  /** The first number that the log answered; 0 unless durable. */
  first: number
}

export interface Read extends Timed {
  readonly _tag: "Read"
  /** `undefined` until it has returned. */
  seen: ReadResult | undefined
}

/** What a read was given. */
export interface ReadResult {
  /** The first number asked for, at least 1. */
  readonly from: number
  /** The records `from`, `from + 1`, … to the last one that was delivered. */
  readonly ids: ReadonlyArray<number>
  /**
   * `strong`: up to the durable end as it was at some instant of the read. `weak`: it may be stale or cut by a limit, as
   * reads of another node and of a writer that was overtaken are.
   */
  readonly strength: "strong" | "weak"
}

/** Numbers `from` to `to`, inclusive, are done; a commit is one from 1. */
export interface Ack extends Timed {
  readonly _tag: "Ack"
  readonly cursor: string
  readonly from: number
  readonly to: number
  outcome: "unknown" | "done" | "refused"
}

export interface Mark extends Timed {
  readonly _tag: "Mark"
  readonly cursor: string
  /** What the log found when this process opened it. */
  readonly opening: boolean
  /** `undefined` until it has returned. */
  seq: number | undefined
}

/** At this instant it was known that the mark of a cursor was stored. */
export interface Persisted extends Timed {
  readonly _tag: "Persisted"
  readonly cursor: string
  readonly seq: number
}

export type Operation = Append | Read | Ack | Mark | Persisted

/** Where a record came from. */
export interface AppendedRecord {
  readonly id: number
  readonly append: Append
}

const misuse = (holds: boolean, what: () => string): void => {
  if (!holds) throw new RangeError(what())
}

const isNumber = (seq: number): boolean => Number.isSafeInteger(seq) && seq >= 1

/**
 * The history of a log that was empty at its start. Its methods throw `RangeError` where the recorder itself is wrong: an
 * operation ends twice, one id is appended twice, a range asked for is no range. What the log answers is never refused
 * here: judging it is the checker's part.
 */
export class History {
  readonly operations: Array<Operation> = []
  /** Every record that somebody tried to append. */
  readonly records: Array<AppendedRecord> = []
  private readonly recordById = new Map<number, number>()
  private now = 0

  /** The place in `records` of the record with this id; `undefined`: nobody appended it. */
  recordOf(id: number): number | undefined {
    return this.recordById.get(id)
  }

  /**
   * An append begins. Ids are safe integers, at least one, each used once in a history. A repeat of an append under its
   * producer's id is the same operation: it begins with the first call and ends with the first definite answer.
   */
  append(process: string, ids: ReadonlyArray<number>, shape: AppendShape = "prefix"): Append {
    misuse(ids.length > 0, () => "an append has no records")
    const append: Append = {
      _tag: "Append",
      ...this.begin(process),
      ids,
      shape,
      firstRecord: this.records.length,
      acceptedFirst: undefined,
      outcome: "unknown",
      first: 0
    }
    for (const id of ids) {
      misuse(Number.isSafeInteger(id), () => `id ${id} is not a safe integer`)
      misuse(!this.recordById.has(id), () => `id ${id} is appended twice; each record needs its own`)
      this.recordById.set(id, this.records.length)
      this.records.push({ id, append })
    }
    this.operations.push(append)
    return append
  }

  /**
   * It was accepted under these numbers: it stands there or nowhere. Only to be called where nothing can store it under
   * others later: no spool, no repeat under a producer's id. No effect on the shape `pieces`.
   */
  accepted(append: Append, first: number): void {
    append.acceptedFirst = first
  }

  /** It was answered: durable, from this number on. */
  durable(append: Append, first: number): void {
    this.end(append)
    append.outcome = "durable"
    append.first = first
  }

  /** It was answered: perhaps. The same as no answer. */
  unknown(operation: Append | Ack): void {
    this.end(operation)
  }

  /** It was answered: certainly not. */
  refused(operation: Append | Ack): void {
    this.end(operation)
    operation.outcome = "refused"
  }

  /** A read begins. One that fails never ends. */
  read(process: string): Read {
    const read: Read = { _tag: "Read", ...this.begin(process), seen: undefined }
    this.operations.push(read)
    return read
  }

  /** A read has ended. */
  seen(read: Read, seen: ReadResult): void {
    misuse(isNumber(seen.from), () => `a read from ${seen.from}: numbers start at 1`)
    this.end(read)
    read.seen = seen
  }

  /** Acknowledging numbers `from` to `to` begins. A cursor that was removed and made again needs another name here. */
  ack(
    process: string,
    { cursor, from, to }: { readonly cursor: string; readonly from: number; readonly to: number }
  ): Ack {
    misuse(isNumber(from) && Number.isSafeInteger(to) && to >= from - 1, () => `an ack of ${from} to ${to}`)
    const ack: Ack = { _tag: "Ack", ...this.begin(process), cursor, from, to, outcome: "unknown" }
    this.operations.push(ack)
    return ack
  }

  /** A commit of everything up to `seq` begins. */
  commit(process: string, cursor: string, seq: number): Ack {
    return this.ack(process, { cursor, from: 1, to: seq })
  }

  /** An ack or a commit was answered with success. */
  acked(ack: Ack): void {
    this.end(ack)
    ack.outcome = "done"
  }

  /**
   * Looking at the mark of a cursor begins. With `opening` it is the opening of the log itself, and its end says what it
   * found. A process without one for a cursor has found it at 0.
   */
  mark(process: string, cursor: string, { opening = false }: { readonly opening?: boolean } = {}): Mark {
    const mark: Mark = { _tag: "Mark", ...this.begin(process), cursor, opening, seq: undefined }
    this.operations.push(mark)
    return mark
  }

  /** The mark was seen. */
  marked(mark: Mark, seq: number): void {
    this.end(mark)
    mark.seq = seq
  }

  /** The mark of a cursor is known to be stored, whatever happens to the writer. */
  persisted(process: string, cursor: string, seq: number): void {
    const persisted: Persisted = { _tag: "Persisted", ...this.begin(process), cursor, seq }
    persisted.returnedAt = persisted.calledAt
    this.operations.push(persisted)
  }

  private begin(process: string): Timed {
    return { index: this.operations.length, process, calledAt: ++this.now, returnedAt: Number.POSITIVE_INFINITY }
  }

  private end(operation: Timed): void {
    misuse(operation.returnedAt === Number.POSITIVE_INFINITY, () => `operation ${operation.index} ends twice`)
    operation.returnedAt = ++this.now
  }
}
