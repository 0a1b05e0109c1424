import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Fiber, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { CompressionService } from "../../src/codec/Compression.ts"
import { CodecError } from "../../src/codec/Compression.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import {
  isDone,
  isSegmentKey,
  manifest,
  open,
  type Options,
  readAll,
  records,
  settle,
  sized,
  start,
  still,
  store
} from "../support/LogWorld.ts"

const broken = new Error("the machine is broken")
const packed: Options = { ...still, compression: { type: "zstd", thresholdBytes: 0 }, segment: { flushInterval: "1h" } }

/** Every way to wait for the log, and every call after it died. */
const assertDead = Effect.fnUntraced(function*(options: Options, compression: CompressionService, tag: string) {
  const log = yield* open({
    ...options,
    maxBufferedBytes: 3_000,
    maxRecordBytes: 1_000,
    segment: { maxBytes: 1_000, ...options.segment }
  }, { compression })
  const { wal } = log
  const failing = (effect: Effect.Effect<unknown, { readonly _tag: string }>) => start(Effect.result(effect))
  const live = yield* failing(Stream.runDrain(wal.replay()))
  const ended = yield* start(wal.ended)
  yield* settle
  const { durable } = yield* wal.append([sized(900), sized(900), sized(900)])
  const waiting = [
    yield* failing(durable),
    yield* failing(wal.append([sized(900)])),
    yield* failing(wal.append([sized(900)])),
    yield* failing(wal.flush),
    yield* failing(
      wal.sink.pipe((sink) => Stream.run(Stream.fromIterable<AppendRecord>([sized(900), sized(900)]), sink))
    ),
    live
  ]
  // A stream takes a turn more.
  yield* settle
  yield* settle
  assert.isTrue(waiting.every(isDone))
  for (const fiber of waiting) {
    const result = yield* Fiber.join(fiber)
    assert.isTrue(Result.isFailure(result) && result.failure._tag === tag)
  }
  assert.strictEqual((yield* Fiber.join(ended))._tag, tag)
  const later: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
    wal.append(records(1)),
    wal.appendNow(records(1)),
    wal.flush,
    wal.ack(1),
    wal.commit(0),
    wal.trim(0),
    wal.removeCursor("x"),
    readAll(wal),
    Stream.runDrain(wal.replay())
  ]
  for (const call of later) assert.strictEqual((yield* Effect.flip(call))._tag, tag)
  const status = yield* wal.status
  assert.strictEqual(status.state, "failed")
  assert.include(status.stateReason ?? "", "machine is broken")
  assert.deepInclude(yield* wal.close, {
    durable: 0,
    lost: { from: 1, to: status.lastAccepted },
    manifestWritten: false
  })
  yield* log.end
})

describe("a dead fiber is a dead log", () => {
  it.effect("when a worker dies of a defect", () =>
    assertDead(packed, { ...nodeCompression, compress: () => Effect.die(broken) }, "WalFailed"))

  it.effect("when packing fails", () =>
    assertDead(packed, {
      ...nodeCompression,
      compress: () => Effect.fail(new CodecError({ codec: "zstd", reason: broken.message }))
    }, "WalFailed"))

  it.effect("when a worker is interrupted by what it calls", () =>
    Effect.gen(function*() {
      const log = yield* open(packed, { compression: { ...nodeCompression, compress: () => Effect.interrupt } })
      const { durable } = yield* log.wal.append([sized(100)])
      assert.strictEqual((yield* Effect.flip(durable))._tag, "WalFailed")
    }))

  it.effect("when the coordinator dies of a defect", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      yield* store(log.wal, records(1))
      log.faults.rule((request) => {
        if (request.operation === "replace" && request.key === manifest) throw broken
        return undefined
      })
      assert.strictEqual((yield* Effect.flip(log.wal.trim(1)))._tag, "WalFailed")
      assert.strictEqual((yield* Effect.flip(log.wal.append(records(1))))._tag, "WalFailed")
      assert.include((yield* log.wal.ended).message, "manifest coordinator: the machine is broken")
    }))

  it.effect("when the store dies of a defect under a PUT; nothing more is sent", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, parallelPut: { workers: 4 }, segment: { maxEntries: 1 } })
      log.faults.rule((request) => {
        if (isSegmentKey(request.key)) throw broken
        return undefined
      })
      const { durable } = yield* log.wal.append(records(20))
      const error = yield* Effect.flip(durable)
      assert.strictEqual(error._tag, "WalFailed")
      yield* settle
      const sent = log.faults.requests.length
      yield* log.wal.close
      yield* log.end
      assert.strictEqual(log.faults.requests.length, sent)
    }))

  it.effect("what it had not sent stays at risk in the status, and grows older", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      yield* store(log.wal, records(1))
      yield* log.wal.append(records(3))
      yield* TestClock.adjust("500 millis")
      log.faults.rule((request) => {
        if (request.operation === "replace" && request.key === manifest) throw broken
        return undefined
      })
      assert.strictEqual((yield* Effect.flip(log.wal.trim(1)))._tag, "WalFailed")
      yield* TestClock.adjust("1 minute")
      assert.deepInclude((yield* log.wal.status).atRisk, { records: 3, oldestAgeMillis: 60_500 })
    }))

  it.effect("a reader that dies hurts nobody", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      yield* store(log.wal, records(3))
      const reading = yield* Effect.exit(Stream.runForEach(log.wal.read(), () => Effect.die(broken)))
      assert.isTrue(reading._tag === "Failure" && Cause.hasDies(reading.cause))
      assert.strictEqual((yield* store(log.wal, records(1))).last, 4)
    }))
})

describe("the manifest is gone or damaged while the log is open", () => {
  it.effect("gone: ManifestVanished, and it is not created again", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      yield* store(log.wal, records(1))
      log.memory.objects.delete(manifest)
      assert.strictEqual((yield* Effect.flip(log.wal.trim(1)))._tag, "ManifestVanished")
      assert.strictEqual((yield* Effect.flip(log.wal.append(records(1))))._tag, "ManifestVanished")
      yield* log.end
      assert.isFalse(log.memory.objects.has(manifest))
    }))
})
