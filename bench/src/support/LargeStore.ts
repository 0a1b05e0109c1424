/** A store in memory that stays quick and small with very many objects: keys are kept in order, large bodies packed. */
import { type ListedObject, type ListRequest, ObjectStore, type StoredObject } from "@effect-wal/core/store/ObjectStore"
import { ObjectStoreError, type Operation, type Reason } from "@effect-wal/core/store/ObjectStoreError"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

interface Held {
  readonly body: Uint8Array
  readonly isPacked: boolean
  /** As it was written. */
  readonly bytes: number
  readonly tag: string
}

const pageSize = 1_000
/** Smaller ones are not worth the time. */
const packedFromBytes = 16_384
const packing = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

const hold = (body: Uint8Array, tag: string): Held => {
  const isPacked = body.length >= packedFromBytes
  // A copy in both cases: what packing answers lies in a larger buffer.
  return { body: new Uint8Array(isPacked ? zstdCompressSync(body, packing) : body), isPacked, bytes: body.length, tag }
}

const open = ({ body, isPacked }: Held, firstBytes: number | undefined): Uint8Array =>
  isPacked ? zstdDecompressSync(body).subarray(0, firstBytes) : body.slice(0, firstBytes)

const refuse = (operation: Operation, key: string, reason: Reason) =>
  Effect.fail(new ObjectStoreError({ operation, key, reason, detail: "as its condition says" }))

/** The place of a key among ordered ones: that of the first one that is not below it. */
const placeOf = (keys: ReadonlyArray<string>, key: string): number => {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? key) < key) low = middle + 1
    else high = middle
  }
  return low
}

export class LargeStore {
  /** Requests so far. */
  requests = 0
  /** What was there before, and is never written to. */
  private readonly base: LargeStore | undefined
  /** What came since; `undefined`: it was removed. */
  private readonly objects = new Map<string, Held | undefined>()
  /** Of what came since, in order. */
  private readonly keys: Array<string> = []
  private lastTag: number

  constructor(base?: LargeStore) {
    this.base = base
    this.lastTag = base?.lastTag ?? 0
  }

  /** Another store that starts with what is in this one, at no cost; nothing may be written to this one any more. */
  fork(): LargeStore {
    return new LargeStore(this)
  }

  /** The store as a log has it; its conditions are our own code, so it is not probed. */
  readonly store: ObjectStore["Service"] = ObjectStore.of({
    id: `large:${randomUUID()}`,
    proven: true,
    get: (key, request) => this.asked(() => this.get(key, request?.firstBytes)),
    create: (key, body) =>
      this.asked(() =>
        this.find(key) !== undefined ? refuse("create", key, "AlreadyExists") : Effect.succeed(this.write(key, body))
      ),
    replace: (key, body, expected) =>
      this.asked(() => {
        const held = this.find(key)
        if (held === undefined) return refuse("replace", key, "NotFound")
        if (held.tag !== expected) return refuse("replace", key, "PreconditionFailed")
        return Effect.succeed(this.write(key, body))
      }),
    list: (request) => this.asked(() => Effect.succeed(this.page(request))),
    remove: (keys) =>
      this.asked(() => {
        for (const key of keys) this.drop(key)
        return Effect.succeed([])
      }),
    advice: () => Effect.succeed([])
  })

  private asked<A>(answer: () => Effect.Effect<A, ObjectStoreError>): Effect.Effect<A, ObjectStoreError> {
    return Effect.suspend(() => {
      this.requests++
      return answer()
    })
  }

  private find(key: string): Held | undefined {
    return this.objects.has(key) ? this.objects.get(key) : this.base?.find(key)
  }

  private get(key: string, firstBytes: number | undefined): Effect.Effect<StoredObject, ObjectStoreError> {
    const held = this.find(key)
    if (held === undefined) return refuse("get", key, "NotFound")
    return Effect.succeed({ body: open(held, firstBytes), tag: held.tag })
  }

  private write(key: string, body: Uint8Array): string {
    const tag = `"${++this.lastTag}"`
    if (!this.objects.has(key)) this.keys.splice(placeOf(this.keys, key), 0, key)
    this.objects.set(key, hold(body, tag))
    return tag
  }

  private drop(key: string): void {
    if (this.find(key) === undefined) return
    if (!this.objects.has(key)) this.keys.splice(placeOf(this.keys, key), 0, key)
    this.objects.set(key, undefined)
  }

  /** Keys of this store and of those below it, in order, each once; removed ones too. */
  private *keysFrom(first: string): Generator<string> {
    const below = this.base?.keysFrom(first)
    let next = below?.next().value
    for (let at = placeOf(this.keys, first); at < this.keys.length; at++) {
      const key = this.keys[at] ?? first
      for (; next !== undefined && next <= key; next = below?.next().value) if (next !== key) yield next
      yield key
    }
    for (; next !== undefined; next = below?.next().value) yield next
  }

  private page({ limit = pageSize, page, prefix, startAfter }: ListRequest) {
    const after = page ?? startAfter ?? ""
    const objects: Array<ListedObject> = []
    for (const key of this.keysFrom(after > prefix ? after : prefix)) {
      if (!key.startsWith(prefix)) break
      const held = this.find(key)
      if (held === undefined || key === after) continue
      const last = objects.at(-1)
      if (objects.length === limit && last !== undefined) return { objects, next: last.key }
      objects.push({ key, sizeBytes: held.bytes })
    }
    return { objects }
  }
}
