/** Processes that run an input, fail, are killed at any time and start again, by seeds: what holds whatever happens. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as DurableInput from "../../src/DurableInput.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import { drive, open, type Options, readAll, reopen, start, still, texts } from "../support/LogWorld.ts"
import { makeRandom } from "../support/Seeded.ts"
import { makeSource, markOf, names, textOf } from "./InputWorld.ts"

class Flaky extends Schema.TaggedError<Flaky>()("Flaky", {}) {}

const elements = 40
const processes = 5

/** Segments of a few records, and cursors that are stored soon. */
const options: Options = {
  ...still,
  segment: { maxEntries: 4, linger: "0ms" },
  cursor: { interval: "20ms", maxEntries: 5 },
  parallelPut: { workers: 2 }
}

const walk = Effect.fnUntraced(function*(seed: number, handle: DurableInput.HandleMode) {
  const chance = makeRandom(seed)
  const below = (limit: number) => Math.floor(chance() * limit)
  const handled = new Set<string>()
  const acked = new Set<string>()
  /** The process that lives: what one that was killed still does in this test did not happen. */
  let living = 0
  const run = Effect.fnUntraced(function*(wal: Parameters<typeof DurableInput.make>[0]) {
    const process = living
    const note = (place: Set<string>, record: AppendRecord) => {
      if (process === living) place.add(textOf(record))
    }
    const handler = (record: AppendRecord) =>
      Effect.gen(function*() {
        yield* Effect.sleep(Duration.millis(below(30)))
        if (chance() < 0.2) return yield* new Flaky()
        note(handled, record)
      })
    const source = yield* makeSource
    for (const name of names(1, elements)) if (!acked.has(name)) yield* source.give(1, Number(name.slice(1)))
    yield* source.end
    yield* DurableInput.make(wal, source.stream, {
      handle,
      maxPending: 7,
      producer: (record) => ({ id: "source", sequence: Number(textOf(record).slice(1)) }),
      onDurable: (stored) => Effect.sync(() => stored.forEach((record) => note(acked, record))),
      stopTimeout: "1 second"
    }).run(handler, { concurrency: 1 + below(4), retry: Schedule.spaced("10 millis") })
  })

  let log = yield* open(options, { latencyMillis: 5 })
  for (let process = 1; process < processes; process++) {
    const fiber = yield* start(run(log.wal))
    for (let steps = below(40); steps > 0; steps--) yield* TestClock.adjust("7 millis")
    log.faults.crash()
    living++
    yield* start(Fiber.interrupt(fiber))
    yield* TestClock.adjust("2 seconds")
    log = yield* drive(reopen(log, options, { latencyMillis: 5 }))
    const kept = texts(yield* drive(readAll(log.wal)))
    const mark = (yield* markOf(log.wal)) ?? 0
    assert.deepStrictEqual(kept, names(1, kept.length), "the log holds each once, in the order of the source")
    for (const name of acked) assert.include(kept, name, "what was acknowledged is in the log")
    for (const name of kept.slice(0, mark)) assert.isTrue(handled.has(name), "the cursor passes what was handled only")
  }
  yield* drive(run(log.wal))
  assert.deepStrictEqual(texts(yield* drive(readAll(log.wal))), names(1, elements))
  assert.strictEqual(handled.size, elements)
  assert.strictEqual(yield* markOf(log.wal), elements)
})

describe("an input that is killed and started again", () => {
  it.effect.each(["after-durable", "after-accepted"] as const)(
    "%s: loses nothing, and leaves no hole",
    (handle) =>
      Effect.gen(function*() {
        for (let seed = 1; seed <= 12; seed++) yield* walk(seed, handle)
      })
  )
})
