/**
 * The spool: local disk where sealed segments wait while the store cannot be reached.
 *
 * Owns: keeping bytes until it is told that they may go. Does not own: when something is spooled, in what order it is
 * sent, what has become durable. What is written survives the process, not the loss of the node.
 */
import { Context, Schema } from "effect"
import type { Effect, Scope } from "effect"
import type { ConfigError, DirectoryLocked, StoreUnavailable, SyncFailed } from "../WalError.ts"

/**
 * The spool's disk did not do what was asked.
 *
 * - `Full`: no room on the disk. Nothing was kept of the call.
 * - `Failed`: the disk refused, or a sync failed. What the call was to keep is not known to be kept.
 * - `Damaged`: what was kept does not read back.
 */
export class SpoolError extends Schema.TaggedError<SpoolError>()("SpoolError", {
  reason: Schema.Literals(["Full", "Failed", "Damaged"]),
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `spool ${this.path}: ${this.detail}`
  }
}

/** A slot that the spool holds. */
export interface SpooledSlot {
  readonly epoch: number
  readonly slot: number
  /** Size of the object. */
  readonly sizeBytes: number
}

/** A segment to keep: the object as it is sent to the store. */
export interface SpooledObject {
  readonly epoch: number
  readonly slot: number
  readonly object: Uint8Array
}

export interface SpoolService {
  /** 32 hexadecimal digits: this very spool, for as long as its directory exists. */
  readonly id: string
  /** The directory of this log's spool. */
  readonly path: string
  readonly maxBytes: number
  /** How long a PUT may be under way before its segment is spooled. */
  readonly afterMillis: number
  /** What it takes of the disk now. */
  readonly usedBytes: () => number
  /** At most `limit` of the slots at or after a point, ascending by epoch and slot. */
  readonly slots: (
    from: { readonly epoch: number; readonly slot: number },
    limit: number
  ) => Effect.Effect<ReadonlyArray<SpooledSlot>, SpoolError>
  readonly read: (epoch: number, slot: number) => Effect.Effect<Uint8Array, SpoolError>
  /** Keeps the objects, ascending by epoch and slot, all with one sync. Done means: they survive the process. */
  readonly write: (objects: ReadonlyArray<SpooledObject>) => Effect.Effect<void, SpoolError>
  /** Everything at or below the slot may go. */
  readonly dropThrough: (epoch: number, slot: number) => Effect.Effect<void, SpoolError>
}

/**
 * Why a spool cannot be opened: `ConfigError` for a directory that cannot be used, `DirectoryLocked` while somebody has
 * it, `SyncFailed` and `StoreUnavailable` for a disk that does not do what opening needs, a full one included.
 */
export type SpoolOpenError = ConfigError | DirectoryLocked | SyncFailed | StoreUnavailable

/** How a log gets its spool. */
export interface SpoolSource {
  /** The spool's root as it is configured; absent where no spool is. */
  readonly path: string | undefined
  /** Opens the spool of the log with this key prefix, for as long as the scope lives. Only where `path` is set. */
  readonly open: (prefix: string) => Effect.Effect<SpoolService, SpoolOpenError, Scope.Scope>
  /** Opens what an earlier configuration has left, by the `path` that its spool had; `undefined` where nothing is. */
  readonly openLeft: (path: string) => Effect.Effect<SpoolService | undefined, SpoolOpenError, Scope.Scope>
}

/** Yields how logs get their spool; `undefined`: they have none. */
export const Spool = Context.Reference<SpoolSource | undefined>("@effect-wal/core/Spool", {
  defaultValue: () => undefined
})
