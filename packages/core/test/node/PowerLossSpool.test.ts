/** A log whose store is away, and its spool on a disk that loses power or whose processes are killed, at every call. */
import { lazySync, withoutSyncData, withoutSyncDirectory } from "@effect-wal/testing/BrokenDisk"
import type { PowerLossDisk } from "@effect-wal/testing/PowerLossDisk"
import * as Disk from "@effect-wal/testing/PowerLossDisk"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as SpoolDirectory from "../../src/node/SpoolDirectory.ts"
import type { WalService } from "../../src/WalService.ts"
import { decode, drive, encode, makeWorld, type Process, type World } from "../scenarios/World.ts"
import type { Break, Outcome } from "./fixtures/cuts.ts"
import { crashes, drawnLosses, honest, losses, runProcess, some } from "./fixtures/cuts.ts"

/** Small files: eight of them fill it. */
const settings = { path: "/var/spool/wal", maxBytes: 65_536, after: "300 millis" } as const

const spoolOf = { attach: () => ({ source: SpoolDirectory.make(settings), crash: () => undefined }) }

/** What was sent and answered, and from it: what must be in the log in the end. */
class Ledger {
  readonly violations: Array<string> = []
  private readonly sent = new Set<string>()
  private readonly spooled = new Set<string>()
  private readonly durable = new Map<number, string>()

  copy(): Ledger {
    const copy = new Ledger()
    for (const text of this.sent) copy.sent.add(text)
    for (const text of this.spooled) copy.spooled.add(text)
    for (const [seq, text] of this.durable) copy.durable.set(seq, text)
    return copy
  }

  /** Done when it is kept, on the disk of this machine or in the store. */
  append(wal: WalService, texts: ReadonlyArray<string>) {
    return Effect.gen({ self: this }, function*() {
      for (const text of texts) this.sent.add(text)
      const appended = yield* wal.append(texts.map((text) => ({ payload: encode(text) })))
      yield* appended.spooled
      for (const text of texts) this.spooled.add(text)
    })
  }

  read(wal: WalService) {
    return Effect.gen({ self: this }, function*() {
      yield* wal.flush
      const read = yield* Stream.runCollect(wal.read({}))
      const texts = read.map(({ payload }) => decode(payload))
      for (const [index, { seq }] of read.entries()) {
        if (seq !== index + 1) this.fail(`record ${index} has the number ${seq}`)
        const text = texts[index] ?? ""
        const known = this.durable.get(seq)
        if (known !== undefined && known !== text) this.fail(`record ${seq} was ${known.slice(0, 9)}`)
        this.durable.set(seq, text)
        if (!this.sent.has(text)) this.fail(`nobody has appended ${text.slice(0, 9)}`)
      }
      if (new Set(texts).size !== texts.length) this.fail("a record is there twice")
      for (const text of this.spooled) {
        if (!texts.includes(text)) this.fail(`${text.slice(0, 9)} was answered as spooled, and is gone`)
      }
    })
  }

  private fail(text: string): void {
    this.violations.push(text)
  }
}

/** The store takes nothing until it is lifted. */
const goesDown = (process: Process) => process.faults.rule(() => ({ _tag: "Fail", reason: "Unavailable" }))

type Life = (wal: WalService, process: Process) => Effect.Effect<unknown, unknown>

/** A process on this machine that opens the log and has its spool; the clock goes on while it lives. */
const inLog = Effect.fnUntraced(function*(
  place: { readonly world: World; readonly machine: PowerLossDisk },
  use: Life,
  breakDisk: Break = honest
) {
  const process = place.world.process("first", {}, spoolOf)
  const program = Effect.flatMap(process.open(), (wal) => Effect.andThen(use(wal, process), wal.close))
  const fiber = yield* Effect.forkChild(runProcess(place.machine, program, breakDisk), { startImmediately: true })
  for (let step = 0; step < 4_000; step++) {
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      // Cut or at its end: nothing of it reaches the store any more.
      process.crash()
      return yield* Effect.asVoid(exit)
    }
    yield* TestClock.adjust(100)
  }
  return yield* Effect.die(new Error("the process neither ended nor was cut"))
})

