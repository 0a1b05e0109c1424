/** Walks with a seed: appends, acks, lost answers, ends and crashes, against a list in memory that says what must be there. */
import type { WalService } from "@effect-wal/core/Wal"
import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { Fault, FaultyRequest } from "../FaultyObjectStore.ts"
import type { Suite } from "./Suite.ts"
import type { WalPlace } from "./SuiteBackend.ts"
import { open, type Options, type Process } from "./SuiteProcess.ts"
import { generator } from "./SuiteRandom.ts"
import { encode, readAll } from "./SuiteRecords.ts"
import { drive, start } from "./SuiteTime.ts"

const steps = 50

class Model {
  readonly random: () => number
  /** The text of each number, from 1 on: what was accepted by this process on top of what it found. */
  texts: Array<string> = []
  /** Up to here it was said to be durable. */
  durable = 0
  /** What the cursor must be at least and at most. */
  persisted = 0
  mark = 0
  private names = 0

  constructor(seed: number) {
    this.random = generator(seed)
  }

  below(bound: number): number {
    return Math.floor(this.random() * bound)
  }

  fresh(count: number): ReadonlyArray<string> {
    return Array.from({ length: count }, () => `n${this.names++}`)
  }

  lines(from: number): ReadonlyArray<string> {
    return this.texts.slice(from).map((text, index) => `${from + index + 1}:${text}`)
  }
}

/** Now and then a write is refused, or taken without an answer; a read is refused. */
const faults = (model: Model) => ({ operation }: FaultyRequest): Fault | undefined => {
  const dice = model.random()
  if (operation === "create" || operation === "replace") {
    if (dice < 0.06) return { _tag: "Fail", reason: "Unavailable" }
    if (dice < 0.12) return { _tag: "Fail", reason: "TimedOut", applied: true }
    return dice < 0.15 ? { _tag: "Fail", reason: "Conflict" } : undefined
  }
  return dice < 0.04 ? { _tag: "Fail", reason: "Unavailable" } : undefined
}

const append = (model: Model, wal: WalService) =>
  Effect.gen(function*() {
    const texts = model.fresh(1 + model.below(9))
    const { durable, first, last } = yield* drive(wal.append(texts.map((text) => ({ payload: encode(text) }))))
    assert.deepStrictEqual([first, last], [model.texts.length + 1, model.texts.length + texts.length])
    model.texts.push(...texts)
    const noted = Effect.tap(durable, () =>
      Effect.sync(() => {
        model.durable = Math.max(model.durable, last)
      }))
    if (model.random() < 0.4) yield* drive(noted)
    else yield* start(Effect.exit(noted))
  })

const acknowledge = (model: Model, wal: WalService) =>
  Effect.gen(function*() {
    const { durable } = yield* wal.status
    if (durable === 0) return
    const seq = 1 + model.below(durable)
    if (model.random() < 0.5) yield* wal.commit(seq)
    else {yield* wal.ack({
        from: Math.min(model.mark + 1, durable),
        to: Math.max(seq, Math.min(model.mark + 1, durable))
      })}
    model.mark = Math.max(model.mark, seq)
    const cursor = (yield* wal.status).cursors["default"] ?? assert.fail("no cursor")
    assert.isAtLeast(cursor.mark, model.mark)
    model.mark = cursor.mark
  })

/** What a process that starts finds must be what was durable, then a prefix of what was only accepted. */
const check = (model: Model, wal: WalService, seed: number) =>
  Effect.gen(function*() {
    const status = yield* wal.status
    const mark = status.cursors["default"]?.mark ?? -1
    assert.isAtLeast(mark, model.persisted, `seed ${seed}: the cursor went back`)
    assert.isAtMost(mark, model.mark, `seed ${seed}: the cursor is at what nobody committed`)
    const read = yield* readAll(wal, status.trimmedTo + 1)
    const expected = model.lines(status.trimmedTo)
    assert.isAtMost(status.trimmedTo, model.mark, `seed ${seed}: what was not committed is deleted`)
    assert.isAtLeast(read.length + status.trimmedTo, model.durable, `seed ${seed}: what was durable is gone`)
    assert.deepStrictEqual(read, expected.slice(0, read.length), `seed ${seed}`)
    model.texts = model.texts.slice(0, status.trimmedTo + read.length)
    model.durable = model.texts.length
    model.persisted = mark
    model.mark = mark
  })

const restart = (model: Model, place: WalPlace, process: Process, options: Options) =>
  Effect.gen(function*() {
    if (model.random() < 0.5) {
      const report = yield* process.close
      // Closing stores all, whatever the store refused on the way.
      assert.strictEqual(report.lost, null)
      model.durable = model.texts.length
      if (report.manifestWritten) model.persisted = model.mark
    } else {
      const cursor = (yield* process.wal.status).cursors["default"]
      model.persisted = Math.max(model.persisted, cursor?.persisted ?? 0)
      yield* process.crash
    }
    return yield* open(place, options, { onFaults: (handle) => handle.rule(faults(model)) })
  })

const walk = (place: WalPlace, seed: number, options: Options) =>
  Effect.gen(function*() {
    const model = new Model(seed)
    let process = yield* open(place, options)
    for (let step = 0; step < steps; step++) {
      const dice = model.random()
      if (dice < 0.55) yield* append(model, process.wal)
      else if (dice < 0.75) yield* acknowledge(model, process.wal)
      else if (dice < 0.8) yield* Effect.exit(drive(process.wal.flush))
      else if (dice < 0.85) yield* start(Effect.exit(process.wal.trim(model.mark)))
      else {
        process = yield* restart(model, place, process, options)
        yield* check(model, process.wal, seed)
      }
    }
    const exit = yield* Effect.exit(drive(process.wal.flush))
    assert.isTrue(Exit.isSuccess(exit), `seed ${seed}`)
    yield* process.crash
    const last = yield* open(place, options)
    model.durable = model.texts.length
    model.persisted = 0
    yield* check(model, last.wal, seed)
  })

export const randomTests = ({ backend, test }: Suite): void => {
  const workers = backend.window === 1 ? 1 : 3
  const kinds: ReadonlyArray<readonly [string, Options]> = [
    ["plain", { segment: { maxEntries: 4 } }],
    ["deleting, manifest often", {
      segment: { maxEntries: 2 },
      parallelPut: { workers },
      retention: { policy: "committed" },
      manifest: { maxSegments: 2, maxDelay: "20ms" },
      cursor: { interval: "10ms" },
      compression: { type: "zstd", thresholdBytes: 1 }
    }]
  ]
  for (const [name, options] of kinds) {
    for (const seed of [1, 2]) {
      test(`a random walk, ${name}: nothing durable is lost or doubled, no hole, seed ${seed} [predecessor 2] [case 9]`, (place) =>
        walk(place, seed, options))
    }
  }
}
