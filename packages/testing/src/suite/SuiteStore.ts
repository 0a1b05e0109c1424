/**
 * What the tests of the object store suite share: its options, a prefix of their own, and short forms.
 */
import { NonceSource } from "@effect-wal/core/Nonce"
import type { ListedObject, ListRequest } from "@effect-wal/core/store/ObjectStore"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import type { Vitest } from "@effect/vitest"
import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"

/** How large the suite is; all have defaults. */
export interface ObjectStoreSuiteOptions {
  /** Where the keys of the suite start, without a slash at the end; default `suite`. */
  readonly prefix?: string
  /** Rounds of each race; default 3. */
  readonly raceRounds?: number
  /** How many objects the long listing holds; default 1,050: more than one page of a real store. */
  readonly manyKeys?: number
  /** Size of the large body, in bytes; default 5 MiB. */
  readonly largeBytes?: number
  /** Bound of each test, in milliseconds; default 60,000. */
  readonly timeoutMillis?: number
}

/** The options with their defaults. */
export type Settings = Required<ObjectStoreSuiteOptions>
/** The tests of a suite whose store is provided. */
export type It = Vitest.MethodsNonLive<ObjectStore>

/** UTF-8 of the text. */
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
/** The text of UTF-8 bytes. */
export const text = (body: Uint8Array): string => new TextDecoder().decode(body)

/** All pages of a listing. */
export const listAll = Effect.fnUntraced(function*(request: ListRequest) {
  const store = yield* ObjectStore
  const objects: Array<ListedObject> = []
  let page = yield* store.list(request)
  objects.push(...page.objects)
  while (page.next !== undefined) {
    page = yield* store.list({ ...request, page: page.next })
    objects.push(...page.objects)
  }
  return objects
})

/** The keys, sorted and each once: a store may repeat and may order as it likes. */
export const keysOf = (objects: ReadonlyArray<ListedObject>): ReadonlyArray<string> =>
  [...new Set(objects.map((object) => object.key))].sort()

const removeAll = Effect.fnUntraced(function*(prefix: string) {
  const store = yield* ObjectStore
  const keys = keysOf(yield* listAll({ prefix }))
  for (let from = 0; from < keys.length; from += 1_000) yield* store.remove(keys.slice(from, from + 1_000))
})

/** A prefix that nobody else uses, with a slash at the end; emptied when the test is over. */
export const freshPrefix = (settings: Settings) =>
  Effect.acquireRelease(
    Effect.map(Effect.flatten(NonceSource), (nonce) => `${settings.prefix}/${nonce}/`),
    (prefix) => Effect.orDie(removeAll(prefix))
  )

/** The reason that the effect fails with; dies when it succeeds. */
export const reasonOf = Effect.fnUntraced(function*<A, R>(effect: Effect.Effect<A, ObjectStoreError, R>) {
  const result = yield* Effect.result(effect)
  return Result.isFailure(result) ? result.failure.reason : assert.fail("succeeded")
})
