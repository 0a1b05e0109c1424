/** The store of a log on a local disk that loses power or whose processes are killed, at every call. */
import type { DiskCall, PowerLossDisk } from "@effect-wal/testing/PowerLossDisk"
import * as Disk from "@effect-wal/testing/PowerLossDisk"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parseSlotKey, slotKey } from "../../src/format/ObjectKey.ts"
import * as LocalObjectStore from "../../src/node/LocalObjectStore.ts"
import { crashes, drawnLosses, losses, runProcess, some } from "./fixtures/cuts.ts"
import { storeCuts } from "./fixtures/store-cuts.ts"
import type { Op } from "./fixtures/store-model.ts"
import { StoreModel } from "./fixtures/store-model.ts"

const prefix = "node/log/"

/** Small enough that the script fills several files. */
const openStore = Effect.orDie(LocalObjectStore.make({ path: "/srv/wal", prefix, maxFileBytes: 4_096 }))

const slot = (number: number, epoch = 1) => slotKey(prefix, epoch, number)

/** Bytes that no two slots share. */
const body = (name: string, length: number) => `${name}/`.repeat(Math.ceil(length / (name.length + 1))).slice(0, length)

const create = (number: number, length: number, epoch = 1): Op => ({
  kind: "create",
  key: slot(number, epoch),
  body: body(`${epoch}.${number}`, length)
})

const together = (...ops: ReadonlyArray<Op>): Op => ({ kind: "together", ops })

const script: ReadonlyArray<Op> = [
  { kind: "create", key: `${prefix}manifest.json`, body: "m1" },
  create(1, 700),
  together(create(2, 30), create(3, 1_200), create(4, 0)),
  { kind: "create", key: slot(3), body: "refused" },
  create(5, 1_500),
  together(create(6, 1_000), create(7, 1_000), create(8, 2_500), create(9, 10)),
  { kind: "replace", key: `${prefix}manifest.json`, body: "m2" },
  create(10, 6_000),
  { kind: "remove", keys: [slot(1), slot(2), slot(3)] },
  { kind: "remove", keys: [4, 5, 6, 7, 8, 9].map((number) => slot(number)) },
  create(1, 3_000, 2),
  { kind: "get", key: slot(10) },
  together(create(2, 600, 2), create(3, 600, 2))
]

const continuation: ReadonlyArray<Op> = [
  together(create(4, 400, 2), create(5, 900, 2), { kind: "create", key: slot(1, 2), body: "second life" }),
  { kind: "replace", key: `${prefix}manifest.json`, body: "m of the second life" },
  create(6, 2_000, 2)
]

const makeModel = () => new StoreModel((key) => parseSlotKey(prefix, key) !== undefined)

/** Those that the script creates and does not remove. */
const slots = script.flatMap((op) => op.kind === "together" ? op.ops : op).flatMap((op) =>
  op.kind === "create" && parseSlotKey(prefix, op.key) !== undefined ? op.key : []
).filter((key) => !script.some((op) => op.kind === "remove" && op.keys.includes(key)))

const isSync = ({ name }: DiskCall) => name === "sync" || name === "syncData"

/** Writes to a file of slots whose sync had failed, which was the `nth` sync of all. */
const writesAfterFailure = ({ calls }: PowerLossDisk, nth: number) => {
  let left = nth
  const failed = calls.findIndex((call) => isSync(call) && --left === 0)
  const path = calls[failed]?.path
  const rest = calls.slice(failed + 1).filter((call) => call.path === path && call.path.includes("journal"))
  // A new file can have the name.
  const again = rest.findIndex(({ name }) => name === "create")
  return rest.slice(0, again === -1 ? rest.length : again)
    .filter(({ name }) => name !== "unlink" && name !== "rename")
    .map(({ name }) => `sync ${nth}: ${name} to ${path} after its sync had failed`)
}

const { everyCut, keepsItsWordAfterwards, keepsWhatWasAnswered, look, run, unnoticed } = storeCuts({
  open: openStore,
  script,
  makeModel
})

