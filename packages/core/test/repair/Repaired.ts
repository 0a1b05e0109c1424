/** A repair from the plan to a log that is in use again, with everything checked that every repair promises. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { WalReader } from "@effect-wal/core/WalReader"
import * as WalRepair from "@effect-wal/core/WalRepair"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { isLostRange } from "../../src/WalRecord.ts"
import { decode, drive, records, type World } from "../scenarios/World.ts"
import { assertReadOnly, check, identity, onStore, short } from "../verify/Checked.ts"

export type Decisions = WalRepair.RepairDecisions

/** Plans; asserts that nothing is written. */
export const planOf = Effect.fnUntraced(function*(world: World, decisions: Decisions = {}) {
  const seen = FaultyObjectStore.make(world.memory.store)
  const planned = yield* drive(onStore(WalRepair.plan({ ...identity, decisions }), seen.store))
  assertReadOnly(seen)
  return planned
})

export const undecided = (world: World) => drive(onStore(Effect.flip(WalRepair.plan(identity)), world.memory.store))

export const applyTo = (
  planned: WalRepair.RepairPlan,
  given: ObjectStore["Service"]
): Effect.Effect<WalRepair.RepairReport, WalRepair.ApplyError> =>
  drive(onStore(WalRepair.apply(planned, { ...identity, noWriterRuns: true }), given))

/** Everything that a reader delivers who skips damage: `seq:text`, and `lost from-to`. */
export const readSkipping = (world: World) =>
  drive(onStore(
    Effect.gen(function*() {
      const reader = yield* WalReader.make(identity)
      const read = yield* Stream.runCollect(reader.read({ onDamage: "skip" }))
      return read.map((one) => isLostRange(one) ? `lost ${one.from}-${one.to}` : `${one.seq}:${decode(one.payload)}`)
    }),
    world.memory.store
  ))

export const readFailing = (world: World) =>
  drive(onStore(
    Effect.gen(function*() {
      const reader = yield* WalReader.make(identity)
      return yield* Effect.exit(Stream.runDrain(reader.read()))
    }),
    world.memory.store
  ))

/** `seq:text` of the records of `makeEpochs`, without some; a run of those is one lost range. */
export const expected = (count: number, lost?: readonly [number, number]): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => index + 1).flatMap((seq) => {
    if (lost === undefined || seq < lost[0] || seq > lost[1]) return [`${seq}:r${seq}`]
    return seq === lost[0] ? [`lost ${lost[0]}-${lost[1]}`] : []
  })

/** Objects that a repair has kept copies of, and the manifest beside them: everything else must be as it was. */
const untouched = (world: World) =>
  world.bucket.filter(([key]) => !key.endsWith("manifest.json") && !key.includes("/repair/"))

/**
 * Plans, applies, verifies, opens, reads, appends, verifies. Asserts that nothing was removed or changed, that what is
 * still wrong is known, and that new numbers lie above everything that the plan names.
 */
export const repaired = Effect.fnUntraced(function*(world: World, decisions: Decisions = {}) {
  const planned = yield* planOf(world, decisions)
  const before = untouched(world)
  const manifest = world.manifestTag
  yield* applyTo(planned, world.memory.store)
  const after = new Map(untouched(world).map((one) => [one[0], one]))
  for (const one of before) assert.deepStrictEqual(after.get(one[0]), one, `${one[0]} was changed`)
  if (planned.actions.length === 0) assert.strictEqual(world.manifestTag, manifest)
  const verified = yield* check(world)
  assert.deepStrictEqual(verified.findings.filter((one) => !one.known).map(short), [], "after the repair")
  // Nothing is left to do, and a second plan says so.
  assert.deepStrictEqual((yield* planOf(world)).actions, [])
  const wal = yield* drive(world.process("after the repair").open())
  const appended = yield* wal.append(records(5, planned.kept.lastSeq + 1))
  assert.strictEqual(appended.first, planned.kept.lastSeq + 1)
  yield* drive(appended.durable)
  const used = yield* check(world)
  assert.deepStrictEqual(used.findings.filter((one) => !one.known).map(short), [], "after an append")
  yield* drive(wal.close)
  return planned
})
