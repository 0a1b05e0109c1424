import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import {
  drive,
  isSegmentKey,
  key,
  open,
  type Options,
  range,
  records,
  reopen,
  seqs,
  slotKeys,
  start,
  still,
  texts
} from "../support/LogWorld.ts"
import { makeRandom } from "../support/Seeded.ts"

const reasons: ReadonlyArray<Reason> = [
  "Throttled",
  "Unavailable",
  "TimedOut",
  "Conflict",
  "AccessDenied",
  "StoreFull",
  "UnexpectedResponse"
]

/** A log whose requests for segments fail at random, half of the writes after they were applied. */
const run = Effect.fnUntraced(function*(seed: number) {
  const random = makeRandom(seed)
  const options: Options = {
    ...still,
    segment: { maxEntries: 1 + Math.floor(random() * 6) },
    parallelPut: { workers: 1 + Math.floor(random() * 4), pipelineDepth: 1 + Math.floor(random() * 3) },
    maxRecordBytes: 100,
    maxBufferedBytes: 3_000
  }
  const window = (options.parallelPut?.workers ?? 1) * (options.parallelPut?.pipelineDepth ?? 1)
  const log = yield* open({ ...options, segment: { ...options.segment, maxBytes: 1_000 } })
  log.faults.rule((request) => {
    if (!isSegmentKey(request.key) || random() > 0.5) return undefined
    const reason = reasons[Math.floor(random() * reasons.length)] ?? "TimedOut"
    return { _tag: "Fail", reason, applied: request.operation === "create" && random() < 0.5 }
  })
  const acked: Array<number> = []
  let next = 1
  while (next <= 120) {
    const count = 1 + Math.floor(random() * 9)
    const { durable, last } = yield* drive(log.wal.append(records(count, next)))
    next += count
    yield* start(Effect.andThen(durable, Effect.map(log.wal.status, (status) => acked.push(last, status.durable))))
    const { segments } = yield* log.wal.status
    assert.isAtMost(segments.inFlight, window)
  }
  yield* drive(log.wal.flush)
  const total = next - 1
  // Each ack, and the watermark at that moment.
  const pairs = range(0, acked.length / 2 - 1).map((pair) => acked.slice(2 * pair, 2 * pair + 2))
  assert.isTrue(pairs.every(([last = 0, durable = -1]) => durable >= last))
  assert.strictEqual(Math.max(...pairs.map(([last = 0]) => last)), total)
  const slots = slotKeys(log.memory)
  assert.deepStrictEqual(slots, range(0, slots.length - 1).map((slot) => key(slot)))
  const reading = yield* start(drive(Stream.runCollect(log.wal.read())))
  assert.deepStrictEqual(texts(yield* Fiber.join(reading)), range(1, total).map((n) => `r${n}`))
  const again = yield* reopen(log, still)
  assert.deepStrictEqual(seqs(yield* Stream.runCollect(again.wal.read())), range(1, total))
})

describe("random faults", () => {
  for (const seed of range(1, 20)) {
    it.effect(`no record is lost, doubled or acked out of order: seed ${seed} [predecessor 2] [predecessor 3]`, () =>
      run(seed))
  }
})
