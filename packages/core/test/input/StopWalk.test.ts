/** An input that is stopped and run again, by seeds: chunks of any size, a small buffer, elements that the log refuses. */
import { assert, describe, it } from "@effect/vitest"
import { Array, type Cause, Deferred, Duration, Effect, Fiber, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as DurableInput from "../../src/DurableInput.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import { decode, drive, encode, open, type Options, range, readAll, start, still, texts } from "../support/LogWorld.ts"
import { makeRandom } from "../support/Seeded.ts"
import { markOf } from "./InputWorld.ts"

const elements = 60
const runs = 5
const maxRecordBytes = 400

const options: Options = {
  ...still,
  maxRecordBytes,
  maxBufferedBytes: 4_000,
  segment: { maxBytes: 1_024, maxEntries: 4, linger: "0ms" },
  parallelPut: { workers: 2 }
}

/** An element that says which one it is. */
const elementOf = (number: number, bytes: number): AppendRecord => ({ payload: encode(String(number).padEnd(bytes)) })
const numberOf = (element: AppendRecord): number => Number(decode(element.payload))

const walk = Effect.fnUntraced(function*(seed: number, handle: DurableInput.HandleMode) {
  const chance = makeRandom(seed)
  const below = (limit: number) => Math.floor(chance() * limit)
  const all = Array.makeBy(elements, (number) => elementOf(number, chance() < 0.15 ? 500 : 20 + below(380)))
  const queue = yield* Queue.unbounded<AppendRecord, Cause.Done>()
  const acked: Array<number> = []
  const refused: Array<number> = []
  const handled: Array<number> = []
  const note = (place: Array<number>, given: ReadonlyArray<AppendRecord>, limit: number) =>
    Effect.andThen(
      Effect.sleep(Duration.millis(below(limit))),
      Effect.sync(() => place.push(...given.map(numberOf)))
    )
  const { wal } = yield* open(options, { latencyMillis: 5 })
  let given = 0
  for (let run = 1; run <= runs; run++) {
    const asked = yield* Deferred.make<void>()
    const input = DurableInput.make(wal, Stream.fromQueue(queue), {
      handle,
      maxPending: 1 + below(20),
      stopTimeout: "1 hour",
      onDurable: (stored) => note(acked, stored, 5),
      onRefused: (element) => note(refused, [element], 9)
    })
    const running = yield* start(
      input.run((element) => note(handled, [element], 12), {
        concurrency: 1 + below(4),
        stopWhen: Deferred.await(asked)
      })
    )
    const upTo = run === runs ? elements : Math.min(elements, given + below(25))
    for (let end = given; given < upTo; given = end) {
      end = Math.min(upTo, given + 1 + below(9))
      yield* Queue.offerAll(queue, all.slice(given, end))
      yield* TestClock.adjust(below(10))
    }
    yield* TestClock.adjust(below(60))
    if (run === runs) yield* Queue.end(queue)
    else yield* chance() < 0.5 ? Deferred.succeed(asked, undefined) : start(Fiber.interrupt(running))
    yield* drive(Fiber.await(running))
  }
  const isRefused = (number: number) => (all[number]?.payload.length ?? 0) > maxRecordBytes
  const kept = range(0, elements - 1).filter((number) => !isRefused(number))
  assert.deepStrictEqual(texts(yield* drive(readAll(wal))).map(Number), kept, "the log holds each once, in order")
  assert.deepStrictEqual(acked, range(0, elements - 1), "each is acknowledged once, in order")
  assert.deepStrictEqual(refused, range(0, elements - 1).filter(isRefused))
  assert.deepStrictEqual(handled.toSorted((one, other) => one - other), kept)
  assert.strictEqual(yield* markOf(wal), kept.length)
})

describe("an input that is stopped and run again", () => {
  it.effect.each(["after-durable", "after-accepted"] as const)(
    "%s: loses nothing and doubles nothing",
    (handle) =>
      Effect.gen(function*() {
        for (let seed = 1; seed <= 8; seed++) yield* walk(seed, handle)
      })
  )
})
