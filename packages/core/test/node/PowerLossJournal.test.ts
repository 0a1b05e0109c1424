/** What a journal says about itself after a cut at every call: torn tails once, damage never, its real size. */
import type { PowerLossDisk } from "@effect-wal/testing/PowerLossDisk"
import * as Disk from "@effect-wal/testing/PowerLossDisk"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Journal from "../../src/node/journal/Journal.ts"
import { crashes, drawnLosses, losses, runProcess, some } from "./fixtures/cuts.ts"
import { text } from "./fixtures/disks.ts"

const directory = "/srv/journal"
const openJournal = Effect.orDie(Journal.open({ directory, maxFileBytes: 4_096 }))

const content = (slot: number) => `${slot}/`.repeat(slot * 37 % 400)

/** Appends each slot in a call of its own, some of them at the same time. */
const append = (
  journal: Journal.Journal,
  slots: ReadonlyArray<number>,
  answered: Set<number>,
  passive = false
) =>
  Effect.forEach(
    slots,
    (slot) =>
      journal.append([{ epoch: 1, slot, body: new TextEncoder().encode(content(slot)), passive }]).pipe(
        Effect.map(() => answered.add(slot)),
        Effect.exit
      ),
    { concurrency: "unbounded", discard: true }
  )

const workload = (answered: Set<number>) =>
  Effect.scoped(Effect.gen(function*() {
    const journal = yield* openJournal
    for (const slots of [[1], [2, 3, 4], [5], [6, 7, 8, 9, 10], [11, 12]]) yield* append(journal, slots, answered)
  }))

/** Two slots that keep their file; then an opening for each passive one. */
const idleRestarts = (answered: Set<number>) =>
  Effect.gen(function*() {
    const kept = (journal: Journal.Journal) => append(journal, [1, 2], answered)
    yield* Effect.scoped(Effect.flatMap(openJournal, kept))
    for (const slot of [3, 4, 5]) {
      yield* Effect.scoped(Effect.flatMap(openJournal, (journal) => append(journal, [slot], answered, true)))
    }
  })

const fileSizes = (machine: PowerLossDisk) =>
  Effect.gen(function*() {
    const files = yield* Effect.filter(
      yield* machine.disk.list(directory),
      ({ name }) => Effect.succeed(name.endsWith(".journal"))
    )
    return yield* Effect.forEach(files, ({ name }) => machine.disk.stat(`${directory}/${name}`))
  }).pipe(Effect.orDie)

const realBytes = (machine: PowerLossDisk) =>
  Effect.map(fileSizes(machine), (sizes) => sizes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))

/** Opens it twice; what is wrong, and what was torn. */
const examine = Effect.fnUntraced(function*(machine: PowerLossDisk, answered: ReadonlySet<number>) {
  const wrong: Array<string> = []
  let torn: number | undefined
  const first = Effect.gen(function*() {
    const journal = yield* openJournal
    torn = journal.tornTail?.droppedBytes
    if (journal.damage.length > 0) wrong.push(`it calls ${journal.damage.length} ranges damaged`)
    const listed = yield* Effect.orDie(journal.list({ epoch: 0, slot: 0 }, 100))
    for (const slot of answered) if (!listed.some((entry) => entry.slot === slot)) wrong.push(`slot ${slot} is gone`)
    for (const { slot } of listed) {
      const body = yield* Effect.orDie(journal.read({ epoch: 1, slot }))
      if (body?.intact !== true || text(body.body) !== content(slot)) wrong.push(`slot ${slot} has other bytes`)
    }
    const real = yield* realBytes(machine)
    if (journal.usedBytes() !== real) wrong.push(`it says ${journal.usedBytes()} bytes of ${real}`)
  })
  const second = Effect.gen(function*() {
    const journal = yield* openJournal
    if (journal.tornTail !== undefined) wrong.push("it tells of the torn tail again")
    if (journal.damage.length > 0) wrong.push("it calls something damaged the second time")
  })
  yield* runProcess(machine, Effect.scoped(first))
  yield* runProcess(machine, Effect.scoped(second))
  return { wrong, torn }
})

describe("a journal under power loss at every call", () => {
  it.effect("[case 11] a torn tail is told once and is never called damage; what was answered is whole", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      let tornTails = 0
      for (let call = 1;; call++) {
        const machine = Disk.make()
        const answered = new Set<number>()
        machine.cutAt(call)
        yield* runProcess(machine, workload(answered))
        if (machine.calls.length < call) break
        for (const outcome of [...crashes, ...losses, ...drawnLosses(call, 3)]) {
          const { torn, wrong } = yield* examine(outcome.of(machine), answered)
          if (torn !== undefined) tornTails++
          found.push(...wrong.map((text) => `call ${call}, ${outcome.name}: ${text}`))
        }
      }
      assert.deepStrictEqual(found, [])
      assert.isAbove(tornTails, 20)
    }))

  it.effect("restarts that append passive frames only lose none of them, and gain no file each", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let call = 1;; call++) {
        const machine = Disk.make()
        const answered = new Set<number>()
        machine.cutAt(call)
        yield* runProcess(machine, idleRestarts(answered))
        if (machine.calls.length < call) break
        for (const outcome of [...crashes, ...losses, ...drawnLosses(call, 1)]) {
          const cut = outcome.of(machine)
          const { wrong } = yield* examine(cut, answered)
          const files = yield* fileSizes(cut)
          if (files.length > 3) wrong.push(`${files.length} files are there`)
          found.push(...wrong.map((text) => `call ${call}, ${outcome.name}: ${text}`))
        }
      }
      assert.deepStrictEqual(found, [])
    }))

  it.effect("[case 20] its size is the real one, also after a full disk and after a sync that failed", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (let step = 1; step < 14; step++) {
        const machine = Disk.make()
        const answered = new Set<number>()
        machine.failSync(step)
        const work = Effect.gen(function*() {
          const journal = yield* openJournal
          machine.setCapacity(1_000 + step * 500)
          yield* append(journal, [1, 2, 3, 4, 5, 6, 7], answered)
          yield* append(journal, [8, 9, 10, 11], answered)
          const real = yield* realBytes(machine)
          if (journal.usedBytes() !== real) found.push(`step ${step}: it says ${journal.usedBytes()} bytes of ${real}`)
          machine.setCapacity(Infinity)
          yield* append(journal, [12], answered)
        })
        yield* runProcess(machine, Effect.exit(Effect.scoped(work)))
        for (const outcome of some([...crashes, ...losses], step, 5)) {
          const { wrong } = yield* examine(outcome.of(machine), answered)
          found.push(...wrong.map((text) => `step ${step}, ${outcome.name}: ${text}`))
        }
      }
      assert.deepStrictEqual(found, [])
    }))
})
