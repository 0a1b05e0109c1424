/**
 * The store of one log on a local disk: segments and end markers in append-only files, all other objects as files.
 *
 * ```
 * {path}/{prefix}~journal/…             the slots of the log (`journal/Journal.ts`)
 * {path}/{prefix}manifest.json, …       everything else (`DirectoryObjectStore.ts`)
 * ```
 *
 * An answer means durable. One process has the store of a log open; it is locked until its scope ends.
 */
import type { Scope } from "effect"
import { Deferred, Effect, Exit } from "effect"
import { join } from "node:path"
import { Digest, type DigestService } from "../codec/Digest.ts"
import { knownCriticalExtensions } from "../format/Extensions.ts"
import { parseSlotKey, type SlotName } from "../format/ObjectKey.ts"
import { maxMarkerBytes } from "../format/SegmentCodec.ts"
import { decodeHeader } from "../format/SegmentHeader.ts"
import type { GetRequest, ObjectStore, StoredObject, Tag, WriteOptions } from "../store/ObjectStore.ts"
import { ObjectStoreError, type Operation, type Reason } from "../store/ObjectStoreError.ts"
import type { ConfigError, DirectoryLocked, StoreUnavailable, SyncFailed } from "../WalError.ts"
import { journalName } from "./directory/Layout.ts"
import * as DirectoryObjectStore from "./DirectoryObjectStore.ts"
import * as Journal from "./journal/Journal.ts"
import { type JournalError, openError } from "./journal/JournalError.ts"
import { listStore } from "./journal/StoreListing.ts"

/** Where a local log is. */
export interface LocalObjectStoreOptions {
  /** The directory; created when it is not there, with those above it. */
  readonly path: string
  /** Where the keys of the log start, as `logPrefix` gives it: with a slash at the end. */
  readonly prefix: string
  /** Size at which a file of slots ends, in bytes; default 64 MiB. */
  readonly maxFileBytes?: number
}

/** A slot is written once. */
const slotTag: Tag = "1"

/** Keys of one removal. */
const maxBatch = 1_000

interface Store {
  readonly journal: Journal.Journal
  readonly files: ObjectStore["Service"]
  readonly prefix: string
  readonly digest: DigestService
  /** Slots that are being created, and when that is decided. */
  readonly creating: Map<string, Deferred.Deferred<void>>
}

const answer = (operation: Operation, key: string, reason: Reason, detail: string) =>
  new ObjectStoreError({ operation, key, reason, detail })

const fromJournal = (operation: Operation, key: string) => (error: JournalError): ObjectStoreError =>
  new ObjectStoreError({
    operation,
    key,
    reason: error.reason === "full" ? "StoreFull" : "Unavailable",
    detail: error.message,
    code: error.reason
  })

const getSlot = Effect.fnUntraced(function*(
  store: Store,
  name: SlotName,
  key: string,
  request?: GetRequest
): Effect.fn.Return<StoredObject, ObjectStoreError> {
  const found = yield* Effect.mapError(store.journal.read(name, request), fromJournal("get", key))
  if (found === undefined) return yield* answer("get", key, "NotFound", "no such slot")
  // Whoever asked checks the bytes himself, and knows what to do.
  if (!found.intact) yield* Effect.logError(`${key} is damaged on disk, in ${store.journal.path}`)
  return { body: found.body, tag: slotTag }
})

/** End markers keep no file from going: on a local disk no late request can meet the place where one stood. */
const isEndMarker = (body: Uint8Array, digest: DigestService): boolean => {
  if (body.length > maxMarkerBytes) return false
  const decoded = decodeHeader(body, digest, knownCriticalExtensions)
  return "header" in decoded && decoded.header.kind === "end-marker"
}

/** A slot that is to be created. */
interface NewSlot {
  readonly key: string
  readonly name: SlotName
  readonly body: Uint8Array
  readonly crc32: number
}

const appendSlot = ({ digest, journal }: Store, { body, crc32, key, name }: NewSlot) =>
  Effect.flatMap(journal.has(name), (isTaken): Effect.Effect<Tag, JournalError | ObjectStoreError> => {
    if (isTaken) return Effect.fail(answer("create", key, "AlreadyExists", "the slot is taken"))
    return Effect.as(journal.append([{ ...name, body, crc32, passive: isEndMarker(body, digest) }]), slotTag)
  }).pipe(Effect.catchTag("JournalError", (error) => Effect.fail(fromJournal("create", key)(error))))

