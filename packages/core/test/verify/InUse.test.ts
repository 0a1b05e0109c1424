/** Verifying a log that is being written, trimmed and taken over meanwhile: no false alarm. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import * as WalVerify from "@effect-wal/core/WalVerify"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { WalService } from "../../src/WalService.ts"
import { advanceUntil, drive, gate, makeWorld, openGate, records, store, type World } from "../scenarios/World.ts"
import { identity, makeEpochs, onStore, short } from "./Checked.ts"

/** What happens to the log while it is verified. */
type Meanwhile = (world: World, wal: WalService) => Effect.Effect<unknown, unknown>

const trimAll: Meanwhile = (world, wal) =>
  Effect.gen(function*() {
    const { durable } = yield* wal.status
    yield* wal.commit(durable)
    yield* drive(wal.trim(durable))
    yield* advanceUntil(() => !world.slots.some((slot) => slot.endsWith("000000000003.seg")))
  })

/** The walk, in the first epoch, goes on in the middle of the second. */
const trimInto: Meanwhile = (world, wal) =>
  Effect.gen(function*() {
    yield* wal.commit(30)
    yield* drive(wal.trim(30))
    yield* advanceUntil(() => !world.slots.some((slot) => slot === world.key(1, 3)))
  })

const append: Meanwhile = (_, wal) => Effect.flatMap(wal.status, ({ durable }) => store(wal, records(20, durable + 1)))

const takeOver: Meanwhile = (world) =>
  Effect.gen(function*() {
    const wal = yield* drive(world.process("next").open())
    const { durable } = yield* wal.status
    yield* store(wal, records(20, durable + 1))
  })

const everything: Meanwhile = (world, wal) =>
  Effect.andThen(append(world, wal), Effect.andThen(trimAll(world, wal), takeOver(world, wal)))

/** A log of two epochs, the last one open. */
const running = Effect.fnUntraced(function*() {
  const world = yield* makeWorld({ retention: { policy: "committed" } })
  for (const epoch of [1]) {
    const process = world.process(`w${epoch}`)
    const wal = yield* drive(process.open())
    yield* store(wal, records(20, epoch * 20 - 19))
    process.crash()
  }
  const wal = yield* drive(world.process("w2").open())
  yield* store(wal, records(20, 21))
  return { world, wal }
})

const verifying = (given: ObjectStore["Service"]) => onStore(WalVerify.report({ ...identity, prefetch: 2 }), given)

/** What is found where something happens to a new log right before a request, for every `step`-th request in turn. */
const atEachRequest = Effect.fnUntraced(function*(make: typeof running, meanwhile: Meanwhile, step: number) {
  const rehearsal = yield* make()
  const counter = FaultyObjectStore.make(rehearsal.world.memory.store)
  yield* drive(verifying(counter.store))
  const total = counter.requests.length
  const found = []
  for (let nth = 0; nth < total; nth += step) {
    const { wal, world } = yield* make()
    const faults = FaultyObjectStore.make(world.memory.store)
    const hold = yield* gate
    let count = 0
    faults.rule(() => count++ === nth ? { _tag: "HoldBefore", gate: hold } : undefined)
    const verification = yield* Effect.forkChild(verifying(faults.store), { startImmediately: true })
    yield* advanceUntil(() => count > nth)
    yield* Effect.orDie(meanwhile(world, wal))
    yield* openGate(hold)
    found.push({ at: `before request ${nth} of ${total}`, ...yield* drive(Fiber.join(verification)) })
  }
  return found
})

describe("verify beside a writer", () => {
  for (
    const [name, meanwhile, step] of [
      ["trims everything", trimAll, 3],
      ["trims into a later epoch", trimInto, 1],
      ["appends", append, 5],
      ["is taken over", takeOver, 5],
      ["appends, trims and is taken over", everything, 1]
    ] as const
  ) {
    it.effect(`that ${name} before one of its requests: finds nothing`, () =>
      Effect.gen(function*() {
        for (const { at, findings, report } of yield* atEachRequest(running, meanwhile, step)) {
          assert.deepStrictEqual(findings.map(short), [], at)
          assert.isAtLeast(report.durable, 40)
        }
      }), 60_000)
  }

  it.effect("that trims what is damaged: finds the damage as it is, or nothing", () =>
    Effect.gen(function*() {
      const damaged = Effect.fnUntraced(function*() {
        const { wal, world } = yield* running()
        world.memory.damage(world.key(1, 1), (bytes) => bytes.with(70, (bytes[70] ?? 0) ^ 1))
        return { wal, world }
      })
      for (const { at, findings } of yield* atEachRequest(damaged, trimInto, 1)) {
        assert.includeDeepMembers([[], ["segment-corrupt 1/1 6-10"]], [findings.map(short)], at)
      }
    }), 60_000)

  it.effect("a listing of one object a page, and a writer at work between any two pages", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } }, { pageSize: 1 })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(20))
      const faults = FaultyObjectStore.make(world.memory.store)
      let busy = 0
      const slow: ObjectStore["Service"] = {
        ...faults.store,
        list: (request) =>
          Effect.andThen(
            Effect.suspend(() => {
              // A writer that stores more than a page holds between two pages would be listed for ever.
              if (busy++ > 40) return Effect.void
              return Effect.ignore(Effect.gen(function*() {
                const { durable } = yield* wal.status
                const appended = yield* wal.append(records(3, durable + 1))
                yield* appended.durable
                yield* wal.commit(durable - 7)
                yield* Effect.forkChild(wal.trim(durable - 7))
              }))
            }),
            faults.store.list(request)
          )
      }
      const { findings } = yield* drive(verifying(slow))
      assert.deepStrictEqual(findings.map(short), [])
      assert.isAbove(busy, 5)
    }))

  it.effect("is an error where the store does not answer, not damage; passing errors are waited out", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const passing = FaultyObjectStore.make(world.memory.store)
      let failures = 0
      passing.rule(() => failures++ % 3 !== 2 ? { _tag: "Fail", reason: "Throttled" } : undefined)
      assert.isTrue((yield* drive(verifying(passing.store))).report.intact)
      const refusing = FaultyObjectStore.make(world.memory.store)
      refusing.rule((request) =>
        request.operation === "get" && request.key === world.key(2, 1)
          ? { _tag: "Fail", reason: "AccessDenied" }
          : undefined
      )
      const events: Array<WalVerify.VerifyEvent> = []
      const error = yield* drive(onStore(
        Effect.flip(Stream.runForEach(WalVerify.verify(identity), (event) => Effect.sync(() => events.push(event)))),
        refusing.store
      ))
      assert.strictEqual(error._tag, "AccessDenied")
      assert.isTrue(events.every((event) => event._tag === "Progress"))
    }))
})
