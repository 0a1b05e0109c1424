/**
 * What a data command works on: a server, through its API, or a store, through its configuration. One interface, so that a
 * command does not know which.
 */
import { type AppendRecord, isLostRange, type LostRange, type WalRecord } from "@effect-wal/core/WalRecord"
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { AckLevel, StreamStatus } from "../../api/Schemas.ts"
import type { StreamConfig } from "../../config/ServerConfig.ts"
import type { TaggedFailure } from "../Failure.ts"

/** What a read delivers: records, and where damage is skipped the ranges that it took. */
export type Element = WalRecord | LostRange

/** The last sequence number of an element. */
export const lastNumber = (element: Element): number => isLostRange(element) ? element.to : element.seq

/**
 * Where a read starts: a number, a time (epoch milliseconds), a cursor's mark, `oldest`, `next` (what becomes durable from
 * now on), or so many records before the end.
 */
export type Start =
  | { readonly _tag: "Seq"; readonly seq: number }
  | { readonly _tag: "Time"; readonly millis: number }
  | { readonly _tag: "Cursor"; readonly name: string }
  | { readonly _tag: "Oldest" }
  | { readonly _tag: "Next" }
  | { readonly _tag: "Last"; readonly records: number }

/** What is to be read. */
export interface ReadOrder {
  readonly start: Start
  /** At most so many elements. */
  readonly limit?: number
  readonly onDamage: "fail" | "skip"
  /** Goes on with what becomes durable; else it ends at the durable end. */
  readonly follow: boolean
}

/** How a batch is appended. */
export interface AppendOrder {
  /** How far it must have come when it counts as done. */
  readonly ack: AckLevel
  /** Lines of JSON, or one record of any bytes. */
  readonly form: "ndjson" | "bytes"
  /** Names the batch, so that a repeat of it appends nothing. */
  readonly key?: string
}

/** What became of a batch that was taken. */
export interface Placed {
  readonly first: number
  readonly last: number
  readonly epoch: number
  /** The batch was there before: nothing was appended now. */
  readonly isRepeat: boolean
}

/** A batch that was taken; `settled` completes when it has come as far as was asked for. */
export interface TakenBatch {
  readonly settled: Effect.Effect<Placed, TaggedFailure>
}

/** Where a stream stands: as the server tells it, or as far as a store can. */
export interface StreamReport extends Omit<StreamStatus, "state"> {
  /** `stored`: read from the store, which does not say whether a writer runs. `absent`: there is no log yet. */
  readonly state: StreamStatus["state"] | "stored" | "absent"
  /** Who has opened it for writing last; from a store only. */
  readonly writer?: string
}

/** One cursor. */
export interface CursorReport {
  readonly name: string
  readonly seq: number
  readonly persisted: number
  readonly lag: number
}

/** What a command does to a stream besides reading. */
export interface StreamWriter {
  /** Takes a batch; waits for room only. Batches are stored in the order of the calls. */
  readonly append: (
    records: ReadonlyArray<AppendRecord>,
    order: AppendOrder
  ) => Effect.Effect<TakenBatch, TaggedFailure>
  /** The last call of a writer: of a store it gives the stream back, and fails where the mark is not known to be stored. */
  readonly commit: (cursor: string, seq: number) => Effect.Effect<CursorReport, TaggedFailure>
  readonly removeCursor: (cursor: string) => Effect.Effect<void, TaggedFailure>
  /** Its result is the durable end. */
  readonly flush: Effect.Effect<number, TaggedFailure>
  /** Its result is the new trim point. */
  readonly trim: (seq: number) => Effect.Effect<number, TaggedFailure>
  /** Gives the stream back; fails where something that was taken is not stored. */
  readonly close: Effect.Effect<void, TaggedFailure>
}

/** How a stream is opened for changes. */
export interface WriterOptions {
  /** The command, for whoever is fenced by it. */
  readonly command: string
  /** Go on although the log may have a live writer, which is fenced then. */
  readonly takeOver: boolean
  /** Makes the log where the store has none, which is an error else. */
  readonly creates: boolean
}

/** A stream that is read. */
export interface StreamReader {
  readonly read: (order: ReadOrder) => Stream.Stream<Element, TaggedFailure>
  readonly report: Effect.Effect<StreamReport, TaggedFailure>
}

/** A server or a store. */
export class Target extends Context.Service<Target, {
  readonly kind: "server" | "store"
  /** For people: the address without secrets, or the configuration's name. */
  readonly place: string
  /** The ids of the streams that there are. */
  readonly streamIds: Effect.Effect<ReadonlyArray<string>, TaggedFailure>
  readonly reader: (stream: string) => Effect.Effect<StreamReader, TaggedFailure, Scope.Scope>
  readonly writer: (stream: string, options: WriterOptions) => Effect.Effect<StreamWriter, TaggedFailure, Scope.Scope>
  /** The configuration of a stream; `undefined` of a server. */
  readonly configOf: (stream: string) => StreamConfig | undefined
}>()("@effect-wal/server/Target") {}
