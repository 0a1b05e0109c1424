/** A whole log on a local disk that loses power or whose processes are killed, at every call. */
import { lazySync, withoutSyncData, withoutSyncDirectory } from "@effect-wal/testing/BrokenDisk"
import type { PowerLossDisk } from "@effect-wal/testing/PowerLossDisk"
import * as Disk from "@effect-wal/testing/PowerLossDisk"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger, References, Stream } from "effect"
import { TestClock } from "effect/testing"
import { resolveLocalOptions } from "../../src/config/ResolveOptions.ts"
import * as LocalLog from "../../src/node/LocalLog.ts"
import { ProcessRegistry, ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import { DiskFull } from "../../src/WalError.ts"
import type { WalService } from "../../src/WalService.ts"
import { decode, encode } from "../support/LogWorld.ts"
import type { Break, Outcome } from "./fixtures/cuts.ts"
import { crashes, drawnLosses, honest, losses, runProcess, some } from "./fixtures/cuts.ts"

/** Small files, and a manifest every third segment. */
const openLog = Effect.gen(function*() {
  const { options, settings } = yield* resolveLocalOptions({
    nodeId: "node",
    streamId: "log",
    path: "/srv/wal",
    segment: { linger: "0ms" },
    manifest: { maxSegments: 3, maxDelay: "1s" },
    cursor: { interval: "1s", maxEntries: 2 }
  })
  return (yield* LocalLog.open(options, { ...settings, maxFileBytes: 4_096 })).log
}).pipe((open) => Effect.suspend(() => Effect.provideService(open, ProcessRegistry, new ProcessRegistryState())))

/** What was sent, answered and shown, and from it: what must be read. */
class Ledger {
  readonly violations: Array<string> = []
  private readonly sent = new Set<string>()
  private readonly durable = new Map<number, string>()
  private committed = 0

  copy(): Ledger {
    const copy = new Ledger()
    for (const text of this.sent) copy.sent.add(text)
    for (const [seq, text] of this.durable) copy.durable.set(seq, text)
    copy.committed = this.committed
    return copy
  }

  /** Done when it is durable. What is refused may never show. */
  append(wal: WalService, texts: ReadonlyArray<string>) {
    return Effect.gen({ self: this }, function*() {
      for (const text of texts) this.sent.add(text)
      const appended = yield* wal.append(texts.map((text) => ({ payload: encode(text) }))).pipe(
        Effect.tapError(() => Effect.sync(() => texts.forEach((text) => this.sent.delete(text))))
      )
      yield* appended.durable
      for (const [index, text] of texts.entries()) this.know(appended.first + index, text)
    })
  }

  commit(wal: WalService, seq: number) {
    // What is at or below it can be gone from now on.
    this.committed = Math.max(this.committed, seq)
    return wal.commit(seq)
  }

  /** In the place of all loggers: a process that finds what a cut has left has no error to tell. */
  get complaints() {
    return Logger.layer([
      Logger.make(({ logLevel, message }) => logLevel === "Error" && this.fail(`it complains: ${String(message)}`))
    ])
  }

  /** Reads all; what it shows has to be there ever after. */
  read(wal: WalService) {
    return Effect.gen({ self: this }, function*() {
      const read = yield* Stream.runCollect(wal.read({}))
      const texts = read.map(({ payload }) => decode(payload))
      const first = read[0]?.seq ?? this.committed + 1
      if (first > this.committed + 1) this.fail(`reading starts at ${first}, committed is ${this.committed}`)
      for (const [index, { seq }] of read.entries()) {
        if (seq !== first + index) this.fail(`record ${index} has the number ${seq}, the first has ${first}`)
        this.know(seq, texts[index] ?? "")
      }
      if (new Set(texts).size !== texts.length) this.fail("a record is there twice")
      for (const text of texts) if (!this.sent.has(text)) this.fail(`nobody has appended ${text.slice(0, 20)}`)
      const last = first + read.length - 1
      for (const seq of this.durable.keys()) {
        if (seq > this.committed && (seq < first || seq > last)) {
          this.fail(`record ${seq} is gone; there are ${first} to ${last}`)
        }
      }
    })
  }

  private know(seq: number, text: string): void {
    const known = this.durable.get(seq)
    if (known !== undefined && known !== text) {
      this.fail(`record ${seq} was ${known.slice(0, 20)}, it is ${text.slice(0, 20)}`)
    }
    this.durable.set(seq, text)
  }

  private fail(text: string): void {
    this.violations.push(text)
  }
}

/** A process that opens the log; the clock goes on while it lives. */
const inLog = Effect.fnUntraced(function*(
  machine: PowerLossDisk,
  use: (wal: WalService) => Effect.Effect<void, unknown>,
  breakDisk: Break = honest,
  listener?: Ledger
) {
  const opened = Effect.scoped(Effect.flatMap(openLog, use))
  const program = listener === undefined
    ? opened
    : Effect.provide(Effect.provideService(opened, References.MinimumLogLevel, "Error"), listener.complaints)
  const fiber = yield* Effect.forkChild(runProcess(machine, program, breakDisk), { startImmediately: true })
  for (let step = 0; step < 2_000; step++) {
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return yield* exit
    yield* TestClock.adjust(250)
  }
  return yield* Effect.die(new Error("the process neither ended nor was cut"))
})

const firstLife = (ledger: Ledger) => (wal: WalService) =>
  Effect.gen(function*() {
    yield* ledger.append(wal, ["a1", "a2", "a3"])
    yield* Effect.forEach(["b", "c", "d"], (name) => ledger.append(wal, [`${name}1`, `${name}2`]), {
      concurrency: "unbounded"
    })
    yield* ledger.append(wal, ["large".repeat(500)])
    yield* ledger.commit(wal, 5)
    yield* Effect.sleep("1500 millis")
    yield* ledger.append(wal, ["e1"])
    yield* ledger.append(wal, ["f1", `f2${"f".repeat(2_000)}`])
  })

const secondLife = (ledger: Ledger) => (wal: WalService) =>
  Effect.gen(function*() {
    yield* ledger.append(wal, ["g1"])
    yield* ledger.commit(wal, 10)
    yield* Effect.sleep("3 seconds")
    yield* ledger.append(wal, ["h1", "h2"])
  })

const later = (ledger: Ledger) => (wal: WalService) =>
  Effect.andThen(ledger.append(wal, ["y1"]), ledger.append(wal, ["z1", "z2"]))

const lives = Effect.fnUntraced(function*(machine: PowerLossDisk, ledger: Ledger, breakDisk: Break = honest) {
  yield* inLog(machine, firstLife(ledger), breakDisk)
  yield* inLog(machine, secondLife(ledger), breakDisk)
})

/** After each cut of both lives and each outcome: what `check` finds. Each cut has a clock of its own. */
const everyCut = Effect.fnUntraced(function*(
  outcomesAt: (call: number) => ReadonlyArray<Outcome>,
  check: (machine: PowerLossDisk, ledger: Ledger, call: number) => Effect.Effect<void, unknown>,
  breakDisk: Break = honest
) {
  const found: Array<string> = []
  const cutAt = Effect.fnUntraced(function*(call: number) {
    const machine = Disk.make()
    const ledger = new Ledger()
    machine.cutAt(call)
    yield* Effect.orDie(lives(machine, ledger, breakDisk))
    if (machine.calls.length < call) return false
    const at = machine.calls.at(-1)
    for (const outcome of outcomesAt(call)) {
      const known = ledger.copy()
      yield* check(outcome.of(machine), known, call).pipe(
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

describe("a log on a local disk under power loss at every call", () => {
  it.effect("the workload reaches rotation, manifests, the dropping of files and a second epoch", () =>
    Effect.gen(function*() {
      const machine = Disk.make()
      const ledger = new Ledger()
      yield* lives(machine, ledger)
      yield* inLog(machine, (wal) => ledger.read(wal))
      assert.deepStrictEqual(ledger.violations, [])
      const count = (name: string, part: string) =>
        machine.calls.filter((call) => call.name === name && call.path.includes(part)).length
      assert.isAbove(count("rename", "journal"), 3)
      assert.isAbove(count("unlink", "journal"), 0)
      assert.isAbove(count("link", "manifest"), 4)
    }))

  it.effect(
    "acknowledged records survive every cut, numbers are unique and without a hole, and it goes on",
    () =>
      Effect.gen(function*() {
        const found = yield* everyCut(
          (call) => [...some([...crashes, ...losses], call, 1), ...drawnLosses(call, 1)],
          (machine, ledger) =>
            Effect.gen(function*() {
              yield* inLog(machine, (wal) => Effect.andThen(ledger.read(wal), later(ledger)(wal)))
              yield* inLog(machine.survivors("nothing"), (wal) => ledger.read(wal))
            })
        )
        assert.deepStrictEqual(found, [])
      }),
    120_000
  )

  it.effect(
    "what a log has shown after a cut outlasts a second cut, also one during the opening",
    () =>
      Effect.gen(function*() {
        const stride = 37
        const found = yield* everyCut(
          (call) => call % 3 === 0 ? crashes.slice(0, 1) : call % 3 === 1 ? drawnLosses(call, 1) : [],
          (machine, ledger, call) =>
            Effect.gen(function*() {
              for (let at = 1 + call % stride;; at += stride) {
                const second = machine.crash()
                const known = ledger.copy()
                second.cutAt(at)
                yield* inLog(second, (wal) => Effect.andThen(known.read(wal), later(known)(wal)))
                yield* inLog(second.survivors(at % 2 === 0 ? "nothing" : call * 100 + at), (wal) => known.read(wal))
                ledger.violations.push(...known.violations.map((text) => `second cut at ${at}: ${text}`))
                if (second.calls.length < at) return
              }
            })
        )
        assert.deepStrictEqual(found, [])
      }),
    120_000
  )

  it.effect("a sync that fails once, whichever: it is tried again elsewhere, and what is answered is durable", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      const withFailure = Effect.fnUntraced(function*(nth: number) {
        const machine = Disk.make()
        const ledger = new Ledger()
        machine.failSync(nth)
        // An opening may fail for it: that process ends, and the next one is fine.
        const first = yield* Effect.exit(inLog(machine, firstLife(ledger)))
        if (machine.calls.filter(({ name }) => name === "sync" || name === "syncData").length < nth) return false
        if (Exit.isFailure(first)) yield* inLog(machine, firstLife(ledger))
        yield* inLog(machine.survivors(nth % 2 === 0 ? "nothing" : nth), (wal) => ledger.read(wal))
        found.push(...ledger.violations.map((text) => `sync ${nth}: ${text}`))
        return true
      })
      for (let nth = 1; yield* Effect.provide(withFailure(nth), TestClock.layer()); nth++);
      assert.deepStrictEqual(found, [])
    }))

  it.effect("[case 20] a full disk, wherever: what is refused never shows, what was accepted is stored with room again", () =>
    Effect.gen(function*() {
      const refusals = new Set<string>()
      const withCapacity = Effect.fnUntraced(function*(room: number) {
        const machine = Disk.make()
        const ledger = new Ledger()
        yield* inLog(machine, (wal) =>
          Effect.gen(function*() {
            yield* ledger.append(wal, ["before"])
            machine.setCapacity(machine.usedBytes() + room)
            const appends = yield* Effect.forEach(["a", "b", "c", "d", "e", "f"], (name) =>
              Effect.forkChild(ledger.append(wal, [`${name}1`, name.repeat(700)])).pipe(
                Effect.tap(() =>
                  Effect.sleep("100 millis")
                )
              ))
            machine.setCapacity(Infinity)
            for (const exit of yield* Fiber.awaitAll(appends)) {
              if (Exit.isFailure(exit)) {
                refusals.add(Cause.squash(exit.cause) instanceof DiskFull ? "DiskFull" : "another")
              }
            }
            yield* ledger.append(wal, ["after"])
            yield* ledger.read(wal)
          }))
        yield* inLog(machine.survivors("nothing"), (wal) => ledger.read(wal))
        assert.deepStrictEqual(ledger.violations, [], `${room} bytes`)
      })
      for (let room = 0; room < 6_000; room += 150) yield* Effect.provide(withCapacity(room), TestClock.layer())
      assert.deepStrictEqual([...refusals], ["DiskFull"])
    }))

  it.effect("a disk that does not do what it is asked is found out", () =>
    Effect.gen(function*() {
      for (const [name, breakDisk] of Object.entries({ withoutSyncData, withoutSyncDirectory, lazySync })) {
        const found = yield* everyCut(
          () => losses.filter(({ name }) => name.includes("nothing")),
          (machine, ledger) => inLog(machine, (wal) => ledger.read(wal)),
          breakDisk
        )
        assert.isAbove(found.length, 0, name)
      }
    }))
})