const firstLife = (ledger: Ledger): Life => (wal, process) =>
  Effect.gen(function*() {
    yield* ledger.append(wal, ["a1", "a2"])
    const lift = goesDown(process)
    yield* ledger.append(wal, ["b1", "b2", "b3"])
    yield* Effect.forEach(["c", "d", "e"], (name) => ledger.append(wal, [`${name}1`, `${name}2`]), {
      concurrency: "unbounded"
    })
    for (const name of ["f", "g", "h"]) yield* ledger.append(wal, [name.repeat(5_000), `${name}2`])
    lift()
    yield* wal.flush
    goesDown(process)
    yield* ledger.append(wal, ["i1"])
    yield* ledger.append(wal, ["j1", "j".repeat(3_000)])
  })

const secondLife = (ledger: Ledger): Life => (wal, process) =>
  Effect.gen(function*() {
    yield* ledger.append(wal, ["k1"])
    goesDown(process)
    yield* ledger.append(wal, ["l1", "l2"])
    yield* ledger.append(wal, ["m1"])
  })

const lives = Effect.fnUntraced(
  function*(world: World, machine: PowerLossDisk, ledger: Ledger, breakDisk: Break = honest) {
    yield* inLog({ world, machine }, firstLife(ledger), breakDisk)
    yield* inLog({ world, machine }, secondLife(ledger), breakDisk)
  }
)

/** Somebody else has the log in between, and writes. */
const takeOver = Effect.fnUntraced(function*(world: World, ledger: Ledger, name = "other") {
  const wal = yield* drive(world.process("second").open())
  yield* drive(ledger.append(wal, [name]))
  yield* drive(wal.close)
})

/** After each cut of both lives and each outcome: what `check` finds. Each cut has a clock and a store of its own. */
const everyCut = Effect.fnUntraced(function*(
  outcomesAt: (call: number) => ReadonlyArray<Outcome>,
  check: (world: World, machine: PowerLossDisk, ledger: Ledger, call: number) => Effect.Effect<void, unknown>,
  breakDisk: Break = honest
) {
  const found: Array<string> = []
  const cutAt = Effect.fnUntraced(function*(call: number) {
    const world = yield* makeWorld()
    const machine = Disk.make()
    const ledger = new Ledger()
    machine.cutAt(call)
    yield* Effect.orDie(lives(world, machine, ledger, breakDisk))
    if (machine.calls.length < call) return false
    const at = machine.calls.at(-1)
    for (const outcome of outcomesAt(call)) {
      const known = ledger.copy()
      yield* check(yield* world.copy, outcome.of(machine), known, call).pipe(
        Effect.catchCause((cause) => Effect.sync(() => known.violations.push(Cause.pretty(cause))))
      )
      for (const text of known.violations) {
        found.push(`call ${call} (${at?.name} ${at?.path}), ${outcome.name}: ${text}`)
      }
      if (breakDisk !== honest && found.length > 0) return false
    }
    return true
  })
  for (let call = 1;; call++) {
    if (!(yield* Effect.provide(cutAt(call), TestClock.layer()))) return found
  }
})

const look = (ledger: Ledger): Life => (wal) => ledger.read(wal)

