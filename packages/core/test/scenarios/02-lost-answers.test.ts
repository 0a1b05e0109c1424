/** The answer to any one request is lost, applied or not: nothing is lost, nothing is written twice. */
import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  dense,
  drive,
  killedWriter,
  makeWorld,
  nthRequest,
  readAll,
  records,
  requestsOfOpening,
  store
} from "./World.ts"

const answers: ReadonlyArray<{ readonly reason: Reason; readonly applied: boolean }> = [
  { reason: "TimedOut", applied: true },
  { reason: "TimedOut", applied: false },
  { reason: "Conflict", applied: false },
  { reason: "Throttled", applied: false }
]

describe("a lost answer", () => {
  for (const { applied, reason } of answers) {
    it.effect(`${reason}, ${applied ? "applied" : "not applied"}, to each request of an opening`, () =>
      Effect.gen(function*() {
        const base = yield* makeWorld()
        yield* killedWriter(base, 23)
        const requests = yield* requestsOfOpening(base)
        for (let nth = 0; nth < requests.length; nth++) {
          const world = yield* base.copy
          const opener = world.process("opener")
          nthRequest(opener, nth, { _tag: "Fail", reason, applied })
          const wal = yield* drive(opener.open())
          const at = `at ${requests[nth]?.operation} ${nth}`
          assert.deepStrictEqual(yield* readAll(wal), dense(23), at)
          const manifest = yield* world.manifest
          assert.strictEqual(manifest.live, manifest.epoch, at)
          assert.deepStrictEqual(manifest.ends.map((end) => [end.epoch, end.slot, end.seq]), [[1, 5, 23]], at)
          assert.deepStrictEqual(world.slots.filter((slot) => slot.startsWith("0000000001/")).length, 6, at)
        }
      }))

    it.effect(`${reason}, ${applied ? "applied" : "not applied"}, to each request of a writer's life`, () =>
      Effect.gen(function*() {
        for (let nth = 0; nth < 6; nth++) {
          const world = yield* makeWorld({ retention: { policy: "committed" } })
          const process = world.process("writer")
          const wal = yield* drive(process.open())
          nthRequest(process, nth, { _tag: "Fail", reason, applied })
          yield* store(wal, records(7))
          yield* store(wal, records(4, 8))
          yield* wal.commit(2)
          yield* drive(wal.trim(2))
          yield* store(wal, records(1, 12))
          const report = yield* drive(wal.close)
          assert.deepStrictEqual(report, {
            streamId: "log",
            durable: 12,
            lost: null,
            spooled: null,
            manifestWritten: true
          })
          const manifest = yield* world.manifest
          assert.deepStrictEqual([manifest.checkpoint.slot, manifest.checkpoint.seq], [4, 12])
          assert.deepStrictEqual(manifest.cursors.marks, { default: 2 })
          assert.strictEqual(world.slots.length, 4)
          const next = yield* drive(world.process("next").open())
          assert.deepStrictEqual(yield* readAll(next), dense(12))
        }
      }))
  }

  it.effect("[case 1] my own manifest write and my own segment come back as taken", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("writer")
      const wal = yield* drive(process.open())
      const before = (yield* world.manifest).commit_id
      nthRequest(process, 0, { _tag: "Fail", reason: "TimedOut", applied: true }, (one) => one.operation === "create")
      yield* store(wal, records(5))
      assert.deepStrictEqual(world.slots, ["0000000001/000000000000.seg"])
      nthRequest(process, 0, { _tag: "Fail", reason: "PreconditionFailed", applied: true }, (one) =>
        one.operation === "replace")
      const puts = world.memory.count("replace")
      yield* wal.commit(5)
      yield* drive(wal.trim(0))
      assert.strictEqual(world.memory.count("replace") - puts, 1, "the manifest changed exactly once")
      assert.notStrictEqual((yield* world.manifest).commit_id, before)
      assert.strictEqual((yield* wal.status).state, "open")
      assert.strictEqual((yield* world.manifest).cursors.marks["default"], 5)
      assert.deepStrictEqual(yield* readAll(wal), dense(5))
    }))
})