/** Two creates of one slot take turns: the second one finds the slot taken, or free when the first one failed. */
const appendInTurn = (store: Store, slot: NewSlot): Effect.Effect<Tag, ObjectStoreError> =>
  Effect.uninterruptibleMask((restore) => {
    const attempt = (): Effect.Effect<Tag, ObjectStoreError> => {
      const other = store.creating.get(slot.key)
      if (other !== undefined) return Effect.flatMap(restore(Deferred.await(other)), attempt)
      const decided = Deferred.makeUnsafe<void>()
      store.creating.set(slot.key, decided)
      return Effect.onExit(restore(appendSlot(store, slot)), () => {
        store.creating.delete(slot.key)
        Deferred.doneUnsafe(decided, Exit.void)
        return Effect.void
      })
    }
    return attempt()
  })

const createSlot = (
  store: Store,
  { key, name }: Pick<NewSlot, "key" | "name">,
  body: Uint8Array,
  options?: WriteOptions
): Effect.Effect<Tag, ObjectStoreError> =>
  Effect.suspend(() => {
    const crc32 = store.digest.crc32(body)
    if (options?.crc32 === undefined || options.crc32 === crc32) return appendInTurn(store, { key, name, body, crc32 })
    const detail = "the body has another CRC-32 than the caller says"
    return Effect.fail(answer("create", key, "UnexpectedResponse", detail))
  })

const remove = Effect.fnUntraced(function*(store: Store, keys: ReadonlyArray<string>) {
  const [first = ""] = keys
  if (keys.length > maxBatch) {
    const detail = `${keys.length} keys, at most ${maxBatch} go in one call`
    return yield* answer("remove", first, "UnexpectedResponse", detail)
  }
  const slots = keys.flatMap((key) => parseSlotKey(store.prefix, key) ?? [])
  if (slots.length > 0) yield* Effect.mapError(store.journal.remove(slots), fromJournal("remove", first))
  return yield* store.files.remove(keys.filter((key) => parseSlotKey(store.prefix, key) === undefined))
})

const service = (store: Store): ObjectStore["Service"] => {
  const { files, journal, prefix } = store
  const slotOf = (key: string) => parseSlotKey(prefix, key)
  return {
    id: `local:${files.disk}`,
    ...(files.disk === undefined ? {} : { disk: files.disk }),
    proven: true,
    get: (key, request) => {
      const name = slotOf(key)
      return name === undefined ? files.get(key, request) : getSlot(store, name, key, request)
    },
    create: (key, body, options) => {
      const name = slotOf(key)
      return name === undefined ? files.create(key, body, options) : createSlot(store, { key, name }, body, options)
    },
    replace: (key, body, expected, options) =>
      slotOf(key) === undefined
        ? files.replace(key, body, expected, options)
        : Effect.fail(answer("replace", key, "NotSupported", "a slot is never replaced")),
    list: (request) => listStore({ files, journal, prefix }, request, fromJournal("list", request.prefix)),
    remove: (keys) => remove(store, keys),
    advice: (start) => files.advice(start)
  }
}

/**
 * Opens the store of one log. It takes slots below `prefix` only as this log's; all other keys are files below `path`.
 *
 * Fails `ConfigError` when the directory can't be made or used, `DirectoryLocked` at once when somebody has the log open,
 * `SyncFailed` when the disk does not confirm what opening has to write, `StoreUnavailable` for anything else that it
 * answers, a full disk included.
 */
export const make = Effect.fnUntraced(
  function*(options: LocalObjectStoreOptions): Effect.fn.Return<
    ObjectStore["Service"],
    ConfigError | DirectoryLocked | SyncFailed | StoreUnavailable,
    Scope.Scope
  > {
    const files = yield* DirectoryObjectStore.make({ path: options.path })
    const directory = join(files.disk ?? options.path, options.prefix, journalName)
    const journal = yield* Journal.open({
      directory,
      ...(options.maxFileBytes === undefined ? {} : { maxFileBytes: options.maxFileBytes })
    }).pipe(Effect.catchTag("JournalError", (error) => Effect.fail(openError(error))))
    return service({ journal, files, prefix: options.prefix, digest: yield* yield* Digest, creating: new Map() })
  }
)