describe("a spool under power loss at every call", () => {
  it.effect("the workload reaches rotation, the dropping of files, and a second start that sends", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const machine = Disk.make()
      const ledger = new Ledger()
      yield* lives(world, machine, ledger)
      yield* inLog({ world, machine }, look(ledger))
      assert.deepStrictEqual(ledger.violations, [])
      const count = (name: string) =>
        machine.calls.filter((call) => call.name === name && call.path.includes("journal")).length
      assert.isAbove(count("rename"), 4)
      assert.isAbove(count("unlink"), 1)
      assert.isAbove(machine.calls.length, 60)
    }))

  it.effect("what was answered as spooled is in the log once, whether or not somebody had the log in between", () =>
    Effect.gen(function*() {
      const found = yield* everyCut(
        (call) => [...some([...crashes, ...losses], call, 2), ...drawnLosses(call, 1)],
        (world, machine, ledger, call) =>
          Effect.gen(function*() {
            if (call % 2 === 0) yield* takeOver(world, ledger)
            yield* inLog({ world, machine }, look(ledger))
            yield* inLog({ world, machine: machine.survivors("nothing") }, look(ledger))
          })
      )
      assert.deepStrictEqual(found, [])
    }))

  it.effect("a second cut while it is sent, or appended again, loses nothing and doubles nothing", () =>
    Effect.gen(function*() {
      const stride = 19
      const found = yield* everyCut(
        (call) => call % 3 === 0 ? crashes.slice(0, 1) : call % 3 === 1 ? drawnLosses(call, 1) : [],
        (world, machine, ledger, call) =>
          Effect.gen(function*() {
            if (call % 2 === 0) yield* takeOver(world, ledger)
            for (let at = 1 + call % stride;; at += stride) {
              const second = machine.crash()
              const again = yield* world.copy
              const known = ledger.copy()
              second.cutAt(at)
              yield* inLog({ world: again, machine: second }, (wal, process) =>
                Effect.gen(function*() {
                  yield* known.read(wal)
                  goesDown(process)
                  yield* known.append(wal, ["x1", "x2"])
                }))
              if (at % 4 === 0) yield* takeOver(again, known, "another")
              const outcome = second.survivors(at % 2 === 0 ? "nothing" : call * 100 + at)
              yield* inLog({ world: again, machine: outcome }, look(known))
              ledger.violations.push(...known.violations.map((text) => `second cut at ${at}: ${text}`))
              if (second.calls.length < at) return
            }
          })
      )
      assert.deepStrictEqual(found, [])
    }))

  it.effect("[case 20] a full disk, wherever: what was answered stays, and spooling resumes by itself", () =>
    Effect.gen(function*() {
      let waited = 0
      const withCapacity = Effect.fnUntraced(function*(room: number) {
        const world = yield* makeWorld()
        const machine = Disk.make()
        const ledger = new Ledger()
        yield* inLog({ world, machine }, (wal, process) =>
          Effect.gen(function*() {
            goesDown(process)
            yield* ledger.append(wal, ["before"])
            machine.setCapacity(machine.usedBytes() + room)
            const appends = yield* Effect.forEach(["a", "b", "c"], (name) =>
              Effect.forkChild(ledger.append(wal, [`${name}1`, name.repeat(700)])))
            yield* Effect.sleep("5 seconds")
            const { atRisk, spool } = yield* wal.status
            if (spool?.problem !== undefined) {
              waited++
              assert.include(spool.problem, "ENOSPC")
              assert.isAbove(atRisk.records, 0)
            }
            machine.setCapacity(Infinity)
            yield* Fiber.joinAll(appends)
            assert.isUndefined((yield* wal.status).spool?.problem)
          }))
        yield* inLog({ world, machine: machine.survivors("nothing") }, look(ledger))
        assert.deepStrictEqual(ledger.violations, [], `${room} bytes`)
      })
      for (let room = 0; room < 3_000; room += 150) yield* Effect.provide(withCapacity(room), TestClock.layer())
      assert.isAbove(waited, 10)
    }))

  it.effect("a sync that fails once, whichever: what is answered is kept all the same", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      const withFailure = Effect.fnUntraced(function*(nth: number) {
        const world = yield* makeWorld()
        const machine = Disk.make()
        const ledger = new Ledger()
        machine.failSync(nth)
        // An opening may fail for it: that process ends, and the next one is fine.
        const first = yield* Effect.exit(inLog({ world, machine }, firstLife(ledger)))
        if (machine.calls.filter(({ name }) => name === "sync" || name === "syncData").length < nth) return false
        if (Exit.isFailure(first)) yield* inLog({ world, machine }, firstLife(ledger))
        yield* inLog({ world, machine: machine.survivors(nth % 2 === 0 ? "nothing" : nth) }, look(ledger))
        found.push(...ledger.violations.map((text) => `sync ${nth}: ${text}`))
        return true
      })
      for (let nth = 1; yield* Effect.provide(withFailure(nth), TestClock.layer()); nth++);
      assert.deepStrictEqual(found, [])
    }))

  it.effect("a disk that does not do what it is asked is found out", () =>
    Effect.gen(function*() {
      for (const [name, breakDisk] of Object.entries({ withoutSyncData, withoutSyncDirectory, lazySync })) {
        const found = yield* everyCut(
          () => losses.filter(({ name }) => name.includes("nothing")),
          (world, machine, ledger) => inLog({ world, machine }, look(ledger)),
          breakDisk
        )
        assert.isAbove(found.length, 0, name)
      }
    }))
})
