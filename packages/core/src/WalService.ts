/** The interface of a log: what a program sees of it. */
import type { Effect, Sink, Stream } from "effect"
import type { AckError, AppendError, BufferFull, CursorError, ReadError, WalEnd } from "./WalError.ts"
import type { AppendRecord, LostRange, SequenceNumber, WalRecord } from "./WalRecord.ts"

/** Who makes a call, so that it can be repeated without appending it twice. */
export interface Producer {
  /** 1 to 128 printable ASCII characters. */
  readonly id: string
  /**
   * The producer's own number of the call, a safe integer from 0, the same for each repeat of it and higher for each next
   * call.
   */
  readonly sequence: number
}

/** What a call of `append` says beside its records. */
export interface AppendOptions {
  /**
   * A call of the same producer with the same sequence is appended once: a repeat is answered with the records of the
   * first, also after a restart and by another writer. All records of the call are kept in one segment.
   */
  readonly producer?: Producer
}

/** The answer to an append. */
export interface Appended {
  /** First and last sequence number of the call; `last` is `first - 1` for an empty call. */
  readonly first: SequenceNumber
  readonly last: SequenceNumber
  /** The writer epoch: until durable, the numbers are provisional and mean something in this epoch only. */
  readonly epoch: number
  /** Completes when all of the call is durable; fails with the reason why the log ended before. */
  readonly durable: Effect.Effect<void, WalEnd>
  /**
   * Completes when all of the call survives the loss of the process: it is durable, or in the spool on this machine's
   * disk (which the loss of the node takes along). Without a spool the same as `durable`.
   */
  readonly spooled: Effect.Effect<void, WalEnd>
  /** The call is a repeat: the numbers and the epoch are those of the first one, and nothing was appended now. */
  readonly isRepeat?: boolean
}

/** Progress of a replay; counts start with this replay. */
export interface ReplayProgress {
  readonly records: number
  readonly bytes: number
  readonly segments: number
  /** Segments between the start of the replay and the durable end when it started. */
  readonly segmentsTotal: number
}

/** What `replay` delivers: from which cursor, to where. */
export interface ReplayOptions {
  /** Delivery starts after this cursor's mark; `default` when absent. */
  readonly cursor?: string
  /** `durable-end`: ends at the watermark of the moment it gets there. `live`: goes on with what becomes durable. Default `live`. */
  readonly until?: "durable-end" | "live"
  /** Called after every segment. */
  readonly onProgress?: (progress: ReplayProgress) => Effect.Effect<void>
}

/** What `read` delivers: from where, to where, how much. */
export interface ReadOptions {
  /** Where to start: a sequence number (inclusive), or the first record appended at or after a time. Default: the oldest. */
  readonly from?: SequenceNumber | { readonly appendedAtMillis: number }
  /** `durable-end` (default) or `live`. */
  readonly until?: "durable-end" | "live"
  /** At most so many records. */
  readonly limit?: number
}

/** What to do about damage: fail with a typed error (default), or deliver the lost range as an element and go on. */
export interface SkipDamage {
  readonly onDamage: "skip"
}

/** Where a cursor stands. */
export interface CursorStatus {
  readonly mark: SequenceNumber
  /** The mark as it would be found after a crash now. */
  readonly persisted: SequenceNumber
  /** Durable records above the mark. */
  readonly lag: number
}

/** `fenced`: a newer writer has the log. `failed`: it has ended by an error. Only an `open` log takes records. */
export type WalState = "open" | "closing" | "closed" | "fenced" | "failed"

/** Where a log stands, at one moment. */
export interface WalStatus {
  readonly nodeId: string
  readonly streamId: string
  readonly state: WalState
  /** Why it is not open, for people. */
  readonly stateReason?: string
  /** Set when fenced and known. */
  readonly newOwner?: string
  readonly logId: string
  readonly epoch: number
  readonly lastAccepted: SequenceNumber
  readonly durable: SequenceNumber
  /** Everything up to it is durable or in the spool; never below `durable`. */
  readonly spooled: SequenceNumber
  readonly trimmedTo: SequenceNumber
  readonly cursors: Readonly<Record<string, CursorStatus>>
  /** The cursor that holds back deletion, where the policy is `committed` and one does. */
  readonly heldBackBy?: string
  /** Accepted, and neither durable nor in the spool: what a crash now would lose. */
  readonly atRisk: { readonly records: number; readonly bytes: number; readonly oldestAgeMillis: number }
  readonly buffered: { readonly bytes: number; readonly limitBytes: number; readonly queuedSegments: number }
  readonly segments: { readonly durable: number; readonly inFlight: number }
  /** Absent in a log without a spool. What it holds survives the process, not the loss of the node. */
  readonly spool?: {
    readonly path: string
    /** Records and segments that are not durable yet. */
    readonly records: number
    readonly segments: number
    /** What it takes of the disk. */
    readonly bytes: number
    readonly limitBytes: number
    /** Why nothing more can be spooled, for people. */
    readonly problem?: string
  }
  /** Since when PUTs have failed without one success between, epoch milliseconds; absent while all is well. */
  readonly storeFailingSinceMillis?: number
  readonly lastStoreError?: string
  readonly epochs: ReadonlyArray<
    { readonly epoch: number; readonly end: number | null; readonly lastSeq: SequenceNumber | null }
  >
}