describe("LocalObjectStore under power loss at every call", () => {
  it.effect("the workload reaches rotation and the dropping of files", () =>
    Effect.gen(function*() {
      const machine = Disk.make()
      const model = makeModel()
      yield* runProcess(machine, run(model, script))
      yield* runProcess(machine, look(model))
      assert.deepStrictEqual(model.violations, [])
      const count = (name: string) =>
        machine.calls.filter((call) => call.name === name && call.path.includes("journal")).length
      assert.isAbove(count("rename"), 4)
      assert.isAbove(count("unlink"), 1)
      // Three slots that are created at once share one write and one sync.
      assert.isBelow(count("syncData"), script.flatMap((op) => op.kind === "together" ? op.ops : op).length)
    }))

  it.effect("what was answered is there afterwards, what was refused was refused rightly, nothing else appears", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* keepsWhatWasAnswered, [])
    }))

  it.effect("a process that goes on after a cut keeps its word too", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* keepsItsWordAfterwards(continuation, 2), [])
    }))

  it.effect("what a store has shown after a cut outlasts a second cut, also one during the opening", () =>
    Effect.gen(function*() {
      const stride = 11
      const found = yield* everyCut(
        (call) => call % 2 === 0 ? crashes.slice(1) : drawnLosses(call, 1),
        (machine, model, call) =>
          Effect.gen(function*() {
            for (let at = 1 + call % stride;; at += stride) {
              const second = machine.crash()
              const known = model.copy()
              second.cutAt(at)
              yield* runProcess(second, Effect.andThen(look(known), run(known, continuation)))
              yield* runProcess(second.survivors(at % 2 === 0 ? "nothing" : call * 100 + at), look(known))
              model.violations.push(...known.violations.map((text) => `second cut at ${at}: ${text}`))
              if (second.calls.length < at) return
            }
          })
      )
      assert.deepStrictEqual(found, [])
    }))

  it.effect("a sync that fails once, whichever: it is answered as unknown, and what is written again is durable", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let nth = 1;; nth++) {
        const machine = Disk.make()
        const model = makeModel()
        machine.failSync(nth)
        // An opening may fail for it: that process ends, and the next one is fine.
        yield* runProcess(machine, Effect.exit(run(model, [...script, ...script])))
        if (machine.calls.filter(isSync).length < nth) break
        yield* runProcess(machine, run(model, script))
        for (const outcome of [...some([...crashes, ...losses], nth, 4), ...drawnLosses(nth, 1)]) {
          const known = model.copy()
          const after = outcome.of(machine)
          yield* runProcess(after, look(known))
          yield* runProcess(after.survivors("nothing"), look(known))
          found.push(...known.violations.map((text) => `sync ${nth}, ${outcome.name}: ${text}`))
        }
        found.push(...model.violations, ...writesAfterFailure(machine, nth))
        for (const key of slots) if (!model.isThere(key)) found.push(`sync ${nth}: ${key} was never stored`)
      }
      assert.deepStrictEqual(found, [])
    }))

  it.effect("[case 20] a full disk, wherever: what is refused does not appear, and with room it goes on by itself", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let capacity = 1_000; capacity < 24_000; capacity += 499) {
        for (const goesOn of [false, true]) {
          const machine = Disk.make()
          const model = makeModel()
          machine.setCapacity(capacity)
          const work = Effect.flatMap(
            openStore,
            (store) =>
              Effect.forEach(goesOn ? [...script, ...script] : script, (op, index) => {
                if (index === script.length) machine.setCapacity(Infinity)
                return model.run(store, op)
              })
          )
          yield* runProcess(machine, Effect.scoped(work))
          machine.setCapacity(Infinity)
          for (const outcome of some([...crashes, ...losses], capacity, 6)) {
            const known = model.copy()
            yield* runProcess(outcome.of(machine), look(known))
            found.push(...known.violations.map((text) => `${capacity} bytes, ${outcome.name}: ${text}`))
          }
          found.push(...model.violations)
          const missing = slots.filter((key) => goesOn && !model.isThere(key))
          found.push(...missing.map((key) => `${capacity} bytes: ${key} was never stored`))
        }
      }
      assert.deepStrictEqual(found, [])
    }))

  it.effect("[case 20] frames that stood whole before the disk was full, and were refused, do not appear", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let room = 0; room < 1_600; room += 100) {
        const machine = Disk.make()
        const model = makeModel()
        const work = Effect.flatMap(openStore, (store) =>
          Effect.gen(function*() {
            yield* model.run(store, create(1, 300))
            machine.setCapacity(machine.usedBytes() + room)
            yield* model.run(store, together(create(2, 300), create(3, 300), create(4, 300)))
          }))
        yield* runProcess(machine, Effect.scoped(work))
        machine.setCapacity(Infinity)
        for (const outcome of [...crashes, ...losses, ...drawnLosses(room, 3)]) {
          const known = model.copy()
          yield* runProcess(outcome.of(machine), look(known))
          found.push(...known.violations.map((text) => `${room} bytes, ${outcome.name}: ${text}`))
        }
      }
      assert.deepStrictEqual(found, [])
    }))

  it.effect("[case 20] what a full disk refused does not appear after a cut at any call that follows", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let call = 8;; call++) {
        const machine = Disk.make()
        const model = makeModel()
        machine.cutAt(call)
        machine.setCapacity(3_000 + call * 311 % 9_000)
        yield* runProcess(machine, run(model, [...script, ...script]))
        for (const outcome of [...some([...crashes, ...losses], call, 2), ...drawnLosses(call, 1)]) {
          const known = model.copy()
          const after = outcome.of(machine)
          after.setCapacity(Infinity)
          yield* runProcess(after, look(known))
          found.push(...known.violations.map((text) => `call ${call}, ${outcome.name}: ${text}`))
        }
        found.push(...model.violations)
        if (machine.calls.length < call) break
      }
      assert.deepStrictEqual(found, [])
    }))

  it.effect("a disk that does not do what it is asked is found out", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* unnoticed, [])
    }))
})
