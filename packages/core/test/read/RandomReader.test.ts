import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Stream } from "effect"
import { drive, isSegmentKey, open, type Options, range, records, start, type TestLog } from "../support/LogWorld.ts"
import { makeRandom } from "../support/Seeded.ts"

const total = 400

/** Reads live from `cursor` on, at its own pace, and acknowledges each record. */
const reader = (log: TestLog, cursor: string, pause: () => number) => {
  const seen: Array<number> = []
  const reading = log.wal.replay({ cursor }).pipe(
    Stream.take(total),
    Stream.runForEach((record) =>
      Effect.gen(function*() {
        seen.push(record.seq)
        const millis = pause()
        if (millis > 0) yield* Effect.sleep(Duration.millis(millis))
        yield* log.wal.ack(record.seq, { cursor })
      })
    )
  )
  return { reading, seen }
}

/** Writers, two readers of different pace, deletion behind the slower one, GETs that fail now and then. */
const run = Effect.fnUntraced(function*(seed: number) {
  const random = makeRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const options: Options = {
    segment: { maxEntries: 1 + below(8) },
    parallelPut: { workers: 1 + below(4) },
    tailBufferBytes: below(3) * 2_500,
    prefetch: 1 + below(5),
    retention: { policy: "committed" },
    manifest: { maxSegments: 1 + below(8), maxDelay: "1s" },
    cursor: { interval: "100ms" }
  }
  const log = yield* open(options)
  yield* log.wal.commit(0, { cursor: "slow" })
  log.faults.rule((request) =>
    request.operation === "get" && isSegmentKey(request.key) && random() < 0.2
      ? { _tag: "Fail", reason: "Throttled" }
      : undefined
  )
  const quick = reader(log, "default", () => 0)
  const slow = reader(log, "slow", () => random() < 0.1 ? below(400) : 0)
  const readers = [yield* start(quick.reading), yield* start(slow.reading)]
  const writing = yield* start(Effect.gen(function*() {
    for (let next = 1; next <= total;) {
      const count = Math.min(1 + below(20), total + 1 - next)
      yield* log.wal.append(records(count, next))
      next += count
      if (random() < 0.5) yield* Effect.sleep(Duration.millis(below(100)))
    }
  }))
  yield* drive(Effect.andThen(Fiber.join(writing), Effect.forEach(readers, Fiber.join)), 20)
  assert.deepStrictEqual(quick.seen, range(1, total))
  assert.deepStrictEqual(slow.seen, range(1, total))
  // The tail of the run is deleted too once the manifest says so.
  yield* drive(Effect.sleep("5 seconds"))
  assert.isAbove((yield* log.wal.status).trimmedTo, 0)
})

describe("random readers", () => {
  for (const seed of range(1, 12)) {
    it.effect(`each record once, in order, whatever is deleted meanwhile: seed ${seed} [predecessor 25]`, () =>
      run(seed))
  }
})
