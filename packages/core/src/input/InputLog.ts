/** What an input needs of a log: the same for a log of records and for one of values. */
import { type Effect, Stream } from "effect"
import type { UndecodableRecord } from "../TypedRecord.ts"
import type { AppendError, ReadError } from "../WalError.ts"
import { type AppendRecord, isLostRange, type LostRange, type SequenceNumber, type WalRecord } from "../WalRecord.ts"
import type { Appended, AppendOptions, ReadOptions, ReplayOptions, WalService } from "../WalService.ts"

/** An element as it comes back from the log. */
export interface Readable<A> {
  readonly seq: SequenceNumber
  readonly value: A
}

/** What stands in the log in the place of an element: a range that damage took away, or a record that does not decode. */
export type Unreadable = LostRange | UndecodableRecord

/** Whether unreadable elements are delivered, or end the stream with their error. */
export interface ReadPolicy {
  readonly skipsUnreadable: boolean
}

/** `E` is what reading fails with; `R` is what encoding and decoding need. */
export interface InputLog<A, E, R> extends Pick<WalService, "commit" | "ended" | "flush" | "status"> {
  readonly append: (elements: ReadonlyArray<A>, options?: AppendOptions) => Effect.Effect<Appended, AppendError, R>
  readonly replay: (options: ReplayOptions, policy: ReadPolicy) => Stream.Stream<Readable<A> | Unreadable, E, R>
  readonly read: (options: ReadOptions, policy: ReadPolicy) => Stream.Stream<Readable<A> | Unreadable, E, R>
}

/** Tells an unreadable element from the others. */
export const isUnreadable = <A>(element: Readable<A> | Unreadable): element is Unreadable => "_tag" in element

/** The numbers that an element takes, inclusive. */
export const rangeOf = <A>(element: Readable<A> | Unreadable) =>
  "from" in element ? { from: element.from, to: element.to } : { from: element.seq, to: element.seq }

const readable = (stream: Stream.Stream<WalRecord | LostRange, ReadError>) =>
  Stream.map(
    stream,
    (element): Readable<AppendRecord> | LostRange =>
      isLostRange(element) ? element : { seq: element.seq, value: element }
  )

/** A log of records. */
export const ofRecords = (wal: WalService): InputLog<AppendRecord, ReadError, never> => ({
  commit: wal.commit,
  ended: wal.ended,
  flush: wal.flush,
  status: wal.status,
  append: wal.append,
  replay: (options, { skipsUnreadable }) =>
    readable(skipsUnreadable ? wal.replay({ ...options, onDamage: "skip" }) : wal.replay(options)),
  read: (options, { skipsUnreadable }) =>
    readable(skipsUnreadable ? wal.read({ ...options, onDamage: "skip" }) : wal.read(options))
})
