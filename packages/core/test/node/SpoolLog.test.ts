/** A log with its spool on a disk: what draining frees, and what a start makes of damaged and torn files. */
import type { PowerLossDisk } from "@effect-wal/testing/PowerLossDisk"
import * as Disk from "@effect-wal/testing/PowerLossDisk"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { magic } from "../../src/format/SegmentHeader.ts"
import { DiskFile } from "../../src/node/DiskFile.ts"
import { frameHeaderBytes } from "../../src/node/journal/JournalFrame.ts"
import * as SpoolDirectory from "../../src/node/SpoolDirectory.ts"
import { advanceUntil, dense, drive, makeWorld, readAll, records, store, type World } from "../scenarios/World.ts"

const path = "/var/spool/wal"
const directory = `${path}/node/log/~spool`

const openOn = (world: World, machine: PowerLossDisk, maxBytes = 1_000_000) => {
  const attach = () => ({ source: SpoolDirectory.make({ path, maxBytes }), crash: () => undefined })
  const process = world.process("first", {}, { attach })
  return { process, open: Effect.provideService(process.open(), DiskFile, machine.disk) }
}

/** A process that has stored `r1` to `r5`, spooled five records in each of the slots 1 to 4, and is killed. */
const killedSpooler = Effect.fnUntraced(function*(world: World) {
  const machine = Disk.make()
  const { open, process } = openOn(world, machine)
  const wal = yield* drive(open)
  yield* store(wal, records(5))
  process.faults.rule(() => ({ _tag: "Fail", reason: "Unavailable" }))
  for (const from of [6, 11, 16, 21]) {
    yield* drive(Effect.flatMap(wal.append(records(5, from)), ({ spooled }) => spooled))
  }
  process.crash()
  return machine.crash()
})

const lastFile = (machine: PowerLossDisk) =>
  Effect.map(
    machine.disk.list(directory),
    (entries) =>
      `${directory}/${entries.map(({ name }) => name).filter((name) => name.endsWith(".journal")).sort().at(-1)}`
  )

const change = Effect.fnUntraced(function*(
  machine: PowerLossDisk,
  at: (content: Buffer) => number,
  bytes: (content: Buffer, position: number) => Uint8Array
) {
  const handle = yield* machine.disk.open(yield* lastFile(machine), "modify")
  const content = Buffer.from(yield* handle.read((yield* handle.stat).sizeBytes, 0))
  const position = at(content)
  yield* handle.write(bytes(content, position), position)
}, Effect.scoped)

const flip = (content: Buffer, position: number) => Uint8Array.of((content[position] ?? 0) ^ 0x10)

/** Where the segment with this record starts. */
const objectOf = (content: Buffer, text: string): number => content.lastIndexOf(magic, content.indexOf(text))

describe("a damaged spool", () => {
  const places = {
    "a spooled segment": (content: Buffer) => content.indexOf("r12"),
    "the frame around a spooled segment": (content: Buffer) => objectOf(content, "r12") - frameHeaderBytes + 9,
    "the frame of the first one": (content: Buffer) => objectOf(content, "r7") - frameHeaderBytes + 9
  }
  for (const [what, at] of Object.entries(places)) {
    it.effect(`is refused, and neither the log nor the spool is changed: ${what}`, () =>
      Effect.gen(function*() {
        const world = yield* makeWorld()
        const machine = yield* killedSpooler(world)
        yield* change(machine, at, flip)
        const manifest = world.manifestTag
        for (let start = 0; start < 2; start++) {
          const error = yield* Effect.flip(drive(openOn(world, machine).open))
          assert.deepInclude(error, { _tag: "SpoolUndecided", spool: directory, epoch: 1 })
          assert.strictEqual(world.manifestTag, manifest)
        }
        // Nobody but this machine is held up.
        const other = yield* drive(world.process("second").open())
        yield* store(other, records(1, 99))
      }))
  }

  it.effect("with a torn tail has lost nothing that was answered", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const machine = yield* killedSpooler(world)
      yield* change(machine, (content) => content.length, (content) => content.subarray(-200, -20))
      const wal = yield* drive(openOn(world, machine).open)
      assert.deepStrictEqual(yield* readAll(wal), dense(25))
    }))

  it.effect("one that is whole is sent, and the next one is empty", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const machine = yield* killedSpooler(world)
      const wal = yield* drive(openOn(world, machine).open)
      assert.deepStrictEqual(yield* readAll(wal), dense(25))
      assert.deepInclude((yield* wal.status).spool, { records: 0, segments: 0 })
      yield* drive(wal.close)
      const again = yield* drive(openOn(world, machine).open)
      assert.deepStrictEqual(yield* readAll(again), dense(25))
    }))
})

describe("a spool that drains", () => {
  it.effect("gives the disk its space back while it is sent, never takes more than its bound, and ends small", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ segment: { maxEntries: 1, linger: "0ms" } })
      const machine = Disk.make()
      const bound = 200_000
      const { open, process } = openOn(world, machine, bound)
      const wal = yield* drive(open)
      const empty = machine.usedBytes()
      const lift = process.faults.rule(() => ({ _tag: "Fail", reason: "Unavailable" }))
      for (let count = 0; count < 80; count++) {
        yield* drive(Effect.flatMap(wal.append([{ payload: new Uint8Array(1_000) }]), ({ spooled }) => spooled))
      }
      const full = machine.usedBytes()
      assert.isAbove(full, 80_000)
      assert.strictEqual((yield* wal.status).spool?.bytes, full)
      // Beyond the bound it waits in memory.
      const waiting = yield* Effect.forkChild(
        wal.append(Array.from({ length: 120 }, () => ({ payload: new Uint8Array(1_000) })))
      )
      yield* TestClock.adjust("1 minute")
      assert.isAtMost(machine.usedBytes(), bound)
      assert.isDefined((yield* wal.status).spool?.problem)
      const used: Array<number> = []
      lift()
      process.faults.rule(({ key }) => {
        if (key.endsWith(".seg")) used.push(machine.usedBytes())
        return undefined
      })
      yield* drive(Effect.andThen(Fiber.join(waiting), wal.flush))
      assert.strictEqual(used.length, 200)
      assert.isAtMost(Math.max(...used), bound)
      assert.isBelow(used[120] ?? bound, 0.8 * bound)
      assert.isBelow(used[160] ?? bound, 0.5 * bound)
      yield* advanceUntil(() => machine.usedBytes() <= empty + bound / 32)
      assert.strictEqual((yield* wal.status).durable, 200)
    }))
})
