/**
 * The one thing the log asks of the world: a flat key space with two conditional writes.
 *
 * A store answers once for each call: no retries of its own (the log counts and paces the attempts) and a deadline on
 * every attempt, bodies included. Tags are opaque strings, echoed byte for byte.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { ObjectStoreError } from "./ObjectStoreError.ts"

/** Names one version of one object. Opaque: never parsed, never compared with a checksum. */
export type Tag = string

/** A whole object, or the asked part of it, with the tag of the version it came from. */
export interface StoredObject {
  readonly body: Uint8Array
  readonly tag: Tag
}

/** An object as a listing shows it. */
export interface ListedObject {
  readonly key: string
  readonly sizeBytes: number
  /** When the store says the object was written, in epoch milliseconds; absent where the store does not say. */
  readonly modifiedMillis?: number
}

/** One page of a listing. */
export interface ListPage {
  /** In the store's order, which the caller does not trust. */
  readonly objects: ReadonlyArray<ListedObject>
  /** Hand it back to get the next page; absent on the last one. */
  readonly next?: string
}

/** Which part of a listing is asked for. */
export interface ListRequest {
  /** Only keys that start with this. */
  readonly prefix: string
  /** Only keys after this one; a store may ignore it, the caller filters. */
  readonly startAfter?: string
  /** From the page before. */
  readonly page?: string
  /** At most this many objects in the page, 1 to 1,000; default 1,000. */
  readonly limit?: number
}

/** What of an object is asked for. */
export interface GetRequest {
  /** Only the first so many bytes (fewer when the object is shorter). Absent: the whole object. */
  readonly firstBytes?: number
}

/** What a write carries beside its body. */
export interface WriteOptions {
  /** CRC-32 (IEEE) of the body as an unsigned integer, where the caller has it: a store that can, verifies it. */
  readonly crc32?: number
}

/** A key that was not removed, and the store's code for why. */
export interface RemoveFailure {
  readonly key: string
  readonly code: string
}

/**
 * A store of objects with create-if-absent and compare-and-swap.
 *
 * Errors are `ObjectStoreError`; which reasons an operation can answer with:
 * `get`: `NotFound` and the transport's · `create`: `AlreadyExists`, `Conflict` and the transport's · `replace`:
 * `PreconditionFailed`, `NotFound`, `Conflict` and the transport's · `list`, `remove`: the transport's. The transport's
 * are `Throttled`, `Unavailable`, `TimedOut`, `AccessDenied`, `NoSuchBucket`, `CredentialsUnavailable`, `StoreFull`,
 * `NotSupported`, `UnexpectedResponse`.
 */
export class ObjectStore extends Context.Service<ObjectStore, {
  /** Names this store for people and as an identity: two layers on one bucket or directory have one id. */
  readonly id: string
  /** The directory on a disk of this machine that holds the objects; absent for other stores. */
  readonly disk?: string
  /** A journal of this program's own: it is not probed before it is used, and nobody else puts anything there. */
  readonly proven?: true
  /** Reads the object, or its first bytes. */
  readonly get: (key: string, request?: GetRequest) => Effect.Effect<StoredObject, ObjectStoreError>
  /** Writes the object if the key is free. The caller must not change `body` until the effect is done. */
  readonly create: (key: string, body: Uint8Array, options?: WriteOptions) => Effect.Effect<Tag, ObjectStoreError>
  /** Replaces the object if its tag still is `expected`. */
  readonly replace: (
    key: string,
    body: Uint8Array,
    expected: Tag,
    options?: WriteOptions
  ) => Effect.Effect<Tag, ObjectStoreError>
  /** One page of keys. Order and repeats are the store's: callers sort and deduplicate. */
  readonly list: (request: ListRequest) => Effect.Effect<ListPage, ObjectStoreError>
  /** Removes up to 1,000 objects; a key that is not there counts as removed. Answers those that were not. */
  readonly remove: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<RemoveFailure>, ObjectStoreError>
  /** Warnings about how this store is set up (a life-cycle rule over the prefix, versioning), read once at start. */
  readonly advice: (prefix: string) => Effect.Effect<ReadonlyArray<string>, ObjectStoreError>
}>()("@effect-wal/core/ObjectStore") {}
