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

/** A key, and what it holds now; `undefined`: it was removed. */
interface Entry {
  readonly key: string
  held: Held | undefined
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
const placeOf = (entries: ReadonlyArray<Entry>, key: string): number => {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.key ?? key) < key) low = middle + 1
    else high = middle
  }
  return low
}

export class LargeStore {
  /** Requests so far. */
  requests = 0
  /** What was there before, and is never written to. */
  private readonly base: LargeStore | undefined
  /** What came since, by key. */
  private readonly byKey = new Map<string, Entry>()
  /** The same for listings, which go along it and look up nothing: so they cost the same however many there are. */
  private readonly entries: Array<Entry> = []
  /** A key that comes out of its turn is put in its place when something is listed: most are never listed. */
  private areSorted = true
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
    const entry = this.byKey.get(key)
    return entry === undefined ? this.base?.find(key) : entry.held
  }

  private get(key: string, firstBytes: number | undefined): Effect.Effect<StoredObject, ObjectStoreError> {
    const held = this.find(key)
    if (held === undefined) return refuse("get", key, "NotFound")
    return Effect.succeed({ body: open(held, firstBytes), tag: held.tag })
  }

  private set(key: string, held: Held | undefined): void {
    const known = this.byKey.get(key)
    if (known !== undefined) known.held = held
    else {
      const entry = { key, held }
      this.byKey.set(key, entry)
      this.areSorted &&= (this.entries.at(-1)?.key ?? "") < key
      this.entries.push(entry)
    }
  }

  private write(key: string, body: Uint8Array): string {
    const tag = `"${++this.lastTag}"`
    this.set(key, hold(body, tag))
    return tag
  }

  private drop(key: string): void {
    if (this.find(key) !== undefined) this.set(key, undefined)
  }

  /** What is in this store and in those below it, in order, each key once; removed ones too. */
  private *entriesFrom(first: string): Generator<Entry> {
    if (!this.areSorted) this.entries.sort((left, right) => left.key < right.key ? -1 : 1)
    this.areSorted = true
    const below = this.base?.entriesFrom(first)
    let next = below?.next().value
    for (let at = placeOf(this.entries, first); at < this.entries.length; at++) {
      const entry = this.entries[at]
      if (entry === undefined) break
      for (; next !== undefined && next.key <= entry.key; next = below?.next().value) {
        if (next.key !== entry.key) yield next
      }
      yield entry
    }
    for (; next !== undefined; next = below?.next().value) yield next
  }

  private page({ limit = pageSize, page, prefix, startAfter }: ListRequest) {
    const after = page ?? startAfter ?? ""
    const objects: Array<ListedObject> = []
    for (const { held, key } of this.entriesFrom(after > prefix ? after : prefix)) {
      if (!key.startsWith(prefix)) break
      if (held === undefined || key === after) continue
      const last = objects.at(-1)
      if (objects.length === limit && last !== undefined) return { objects, next: last.key }
      objects.push({ key, sizeBytes: held.bytes })
    }
    return { objects }
  }
}