/** How a log ended. */
export interface CloseReport {
  readonly streamId: string
  readonly durable: SequenceNumber
  /** Accepted, and not known to be durable or in the spool, inclusive; null when there is none. */
  readonly lost: { readonly from: SequenceNumber; readonly to: SequenceNumber } | null
  /** In the spool and not known to be durable, inclusive: the next start on this machine sends it; null when there is none. */
  readonly spooled: { readonly from: SequenceNumber; readonly to: SequenceNumber } | null
  /** The manifest and the cursors are stored. */
  readonly manifestWritten: boolean
}

/** How a log is read, by its writer or by a reader of its own. */
export interface LogReads {
  /** Records after a cursor, in order, durable ones only. */
  readonly replay: {
    (options: ReplayOptions & SkipDamage): Stream.Stream<WalRecord | LostRange, ReadError>
    (options?: ReplayOptions): Stream.Stream<WalRecord, ReadError>
  }
  /** Records from a number or a time, in order, durable ones only. */
  readonly read: {
    (options: ReadOptions & SkipDamage): Stream.Stream<WalRecord | LostRange, ReadError>
    (options?: ReadOptions): Stream.Stream<WalRecord, ReadError>
  }
}

export interface WalService extends LogReads {
  /**
   * Accepts the records, in order, and waits only for room. The bytes are copied. A call that spans segments can survive
   * a crash as a prefix. Interrupting the caller drops what was not yet accepted and nothing else.
   *
   * With a `producer` the call is accepted whole or not at all. It fails `InvalidProducer`; `ProducerCallTooLarge` where it
   * does not fit into one segment; `ProducerConflict` where the sequence was used for other records;
   * `ProducerSequenceTooOld` where it is below the producer's newest and not remembered.
   */
  readonly append: (
    records: ReadonlyArray<AppendRecord>,
    options?: AppendOptions
  ) => Effect.Effect<Appended, AppendError>
  /**
   * As `append`, but fails `BufferFull` instead of waiting; then nothing was accepted. Several records that together take
   * more than the whole buffer fail so each time: only `append` takes them, piece by piece.
   */
  readonly appendNow: (
    records: ReadonlyArray<AppendRecord>,
    options?: AppendOptions
  ) => Effect.Effect<Appended, AppendError | BufferFull>
  /** Appends what flows in, a chunk a call, and ends when all of it is durable; its result is the last sequence number (0: none). */
  readonly sink: Sink.Sink<SequenceNumber, AppendRecord, never, AppendError>
  /** Seals what is open and waits until all that was accepted before is durable; its result is the watermark. */
  readonly flush: Effect.Effect<SequenceNumber, WalEnd>
  /**
   * These are done, in any order; the mark moves over what is contiguous. Creates the cursor where it is missing, and waits
   * then until that is stored.
   */
  readonly ack: (
    done: SequenceNumber | { readonly from: SequenceNumber; readonly to: SequenceNumber },
    options?: { readonly cursor?: string }
  ) => Effect.Effect<void, AckError>
  /**
   * Everything up to `seq` is done. A lower value than the mark is a no-op. Creates the cursor where it is missing, and waits
   * then until that is stored.
   */
  readonly commit: (seq: SequenceNumber, options?: { readonly cursor?: string }) => Effect.Effect<void, CursorError>
  /**
   * Forgets a cursor, and waits until that is stored; so does a call that repeats one that was given up before. `default`
   * cannot be removed.
   */
  readonly removeCursor: (cursor: string) => Effect.Effect<void, CursorError>
  /**
   * Deletes whole segments of what is durable now, at or below `seq`, as far as every cursor allows, and the rest once they
   * do; its result is the new trim point.
   */
  readonly trim: (seq: SequenceNumber) => Effect.Effect<SequenceNumber, CursorError>
  readonly status: Effect.Effect<WalStatus>
  /**
   * Refuses appends, seals, drains, writes manifest and cursors, all within `shutdown_timeout`; what is trimmed then is
   * deleted, which it waits for two seconds at most. The second call gets the first's report. Afterwards this process can
   * open the log again, and its series are gone.
   */
  readonly close: Effect.Effect<CloseReport>
  /** Completes, never fails, when the log has ended: with the reason. */
  readonly ended: Effect.Effect<WalEnd>
}
