/** The directory store on a disk that loses power or whose processes are killed, at every call. */
import type { PowerLossDisk } from "@effect-wal/testing/PowerLossDisk"
import * as Disk from "@effect-wal/testing/PowerLossDisk"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as DirectoryObjectStore from "../../src/node/DirectoryObjectStore.ts"
import { crashes, drawnLosses, losses, runProcess } from "./fixtures/cuts.ts"
import { storeCuts } from "./fixtures/store-cuts.ts"
import type { Op } from "./fixtures/store-model.ts"
import { StoreModel } from "./fixtures/store-model.ts"

const openStore = Effect.orDie(DirectoryObjectStore.make({ path: "/srv/wal" }))

const large = (letter: string) => letter.repeat(1_500)

const script: ReadonlyArray<Op> = [
  { kind: "create", key: "log/0/a.seg", body: large("a") },
  { kind: "create", key: "log/0/b.seg", body: large("b") },
  { kind: "create", key: "log/manifest.json", body: "m1" },
  { kind: "replace", key: "log/manifest.json", body: "m2" },
  { kind: "create", key: "log/0/a.seg", body: "refused" },
  { kind: "replace", key: "log/manifest.json", body: large("m") },
  { kind: "create", key: "log/1/c.seg", body: "" },
  { kind: "remove", keys: ["log/0/a.seg", "log/none"] },
  { kind: "create", key: "log/0/a.seg", body: "again" },
  { kind: "create", key: "log/9/gone.json", body: "1" },
  { kind: "replace", key: "log/9/gone.json", body: "2" },
  { kind: "remove", keys: ["log/9/gone.json", "log/0/b.seg"] },
  { kind: "get", key: "log/manifest.json" }
]

/** What a process that opens the store after a cut goes on with. */
const continuation: ReadonlyArray<Op> = [
  { kind: "create", key: "log/0/a.seg", body: "second life" },
  { kind: "replace", key: "log/manifest.json", body: "m of the second life" },
  { kind: "create", key: "log/2/new.seg", body: "new" }
]

const { everyCut, keepsItsWordAfterwards, keepsWhatWasAnswered, look, run, unnoticed } = storeCuts({
  open: openStore,
  script
})

/** The keys that a process of its own finds by listing alone. */
const listIn = (machine: PowerLossDisk) =>
  Effect.gen(function*() {
    const keys: Array<string> = []
    const list = Effect.flatMap(openStore, (store) => Effect.orDie(store.list({ prefix: "" })))
    yield* runProcess(machine, Effect.map(list, ({ objects }) => keys.push(...objects.map(({ key }) => key))))
    return keys
  })

describe("DirectoryObjectStore under power loss at every call", () => {
  it.effect("the workload reaches every kind of call", () =>
    Effect.gen(function*() {
      const machine = Disk.make()
      const model = new StoreModel()
      yield* runProcess(machine, run(model, script))
      yield* runProcess(machine, look(model))
      assert.deepStrictEqual(model.violations, [])
      assert.deepStrictEqual([...new Set(machine.calls.map(({ name }) => name))].sort(), [
        "create",
        "link",
        "makeDirectory",
        "removeTree",
        "rename",
        "sync",
        "syncDirectory",
        "unlink",
        "write"
      ])
    }))

  it.effect("what was answered is there afterwards, what was refused was refused rightly, nothing else appears", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* keepsWhatWasAnswered, [])
    }))

  it.effect("a process that goes on after a cut keeps its word too", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* keepsItsWordAfterwards(continuation, 1), [])
    }))

  it.effect("what a store has shown after a cut outlasts a second cut", () =>
    Effect.gen(function*() {
      const stride = 7
      const found = yield* everyCut(
        (call) => [...crashes.slice(0, 1), ...drawnLosses(call, 1)],
        (machine, model, call) =>
          Effect.gen(function*() {
            // Every place of the second cut comes, after one of so many first cuts in a row.
            for (let at = 1 + call % stride;; at += stride) {
              const second = machine.crash()
              const known = model.copy()
              second.cutAt(at)
              yield* runProcess(second, Effect.andThen(look(known), run(known, continuation)))
              yield* runProcess(second.survivors("nothing"), look(known))
              model.violations.push(...known.violations.map((text) => `second cut at ${at}: ${text}`))
              if (second.calls.length < at) return
            }
          })
      )
      assert.deepStrictEqual(found, [])
    }))

  it.effect("an object that a killed process left with its temporary name is not shown before it is durable, hours later too", () =>
    Effect.gen(function*() {
      const found = yield* everyCut(() => crashes, (machine, model) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("2 hours")
          yield* runProcess(machine, look(model))
          yield* runProcess(machine.survivors("nothing"), look(model))
        }))
      assert.deepStrictEqual(found, [])
    }))

  it.effect("a key that only a listing has shown after a cut outlasts a power loss", () =>
    Effect.gen(function*() {
      const found = yield* everyCut(() => crashes, (machine, model) =>
        Effect.gen(function*() {
          const shown = yield* listIn(machine)
          const left = yield* listIn(machine.survivors("nothing"))
          model.violations.push(...shown.filter((key) => !left.includes(key)))
        }))
      assert.deepStrictEqual(found, [])
    }))

  it.effect("a sync that fails once, whichever: what is answered as stored is durable, what is refused does not appear", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let nth = 1;; nth++) {
        const machine = Disk.make()
        const model = new StoreModel()
        machine.failSync(nth)
        yield* runProcess(machine, run(model, script))
        for (const outcome of [...losses, ...drawnLosses(nth, 4)]) {
          const known = model.copy()
          yield* runProcess(outcome.of(machine), look(known))
          found.push(...known.violations.map((text) => `sync ${nth}, ${outcome.name}: ${text}`))
        }
        found.push(...model.violations)
        if (machine.calls.filter(({ name }) => name === "sync").length < nth) break
      }
      assert.deepStrictEqual(found, [])
    }))

  it.effect("[case 20] a full disk, wherever: what is refused does not appear, and with room it goes on by itself", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let capacity = 0; capacity < 7_000; capacity += 250) {
        const machine = Disk.make()
        const model = new StoreModel()
        machine.setCapacity(capacity)
        const both = Effect.flatMap(openStore, (store) =>
          Effect.forEach([...script, ...continuation], (op, index) => {
            if (index === script.length) machine.setCapacity(Infinity)
            return model.run(store, op)
          }))
        yield* runProcess(machine, both)
        for (const outcome of [...crashes, ...losses]) {
          const known = model.copy()
          yield* runProcess(outcome.of(machine), look(known))
          found.push(...known.violations.map((text) => `${capacity} bytes, ${outcome.name}: ${text}`))
        }
        found.push(...model.violations)
        assert.isTrue(model.isThere("log/2/new.seg"))
      }
      assert.deepStrictEqual(found, [])
    }))

  it.effect("a disk that does not do what it is asked is found out", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* unnoticed, [])
    }))
})
