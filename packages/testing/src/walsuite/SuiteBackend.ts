/**
 * What a backend brings to the log suite: a fresh place for each test, how a process reaches it, and what can be done to
 * it behind the log's back.
 */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { Effect, Scope } from "effect"

/** Any typed error: what a suite may look at, whatever the backend. */
export interface TaggedFailure {
  readonly _tag: string
  readonly message: string
}

/** Where one log lives. */
export interface WalPlace {
  /** What its keys start with, without a slash at the end; absent: nothing. Only for places that others share. */
  readonly prefix?: string
  /**
   * What one process does to reach it. The locks and handles that it takes go with the scope: by the end of the scope they
   * are free, as when the process is gone.
   */
  readonly connect: Effect.Effect<ObjectStore["Service"], TaggedFailure, Scope.Scope>
  /** Damages a stored segment behind the back of everybody; no process is connected then. */
  readonly scar: (change: Scar) => Effect.Effect<void, TaggedFailure>
}

/** Flips the lowest bit of `length` bytes of a segment from `at` on (negative: counted from its end). */
export interface Scar {
  readonly key: string
  /** The segment as it is stored. */
  readonly body: Uint8Array
  readonly at: number
  readonly length: number
}

/** A backend of the log, as the suite needs it. */
export interface WalBackend {
  /** A place that is empty; what is there is removed with the scope. */
  readonly place: Effect.Effect<WalPlace, never, Scope.Scope>
  /** What happens to a second process: it takes the log over, or its `connect` fails `DirectoryLocked`. */
  readonly secondWriter: "takes-over" | "is-refused"
  /**
   * Segments are objects of their own: each can be removed, replaced, and stand beside objects of others, and damage of the
   * last one is no torn tail.
   */
  readonly objects: boolean
  /** It is on a disk of this machine: while that is full, appends are refused with `DiskFull`. */
  readonly onDisk: boolean
  /** Most segments under way at once. */
  readonly window: 1 | 8
}
