/**
 * The objects of the simulated store. Each operation is one step, as on S3; what goes wrong happens on the way
 * (`Network.ts`).
 */
import type { ListedObject, Tag } from "@effect-wal/core/store/ObjectStore"
import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import { crc32 } from "node:zlib"
import type { Timeline } from "./Timeline.ts"

export interface BucketObject {
  readonly body: Uint8Array
  readonly tag: Tag
  readonly modifiedMillis: number
}

/** Is told of every change, right after it. */
export interface BucketObserver {
  readonly onWritten: (key: string, body: Uint8Array) => void
  readonly onRemoved: (key: string) => void
  /** A body that arrives is not the one that was sent. */
  readonly onChanged: (key: string) => void
}

/** A page of a listing. */
export interface ListPart {
  readonly prefix: string
  /** The last key of the page before; empty at the start. */
  readonly after: string
  readonly limit: number
  readonly isUnordered: boolean
}

/** What a store makes of the conditions of a write. */
export const conditions = [
  "kept",
  "create ignored",
  "replace ignored",
  "refused",
  // Of creates at once: each is done; none says that it was; one says so and another one's body is there.
  "all at once",
  "none at once",
  "another at once"
] as const
export type Conditions = typeof conditions[number]

/** Success, or why not. */
export type Outcome<A> = { readonly value: A } | { readonly reason: Reason }

export class Bucket {
  readonly objects = new Map<string, BucketObject>()
  private readonly timeline: Timeline
  private readonly epochMillis: number
  /** A store that does not keep them must never be written to by a log. */
  conditions: Conditions = "kept"
  /** Requests that come within so long of each other are at once. */
  atOnceMillis = 0
  private observer: BucketObserver | undefined
  private sorted: ReadonlyArray<string> | undefined
  private lastTag = 0
  /** When a key was created last, where the conditions are not kept. */
  private readonly createdMillis = new Map<string, number>()
  /** Where a key stands in an unordered listing. */
  private readonly places = new Map<string, number>()

  constructor(timeline: Timeline, epochMillis: number) {
    this.timeline = timeline
    this.epochMillis = epochMillis
  }

  observe(observer: BucketObserver): void {
    this.observer = observer
  }

  get(key: string): Outcome<BucketObject> {
    const object = this.objects.get(key)
    return object === undefined ? { reason: "NotFound" } : { value: object }
  }

  create(key: string, body: Uint8Array): Outcome<Tag> {
    if (this.conditions === "refused") return { reason: "NotSupported" }
    const isFree = !this.objects.has(key) || this.conditions === "create ignored"
    const createdMillis = isFree ? undefined : this.createdMillis.get(key)
    const isAtOnce = createdMillis !== undefined && this.timeline.nowMillis - createdMillis < this.atOnceMillis
    if (isFree) this.createdMillis.set(key, this.timeline.nowMillis)
    if (isFree || isAtOnce && this.conditions === "all at once") {
      const tag = this.write(key, body)
      return this.conditions === "none at once" ? { reason: "AlreadyExists" } : { value: tag }
    }
    if (isAtOnce && this.conditions === "another at once") this.write(key, body)
    return { reason: "AlreadyExists" }
  }

  replace(key: string, body: Uint8Array, expected: Tag): Outcome<Tag> {
    if (this.conditions === "refused") return { reason: "NotSupported" }
    const object = this.objects.get(key)
    if (object === undefined) return { reason: "NotFound" }
    const isExpected = object.tag === expected || this.conditions === "replace ignored"
    return isExpected ? { value: this.write(key, body) } : { reason: "PreconditionFailed" }
  }

  remove(key: string): void {
    if (!this.objects.delete(key)) return
    this.sorted = undefined
    this.observer?.onRemoved(key)
  }

  /** The bytes of a write have changed since it was sent. */
  changedUnderWay(key: string): void {
    this.observer?.onChanged(key)
  }

  /** The first keys after one, in the order of the store; `next` leads on where there are more. */
  list({ after, isUnordered, limit, prefix }: ListPart): {
    readonly found: ReadonlyArray<ListedObject>
    readonly next?: string
  } {
    const keys = isUnordered ? this.unordered() : this.ordered()
    const found: Array<ListedObject> = []
    let at = after === "" ? 0 : isUnordered ? keys.indexOf(after) + 1 : keys.findIndex((key) => key > after)
    if (at < 0) return { found }
    for (; at < keys.length; at++) {
      const key = keys[at]
      const object = key === undefined ? undefined : this.objects.get(key)
      if (key === undefined || object === undefined || !key.startsWith(prefix)) continue
      if (found.length === limit) return { found, next: found.at(-1)?.key ?? "" }
      found.push({ key, sizeBytes: object.body.length, modifiedMillis: object.modifiedMillis })
    }
    return { found }
  }

  private ordered(): ReadonlyArray<string> {
    this.sorted ??= [...this.objects.keys()].sort()
    return this.sorted
  }

  /** By an order that has nothing to do with the names, and stays. What was deleted keeps its place in a listing. */
  private unordered(): ReadonlyArray<string> {
    return [...this.places].sort(([, left], [, right]) => left - right).map(([key]) => key)
  }

  /** Changes stored bytes behind everybody's back, takes an object away or puts one there: damage. */
  damage(key: string, body: Uint8Array | undefined): void {
    this.sorted = undefined
    const object = this.objects.get(key)
    if (body === undefined) this.objects.delete(key)
    else if (object === undefined) this.put(key, body)
    else this.objects.set(key, { ...object, body })
  }

  private write(key: string, body: Uint8Array): Tag {
    const tag = this.put(key, body)
    this.observer?.onWritten(key, body)
    return tag
  }

  private put(key: string, body: Uint8Array): Tag {
    const tag = `"${++this.lastTag}"`
    if (!this.objects.has(key)) this.sorted = undefined
    if (!this.places.has(key)) this.places.set(key, crc32(key))
    this.objects.set(key, { body, tag, modifiedMillis: this.epochMillis + Math.floor(this.timeline.nowMillis) })
    return tag
  }
}
