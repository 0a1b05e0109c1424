/** Twins of the scale cases: listings in any order, with repeats, with empty pages, from a store that ignores where to start. */
import type { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ListRequest } from "../../src/store/ObjectStore.ts"
import {
  drive,
  open,
  type Options,
  range,
  readAll,
  records,
  reopen,
  seqs,
  settle,
  slotKeys,
  still,
  store
} from "../support/LogWorld.ts"

const ones: Options = { ...still, segment: { maxEntries: 1 } }

/** Pages of a hundred in an order of their own, each with the last keys of the page before, every third empty. */
const unruly = (memory: MemoryObjectStore["Service"]): void => {
  const list = memory.store.list
  const pageSize = 100
  const all = Effect.fnUntraced(function*(prefix: string) {
    const { objects } = yield* list({ prefix })
    let rest = objects
    const found = [...objects]
    while (rest.length === 1_000) {
      rest = (yield* list({ prefix, startAfter: rest.at(-1)?.key ?? "" })).objects
      found.push(...rest)
    }
    // A fixed shuffle: neither ascending nor descending anywhere.
    return found.map((object, index) => ({ object, at: (index * 7_919) % 100_003 }))
      .sort((left, right) => left.at - right.at)
      .map(({ object }) => object)
  })
  Object.assign(memory.store, {
    list: Effect.fnUntraced(function*(request: ListRequest) {
      if (request.limit !== undefined) return yield* list(request)
      const objects = yield* all(request.prefix)
      const number = Number(request.page ?? "0")
      const real = number - Math.floor(number / 3)
      const from = real * pageSize
      const next = from < objects.length ? { next: String(number + 1) } : {}
      if (number % 3 === 2) return { objects: [], ...next }
      return { objects: objects.slice(Math.max(0, from - 10), from + pageSize), ...next }
    })
  })
}

describe("a listing in no order", () => {
  it.effect("[kind L] of 2,300 segments, with repeats and empty pages: the end is found, and nothing is read twice", () =>
    Effect.gen(function*() {
      const writer = yield* open({ ...ones, parallelPut: { workers: 8, pipelineDepth: 4 } })
      for (let done = 0; done < 2_300; done += 100) yield* store(writer.wal, records(100, done + 1))
      unruly(writer.memory)
      const log = yield* drive(reopen(writer, ones))
      assert.strictEqual((yield* log.wal.status).durable, 2_300)
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 2_300))
      yield* store(log.wal, records(3, 2_301))
      assert.strictEqual((yield* log.wal.status).durable, 2_303)
    }))

  it.effect("[kind L] a hole in it that is no hole in the store is not taken for the end", () =>
    Effect.gen(function*() {
      const writer = yield* open(ones)
      yield* store(writer.wal, records(30))
      // A listing that is behind: the newest keys are not in it yet.
      const list = writer.memory.store.list
      Object.assign(writer.memory.store, {
        list: (request: ListRequest) =>
          Effect.map(list(request), (page) => ({ ...page, objects: page.objects.slice(0, 10) }))
      })
      const log = yield* drive(reopen(writer, ones))
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 30))
      assert.strictEqual(slotKeys(log.memory).length, 31)
      yield* settle
    }))
})

describe("a listing that goes in circles", () => {
  it.effect("[kind L] while a log is opened is told, in bounded memory, and the log opens once it is mended", () =>
    Effect.gen(function*() {
      const writer = yield* open(ones)
      yield* store(writer.wal, records(20))
      const list = writer.memory.store.list
      let pages = 0
      Object.assign(writer.memory.store, {
        list: (request: ListRequest) =>
          Effect.map(list(request), (listed) => ({ ...listed, next: String(++pages % 3) }))
      })
      const error = yield* Effect.flip(drive(reopen(writer, ones)))
      assert.strictEqual(error._tag, "UnexpectedResponse")
      assert.include(error.message, "no end")
      assert.isBelow(pages, 40)
      Object.assign(writer.memory.store, { list })
      const log = yield* drive(reopen(writer, ones))
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 20))
    }))
})
