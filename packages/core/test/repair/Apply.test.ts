/** How a plan is applied: only with the operator's word, only to the log it was made for, as often as it takes. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import * as WalRepair from "@effect-wal/core/WalRepair"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { advanceUntil, drive, encode, prefix, records, store, type World } from "../scenarios/World.ts"
import { bytesAt, check, identity, makeEpochs, onStore, short } from "../verify/Checked.ts"
import { applyTo, expected, planOf, readSkipping } from "./Repaired.ts"

/** A log with a bit of everything: copies, end markers and a manifest have to be written. */
const harmed = Effect.fnUntraced(function*() {
  const world = yield* makeEpochs(3)
  world.memory.damage(world.key(1, 1), (bytes) => bytes.fill(3, 70, 75))
  world.memory.objects.delete(world.key(1, 4))
  world.memory.objects.delete(world.key(3, 1))
  return world
})

const stale = (world: World, planned: WalRepair.RepairPlan) => Effect.flip(applyTo(planned, world.memory.store))

describe("applying a plan", () => {
  it.effect("needs the word that no writer runs", () =>
    Effect.gen(function*() {
      const world = yield* harmed()
      const planned = yield* planOf(world)
      const before = world.bucket
      const unsaid: unknown = { ...identity, noWriterRuns: false }
      const isOptions = (given: unknown): given is WalRepair.ApplyOptions => given === unsaid
      assert.isTrue(isOptions(unsaid))
      if (!isOptions(unsaid)) return
      const error = yield* drive(onStore(Effect.flip(WalRepair.apply(planned, unsaid)), world.memory.store))
      assert.deepInclude(error, { _tag: "ConfigError" })
      assert.include(error.message, "noWriterRuns")
      assert.deepStrictEqual(world.bucket, before)
    }))

  it.effect("keeps a copy of what is damaged and of what is replaced", () =>
    Effect.gen(function*() {
      const world = yield* harmed()
      const manifest = bytesAt(world, `${prefix}manifest.json`).slice()
      const damaged = bytesAt(world, world.key(1, 1)).slice()
      const planned = yield* planOf(world)
      yield* applyTo(planned, world.memory.store)
      const kept = `${prefix}repair/${planned.id}/`
      assert.deepStrictEqual(bytesAt(world, `${kept}manifest.json`), manifest)
      assert.deepStrictEqual(bytesAt(world, `${kept}segments/0000000001/000000000001.seg`), damaged)
      assert.deepStrictEqual(bytesAt(world, world.key(1, 1)), damaged)
      assert.strictEqual((yield* check(world)).report.foreign, 0)
    }))

  it.effect("is refused once the log has changed: opened, an object gone, an object more, another log", () =>
    Effect.gen(function*() {
      const base = yield* harmed()
      const changes: ReadonlyArray<(world: World) => Effect.Effect<unknown>> = [
        (world) => world.editManifest((one) => ({ ...one, commit_id: "c".repeat(32) })),
        (world) => Effect.sync(() => world.memory.objects.delete(world.key(2, 1))),
        (world) => Effect.sync(() => world.memory.objects.delete(world.key(1, 1))),
        (world) => Effect.sync(() => world.memory.put(world.key(3, 4), encode("late"))),
        (world) => Effect.sync(() => world.memory.damage(world.key(2, 2), (bytes) => bytes.subarray(0, 9)))
      ]
      for (const change of changes) {
        const world = yield* base.copy
        const planned = yield* planOf(world)
        yield* change(world)
        const before = world.bucket
        assert.strictEqual((yield* stale(world, planned))._tag, "RepairStale")
        assert.deepStrictEqual(world.bucket, before)
      }
      const planned = yield* planOf(base)
      const other = Effect.flip(WalRepair.apply(planned, { ...identity, streamId: "other", noWriterRuns: true }))
      assert.strictEqual((yield* drive(onStore(other, base.memory.store)))._tag, "RepairStale")
    }))

  it.effect("killed at each of its requests, applied or not, and done again: the same log each time", () =>
    Effect.gen(function*() {
      const base = yield* harmed()
      const rehearsal = yield* base.copy
      const rehearsed = yield* planOf(rehearsal)
      const counter = FaultyObjectStore.make(rehearsal.memory.store)
      yield* applyTo(rehearsed, counter.store)
      assert.isAbove(counter.requests.length, 8)
      for (let nth = 0; nth < counter.requests.length; nth++) {
        for (const applied of [false, true]) {
          const world = yield* base.copy
          const planned = yield* planOf(world)
          const faults = FaultyObjectStore.make(world.memory.store)
          let count = 0
          faults.rule(() => {
            const at = count++
            return at < nth ? undefined : { _tag: "Silence", applied: applied && at === nth }
          })
          const killed = yield* Effect.forkChild(Effect.exit(applyTo(planned, faults.store)), {
            startImmediately: true
          })
          yield* advanceUntil(() => count > nth)
          faults.crash()
          yield* Fiber.interrupt(killed)
          yield* applyTo(planned, world.memory.store)
          const { findings } = yield* check(world)
          assert.deepStrictEqual(findings.filter((one) => !one.known).map(short), [], `request ${nth}, ${applied}`)
          assert.deepStrictEqual([...world.memory.objects.keys()].length, [...rehearsal.memory.objects.keys()].length)
          assert.isTrue((yield* applyTo(planned, world.memory.store)).isRepeat)
        }
      }
    }))

  it.effect("lost answers and passing refusals are waited out", () =>
    Effect.gen(function*() {
      const world = yield* harmed()
      const planned = yield* planOf(world)
      const faults = FaultyObjectStore.make(world.memory.store)
      let count = 0
      faults.rule(() =>
        count++ % 2 === 0
          ? { _tag: "Fail", reason: count % 4 === 1 ? "TimedOut" : "Throttled", applied: count % 4 === 1 }
          : undefined
      )
      yield* applyTo(planned, faults.store)
      assert.deepStrictEqual(
        yield* readSkipping(world),
        [
          ...expected(60, [6, 10]).slice(0, 41),
          "41:r41",
          "42:r42",
          "43:r43",
          "44:r44",
          "45:r45",
          "lost 46-50",
          ...expected(60).slice(50)
        ].filter((one, at, all) => all.indexOf(one) === at)
      )
    }))

  it.effect("a store that refuses is an error, and the plan can be applied later", () =>
    Effect.gen(function*() {
      const world = yield* harmed()
      const planned = yield* planOf(world)
      const faults = FaultyObjectStore.make(world.memory.store)
      faults.rule((request) => request.operation === "create" ? { _tag: "Fail", reason: "AccessDenied" } : undefined)
      assert.strictEqual((yield* Effect.flip(applyTo(planned, faults.store)))._tag, "AccessDenied")
      yield* applyTo(planned, world.memory.store)
      const wal = yield* drive(world.process("next").open())
      yield* store(wal, records(5))
    }))

  it.effect("nothing is removed, whatever is wrong", () =>
    Effect.gen(function*() {
      const world = yield* harmed()
      const planned = yield* planOf(world)
      world.memory.clearRequests()
      yield* applyTo(planned, world.memory.store)
      assert.strictEqual(world.memory.count("remove"), 0)
      assert.isAtMost(world.memory.count("replace"), 1)
    }))

  it.effect("a plan says in words what is wrong, lost, kept and written", () =>
    Effect.gen(function*() {
      const world = yield* harmed()
      const lines = WalRepair.describePlan(yield* planOf(world))
      assert.includeMembers(lines.map((line) => line.split(":")[0] ?? ""), ["found", "lost", "kept", "note"])
      assert.include(lines.join("\n"), "records 46 to 50")
      assert.include(lines.join("\n"), "will replace node/log/manifest.json")
      const whole = yield* makeEpochs(2)
      assert.deepStrictEqual(WalRepair.describePlan(yield* planOf(whole)), [
        "kept: 40 records in 8 segments after record 0; new records get numbers above 40",
        "nothing is written"
      ])
    }))

  it.effect("where there is no log there is no plan", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(0)
      const error = Effect.flip(WalRepair.plan(identity)).pipe(Effect.provideService(ObjectStore, world.memory.store))
      assert.strictEqual((yield* drive(error))._tag, "ManifestMissing")
    }))
})
