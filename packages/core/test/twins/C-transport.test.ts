/** Twins of the transport cases: a listing that never ends. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { followPages, RoundTrip } from "../../src/store/ListPages.ts"
import type { ListPage } from "../../src/store/ObjectStore.ts"
import {
  drive,
  open,
  type Options,
  range,
  readAll,
  seqs,
  settle,
  slotKeys,
  start,
  storeSegments
} from "../support/LogWorld.ts"

/** Pages that each lead to the next, and the last to one before it. */
const circle = (length: number, backTo: number) => (request: { readonly page?: string }): Effect.Effect<ListPage> => {
  const at = Number(request.page ?? "0")
  const next = at + 1 === length ? backTo : at + 1
  return Effect.succeed({ objects: [], next: String(next) })
}

/** From now on every listing of the store goes back and forth between its first page and an empty one. */
const listForEver = (
  memory: MemoryObjectStore["Service"]
): { readonly pages: () => number; readonly heal: () => void } => {
  const list = memory.store.list
  let pages = 0
  let broken = true
  Object.assign(memory.store, {
    list: (request: Parameters<typeof list>[0]) =>
      Effect.suspend(() => {
        pages++
        if (!broken || request.limit === 1) return list(request)
        const { page, ...first } = request
        return page === "odd"
          ? Effect.succeed({ objects: [], next: "even" })
          : Effect.map(list(first), ({ objects }) => ({ objects, next: "odd" }))
      })
  })
  return {
    pages: () => pages,
    heal: () => {
      broken = false
    }
  }
}

describe("a listing that never ends", () => {
  it.effect("[kind C] is noticed wherever its pages join the ones before, and a long one is no such listing", () =>
    Effect.gen(function*() {
      const goOn = () => Effect.succeed(true)
      for (const [length, backTo] of [[1, 0], [2, 0], [2, 1], [7, 0], [7, 5], [100, 99], [100, 3]] as const) {
        let asked = 0
        const list = (request: { readonly page?: string }) => {
          asked++
          return circle(length, backTo)(request)
        }
        const error = yield* Effect.flip(followPages(list, { prefix: "p/" }, goOn))
        assert.deepStrictEqual([error.reason, error.key], ["UnexpectedResponse", "p/"])
        assert.isAtMost(asked, 4 * length + 4)
      }
      const round = new RoundTrip()
      for (let token = 0; token < 100_000; token++) assert.isFalse(round.closes(String(token)))
    }))

  const eager: Options = { segment: { maxEntries: 10 }, manifest: { maxSegments: 1, maxDelay: "1s" } }

  it.effect("[kind C] does not hold up the manifest: retention by age waits until it ends again", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const log = yield* open({ ...eager, retention: { policy: "committed", minAge: "1m" } }, { memory })
      yield* storeSegments(log.wal, 3, 10)
      const listing = listForEver(memory)
      yield* TestClock.adjust("10 minutes")
      yield* log.wal.commit(20)
      const trimming = yield* start(log.wal.trim(20))
      assert.strictEqual(yield* drive(Fiber.join(trimming)), 0)
      assert.isAtMost(listing.pages(), 100)
      listing.heal()
      for (let count = 0; count < 3; count++) {
        yield* TestClock.adjust("10 minutes")
        yield* storeSegments(log.wal, 1, 10)
      }
      yield* settle
      assert.strictEqual((yield* log.wal.status).trimmedTo, 20)
    }))

  it.effect("[kind C] does not hold up deletion: what is known to be below the trim point goes without a listing", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const log = yield* open({ ...eager, retention: { policy: "committed" } }, { memory })
      const listing = listForEver(memory)
      yield* storeSegments(log.wal, 3, 10)
      yield* log.wal.commit(20)
      yield* log.wal.trim(20)
      yield* settle
      assert.isAtMost(listing.pages(), 100)
      yield* storeSegments(log.wal, 2, 10)
      yield* log.wal.commit(40)
      yield* log.wal.trim(40)
      yield* settle
      assert.strictEqual(slotKeys(memory).length, 1)
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(41, 50))
    }))
})
