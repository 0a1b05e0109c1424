/**
 * An object store in memory, and the handles that a test needs on it: the raw objects, and what was asked.
 *
 * Each operation is one synchronous step, so it is linearizable as S3 is. Tags are numbers that are never given twice.
 */
import { NonceSource } from "@effect-wal/core/Nonce"
import type { ListedObject, ListRequest, Tag, WriteOptions } from "@effect-wal/core/store/ObjectStore"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { Operation } from "@effect-wal/core/store/ObjectStoreError"
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { Clock, Context, Effect, Layer } from "effect"
import { crc32 } from "node:zlib"

/** One object as it is kept. */
export interface MemoryObject {
  readonly body: Uint8Array
  readonly tag: Tag
  readonly modifiedMillis: number
}

/** One request that reached the store, in the order of arrival; the answer is not in it. */
export interface MemoryRequest {
  readonly operation: Operation
  /** The key; for `list` the prefix. A `remove` of n keys is one request. */
  readonly keys: ReadonlyArray<string>
}

/** How the store in memory is made. */
export interface MemoryObjectStoreOptions {
  /** Identity of the store; default: a fresh one. Two layers with one id are still two stores. */
  readonly id?: string
  /** Most objects in one page of a listing, whatever was asked for; default 1,000. */
  readonly pageSize?: number
  /** What `advice` answers; default nothing. */
  readonly advice?: ReadonlyArray<string>
}

/** The handles of a memory store. Everything here is synchronous and leaves no request behind. */
export interface MemoryHandles {
  /** The store itself, for those that do not take it from the context. */
  readonly store: ObjectStore["Service"]
  /** The objects. Delete from it to lose one; use `put` and `damage` to change one. */
  readonly objects: Map<string, MemoryObject>
  /** All requests so far. */
  readonly requests: ReadonlyArray<MemoryRequest>
  /** How many requests of that kind reached the store, since the start or since `clearRequests`. */
  readonly count: (operation: Operation) => number
  /** Forgets the requests so far. */
  readonly clearRequests: () => void
  /** Writes an object past all conditions, with a fresh tag. */
  readonly put: (key: string, body: Uint8Array) => void
  /** Changes the bytes of an object behind its back: the tag stays. Dies when the object is not there. */
  readonly damage: (key: string, change: (body: Uint8Array) => Uint8Array) => void
}

const maxBatch = 1_000

const refuse = (operation: Operation, key: string, reason: ObjectStoreError["reason"], detail: string) =>
  Effect.fail(new ObjectStoreError({ operation, key, reason, detail }))

/** One page of the keys of `objects`, sorted. The page token is the last key of the page before. */
const pageOf = (objects: ReadonlyMap<string, MemoryObject>, request: ListRequest, pageSize: number) => {
  const after = request.page ?? request.startAfter ?? ""
  const keys = [...objects.keys()].filter((key) => key.startsWith(request.prefix) && key > after).sort()
  const limit = Math.min(request.limit ?? maxBatch, pageSize)
  const listed = keys.slice(0, limit).flatMap((key): ReadonlyArray<ListedObject> => {
    const object = objects.get(key)
    return object === undefined ? [] : [{ key, sizeBytes: object.body.length, modifiedMillis: object.modifiedMillis }]
  })
  const last = listed.at(-1)
  return keys.length > limit && last !== undefined ? { objects: listed, next: last.key } : { objects: listed }
}

const makeHandles = (options: MemoryObjectStoreOptions, id: string): MemoryHandles => {
  const objects = new Map<string, MemoryObject>()
  const requests: Array<MemoryRequest> = []
  let lastTag = 0

  const write = (key: string, body: Uint8Array, modifiedMillis: number): Tag => {
    const tag = `"${++lastTag}"`
    objects.set(key, { body: body.slice(), tag, modifiedMillis })
    return tag
  }
  const arrive = (operation: Operation, keys: ReadonlyArray<string>) => requests.push({ operation, keys: [...keys] })
  const wrongDigest = (body: Uint8Array, write: WriteOptions | undefined) =>
    write?.crc32 !== undefined && write.crc32 !== crc32(body)

  const store = ObjectStore.of({
    id,
    get: (key, request) =>
      Effect.suspend(() => {
        arrive("get", [key])
        const object = objects.get(key)
        if (object === undefined) return refuse("get", key, "NotFound", "no such key")
        return Effect.succeed({ body: object.body.slice(0, request?.firstBytes), tag: object.tag })
      }),
    create: (key, body, request) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        arrive("create", [key])
        if (wrongDigest(body, request)) {
          return refuse("create", key, "UnexpectedResponse", "the body has another CRC-32")
        }
        if (objects.has(key)) return refuse("create", key, "AlreadyExists", "the key is taken")
        return Effect.succeed(write(key, body, now))
      }),
    replace: (key, body, expected, request) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        arrive("replace", [key])
        if (wrongDigest(body, request)) {
          return refuse("replace", key, "UnexpectedResponse", "the body has another CRC-32")
        }
        const object = objects.get(key)
        if (object === undefined) return refuse("replace", key, "NotFound", "no such key")
        if (object.tag !== expected) return refuse("replace", key, "PreconditionFailed", `the tag is ${object.tag}`)
        return Effect.succeed(write(key, body, now))
      }),
    list: (request) =>
      Effect.sync(() => {
        arrive("list", [request.prefix])
        return pageOf(objects, request, options.pageSize ?? maxBatch)
      }),
    remove: (keys) =>
      Effect.suspend(() => {
        arrive("remove", keys)
        if (keys.length > maxBatch) return refuse("remove", keys[0] ?? "", "UnexpectedResponse", `${keys.length} keys`)
        for (const key of keys) objects.delete(key)
        return Effect.succeed([])
      }),
    advice: () => Effect.succeed(options.advice ?? [])
  })

  return {
    store,
    objects,
    requests,
    count: (operation) => requests.filter((request) => request.operation === operation).length,
    clearRequests: () => {
      requests.length = 0
    },
    put: (key, body) => {
      write(key, body, 0)
    },
    damage: (key, change) => {
      const object = objects.get(key)
      if (object === undefined) throw new Error(`no object ${key} to damage`)
      objects.set(key, { ...object, body: change(object.body.slice()).slice() })
    }
  }
}

/** The handles of the memory store of a test; `MemoryObjectStore.layer()` provides them together with `ObjectStore`. */
export class MemoryObjectStore extends Context.Service<MemoryObjectStore, MemoryHandles>()(
  "@effect-wal/testing/MemoryObjectStore"
) {
  /** An empty store. */
  static readonly make = Effect.fnUntraced(function*(options: MemoryObjectStoreOptions = {}) {
    return makeHandles(options, options.id ?? `memory:${yield* yield* NonceSource}`)
  })

  /** An empty store, as `ObjectStore` and as `MemoryObjectStore`. Each build is another one. */
  static readonly layer = (options: MemoryObjectStoreOptions = {}): Layer.Layer<MemoryObjectStore | ObjectStore> =>
    Layer.effectContext(
      MemoryObjectStore.make(options).pipe(
        Effect.map((handles) => Context.make(MemoryObjectStore, handles).pipe(Context.add(ObjectStore, handles.store)))
      )
    )
}
