/** An opener is killed at each of its requests: the next one opens, and everything acknowledged is there. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ListRequest } from "../../src/store/ObjectStore.ts"
import {
  advanceUntil,
  dense,
  drive,
  killedWriter,
  killWhileOpening,
  makeWorld,
  nthRequest,
  readAll,
  records,
  requestsOfOpening,
  store
} from "./World.ts"

describe("a crash while opening", () => {
  for (const applied of [false, true]) {
    it.effect(`at each request, ${applied ? "applied" : "not applied"}: the next opening has every record`, () =>
      Effect.gen(function*() {
        const base = yield* makeWorld()
        yield* killedWriter(base, 23)
        const requests = yield* requestsOfOpening(base)
        assert.isAtLeast(requests.length, 6)
        for (let nth = 0; nth < requests.length; nth++) {
          const world = yield* base.copy
          const victim = world.process("victim")
          yield* killWhileOpening(victim, nth, applied)
          const next = world.process("next")
          const wal = yield* drive(next.open())
          assert.deepStrictEqual(yield* readAll(wal), dense(23), `killed at ${requests[nth]?.operation} ${nth}`)
          yield* store(wal, records(2, 24))
          assert.deepStrictEqual(yield* readAll(wal), dense(25))
        }
      }))

    it.effect(`of a new log at each request, ${applied ? "applied" : "not applied"}: the log can be opened`, () =>
      Effect.gen(function*() {
        const base = yield* makeWorld()
        const requests = yield* requestsOfOpening(base)
        for (let nth = 0; nth < requests.length; nth++) {
          const world = yield* base.copy
          const victim = world.process("victim")
          yield* killWhileOpening(victim, nth, applied)
          const wal = yield* drive(world.process("next").open())
          yield* store(wal, records(3))
          assert.deepStrictEqual(yield* readAll(wal), dense(3))
        }
      }))
  }

  it.effect("of ten openers in a row: each opens where the last one stopped, and the log stays whole", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 12)
      for (let round = 0; round < 10; round++) {
        const victim = world.process(`victim-${round}`)
        yield* killWhileOpening(victim, 2 + round % 6, round % 2 === 0)
      }
      const wal = yield* drive(world.process("last").open())
      assert.deepStrictEqual(yield* readAll(wal), dense(12))
    }))

  it.effect("a store that never answers is OpenTimeout, at whatever request; the log can be opened afterwards", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      yield* killedWriter(base, 12)
      const requests = yield* requestsOfOpening(base)
      for (let nth = 0; nth < requests.length; nth++) {
        const world = yield* base.copy
        const process = world.process("silent", { openTimeout: "20s" })
        nthRequest(process, nth, { _tag: "Silence", applied: nth % 2 === 0 })
        const error = yield* drive(Effect.flip(process.open()))
        assert.deepStrictEqual(error._tag === "OpenTimeout" ? [error._tag, error.afterMillis] : [error._tag], [
          "OpenTimeout",
          20_000
        ])
        const wal = yield* drive(world.process("next").open())
        assert.deepStrictEqual(yield* readAll(wal), dense(12))
      }
    }))
})

describe("a listing", () => {
  it.effect("in small pages, in any order and with repeats, finds the same end", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } }, { pageSize: 2 })
      yield* killedWriter(world, 43)
      const list = world.memory.store.list
      Object.assign(world.memory.store, {
        list: (request: ListRequest) =>
          Effect.map(list(request), (page) => ({ ...page, objects: [...page.objects, ...page.objects].reverse() }))
      })
      const wal = yield* drive(world.process("b").open())
      assert.deepStrictEqual(yield* readAll(wal), dense(43))
      yield* store(wal, records(5, 44))
      yield* wal.commit(48)
      assert.strictEqual(yield* drive(wal.trim(48)), 48)
      yield* advanceUntil(() => world.slots.length === 1)
      assert.strictEqual((yield* world.header(1, 9)).kind, "end-marker")
    }))

  it.effect("that ignores where to start finds the same end", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const a = yield* drive(process.open())
      yield* store(a, records(20))
      yield* drive(a.trim(0))
      yield* store(a, records(10, 21))
      process.crash()
      const list = world.memory.store.list
      Object.assign(world.memory.store, {
        list: ({ startAfter: _, ...request }: ListRequest) => list(request)
      })
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("b").open())), dense(30))
    }))
})
