import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Fiber, Schedule, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as DurableInput from "../../src/DurableInput.ts"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { encodeEndMarker } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import * as TypedWal from "../../src/TypedWal.ts"
import { Wal } from "../../src/Wal.ts"
import { DiskFull } from "../../src/WalError.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import type { WalService } from "../../src/WalService.ts"
import {
  drive,
  encode,
  holdPuts,
  isDone,
  key,
  open,
  prefix,
  records,
  reopen,
  start,
  still,
  store,
  storeSegments
} from "../support/LogWorld.ts"
import { makeHandler, makeSource, markOf, names, quiet, textOf } from "./InputWorld.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { by: Schema.String }) {}

const modes = ["after-durable", "after-accepted"] as const

/** Fails for one record, and counts its tries. */
const failsAt = (name: string) => {
  const seen = { tries: 0 }
  const handle = (record: AppendRecord) =>
    Effect.suspend(() => {
      if (textOf(record) !== name) return Effect.void
      seen.tries++
      return Effect.fail(new Refused({ by: "downstream" }))
    })
  return { seen, handle }
}

describe("a handler that fails", () => {
  it.effect.each([...modes])(
    "%s: stops the run with its error; it comes again with the next run, alone",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const source = yield* makeSource
        const handler = makeHandler()
        const refuse = handler.hold("r2").finish
        const { finish } = handler.hold("r3")
        const refused = Effect.fail(new Refused({ by: "downstream" }))
        const run = yield* start(
          DurableInput.make(wal, source.stream, { handle }).run(
            (record) => Effect.andThen(handler.handle(record), textOf(record) === "r2" ? refused : Effect.void),
            { concurrency: 2 }
          )
        )
        yield* source.give(4)
        yield* quiet
        yield* Effect.andThen(refuse, quiet)
        // The one that runs beside it may finish; nothing more is begun.
        assert.isFalse(isDone(run))
        yield* finish
        assert.deepStrictEqual(yield* Effect.flip(Fiber.join(run)), new Refused({ by: "downstream" }))
        assert.strictEqual(yield* markOf(wal), 1)
        assert.deepStrictEqual(handler.done, names(1, 3))

        const again = makeHandler()
        yield* DurableInput.make(wal, Stream.empty).run(again.handle)
        // What was handled behind it comes too: the cursor did not pass it.
        assert.deepStrictEqual(again.done, names(2, 4))
        assert.strictEqual(yield* markOf(wal), 4)
      })
  )

  it.effect("runs again as the schedule says, and is committed once it succeeds", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      let tries = 0
      const run = yield* start(
        DurableInput.make(wal, Stream.fromIterable(records(1))).run(
          () => Effect.suspend(() => ++tries < 4 ? Effect.fail(new Refused({ by: "downstream" })) : Effect.void),
          { retry: Schedule.exponential("1 second") }
        )
      )
      yield* quiet
      assert.strictEqual(tries, 1)
      yield* Effect.andThen(TestClock.adjust("1 second"), quiet)
      assert.strictEqual(tries, 2)
      yield* Effect.andThen(TestClock.adjust("1 second"), quiet)
      assert.strictEqual(tries, 2)
      yield* Effect.andThen(TestClock.adjust("5 seconds"), quiet)
      assert.strictEqual(tries, 4)
      assert.deepStrictEqual(yield* Fiber.join(run), { handled: 1, deadLettered: 0 })
      assert.strictEqual(yield* markOf(wal), 1)
    }))

  it.effect("goes to the dead letters when its tries are used up, and the others go on", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const { handle, seen } = failsAt("r2")
      const letters: Array<string> = []
      const run = yield* start(
        DurableInput.make(wal, Stream.fromIterable(records(3))).run(handle, {
          retry: Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 2 })),
          deadLetter: ({ seq, value }, cause) =>
            Effect.sync(() => letters.push(`${seq} ${textOf(value)} ${String(Cause.squash(cause))}`))
        })
      )
      yield* quiet
      yield* Effect.andThen(TestClock.adjust("1 second"), quiet)
      assert.deepStrictEqual(letters, [])
      yield* Effect.andThen(TestClock.adjust("1 second"), quiet)
      assert.deepStrictEqual(yield* Fiber.join(run), { handled: 2, deadLettered: 1 })
      assert.strictEqual(seen.tries, 3)
      assert.strictEqual(letters.length, 1)
      assert.match(letters[0] ?? "", /^2 r2 .*Refused/)
      assert.strictEqual(yield* markOf(wal), 3)
    }))

  it.effect("by a defect is not tried again, and is a dead letter too", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      let tries = 0
      const report = yield* DurableInput.make(wal, Stream.fromIterable(records(1))).run(
        () =>
          Effect.sync(() => {
            tries++
            throw new Error("a defect")
          }),
        { retry: Schedule.forever, deadLetter: (_, cause) => Effect.sync(() => assert.isTrue(Cause.hasDies(cause))) }
      )
      assert.deepStrictEqual([report.deadLettered, tries], [1, 1])
    }))

  it.effect("and whose dead letter cannot be kept stops the run", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const error = yield* Effect.flip(
        DurableInput.make(wal, Stream.fromIterable(records(1))).run(failsAt("r1").handle, {
          deadLetter: () => Effect.fail(new Refused({ by: "dead letters" }))
        })
      )
      assert.deepStrictEqual(error, new Refused({ by: "dead letters" }))
      assert.strictEqual(yield* markOf(wal), 0)
    }))
})

describe("a source that fails", () => {
  it.effect.each([...modes])(
    "%s: ends the input with its error, after all before it is handled",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const handler = makeHandler()
        const source = Stream.concat(Stream.fromIterable(records(3)), Stream.fail(new Refused({ by: "source" })))
        const error = yield* Effect.flip(DurableInput.make(wal, source, { handle }).run(handler.handle))
        assert.deepStrictEqual(error, new Refused({ by: "source" }))
        assert.deepStrictEqual(handler.done, names(1, 3))
        assert.strictEqual(yield* markOf(wal), 3)
      })
  )

  it.effect("or refuses an acknowledgement ends it too; what was accepted stays in the log", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const input = DurableInput.make(wal, Stream.concat(Stream.fromIterable(records(1)), Stream.never), {
        onDurable: () => Effect.fail(new Refused({ by: "source" }))
      })
      assert.deepStrictEqual(yield* Effect.flip(input.run(() => Effect.void)), new Refused({ by: "source" }))
      assert.strictEqual((yield* wal.status).durable, 1)
    }))

  it.effect("or gives what the log refuses ends it with that error", () =>
    Effect.gen(function*() {
      const { wal } = yield* open({ ...still, maxRecordBytes: 1_000 })
      const input = DurableInput.make(wal, Stream.make({ payload: new Uint8Array(2_000) }))
      assert.strictEqual((yield* Effect.flip(input.run(() => Effect.void)))._tag, "RecordTooLarge")
    }))
})

describe("a disk without room", () => {
  it.effect("holds the source back until there is some, and loses nothing", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      let isFull = true
      const full: WalService = {
        ...wal,
        append: (given, options) =>
          Effect.suspend(() => isFull ? Effect.fail(new DiskFull({ path: "/disk" })) : wal.append(given, options))
      }
      const source = yield* makeSource
      const handler = makeHandler()
      const run = yield* start(DurableInput.make(full, source.stream).run(handler.handle))
      yield* source.give(3)
      yield* source.end
      yield* quiet
      yield* Effect.andThen(TestClock.adjust("10 minutes"), quiet)
      assert.strictEqual(source.seen.taken, 1)
      isFull = false
      yield* Effect.andThen(TestClock.adjust("1 second"), quiet)
      yield* Fiber.join(run)
      assert.deepStrictEqual(handler.done, names(1, 3))
    }))
})

describe("a log that ends", () => {
  it.effect.each([...modes])(
    "%s: by a newer writer ends the input and its handlers at once",
    (handle) =>
      Effect.gen(function*() {
        const { memory, wal } = yield* open(still)
        const source = yield* makeSource
        const handler = makeHandler()
        handler.hold("r1")
        const run = yield* start(DurableInput.make(wal, source.stream, { handle }).run(handler.handle))
        yield* source.give(1)
        yield* quiet
        assert.deepStrictEqual(handler.started, ["r1"])
        const { epoch, logId } = yield* wal.status
        const owner = { epoch: epoch + 1, host: "newer" }
        const marker = { logId, nonce: "f".repeat(32), epoch, slot: 1, owner }
        memory.put(slotKey(prefix, epoch, 1), encodeEndMarker(marker, nodeDigest))
        yield* source.give(1, 2)
        yield* quiet
        const error = yield* Effect.flip(Fiber.join(run))
        assert.strictEqual(error._tag, "WriterFenced")
        assert.deepStrictEqual([handler.done, handler.interrupted], [[], ["r1"]])
      })
  )

  it.effect.each([...modes])(
    "%s: by being closed ends an input that has nothing to do",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const run = yield* start(DurableInput.make(wal, Stream.never, { handle }).run(() => Effect.void))
        yield* quiet
        yield* wal.close
        assert.strictEqual((yield* Effect.flip(Fiber.join(run)))._tag, "WalClosed")
      })
  )
})

describe("what cannot be delivered", () => {
  it.effect("is a value that the schema does not take: the input fails, or tells of it and goes on", () =>
    Effect.gen(function*() {
      const wal = yield* Wal
      yield* store(wal, [{ payload: encode("1") }, { payload: encode("\"two\"") }, { payload: encode("3") }])
      const numbers = yield* TypedWal.make({ schema: Schema.Int })
      const seen: Array<number> = []
      const handle = (value: number) => Effect.sync(() => seen.push(value))
      const error = yield* Effect.flip(DurableInput.typed(numbers, Stream.empty).run(handle))
      assert.strictEqual(error._tag, "RecordDecodeError")
      assert.deepStrictEqual([seen, yield* markOf(wal)], [[1], 1])

      const told: Array<string> = []
      yield* DurableInput.typed(numbers, Stream.make(4), {
        onUnreadable: (one) => Effect.sync(() => told.push(one._tag))
      }).run(handle)
      assert.deepStrictEqual([seen, told, yield* markOf(wal)], [[1, 3, 4], ["UndecodableRecord"], 4])
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("is what damage took: the input fails, or tells of it and goes on", () =>
    Effect.gen(function*() {
      const options = { ...still, segment: { maxEntries: 10 } }
      const log = yield* open(options)
      yield* storeSegments(log.wal, 3, 10)
      const { wal } = yield* reopen(log, options)
      log.memory.objects.delete(key(1))
      const handler = makeHandler()
      const failed = yield* drive(Effect.flip(DurableInput.make(wal, Stream.empty).run(handler.handle)))
      assert.strictEqual(failed._tag, "SegmentMissing")

      const told: Array<string> = []
      const input = DurableInput.make(wal, Stream.fromIterable(records(1, 31)), {
        onUnreadable: ({ from, to }) => Effect.sync(() => told.push(`${from}-${to}`))
      })
      yield* drive(input.run(handler.handle))
      assert.deepStrictEqual(told, ["11-20"])
      assert.deepStrictEqual(handler.done.slice(-11), names(21, 31))
      assert.strictEqual(yield* markOf(wal), 31)
    }))

  it.effect("after acceptance is what somebody else appends: the input says so and ends", () =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(still)
      const source = yield* makeSource
      const run = yield* start(
        DurableInput.make(wal, source.stream, { handle: "after-accepted" }).run(() => Effect.void)
      )
      yield* source.give(1)
      yield* quiet
      faults.rule(holdPuts(() => Deferred.makeUnsafe<void>()))
      yield* wal.append(records(1))
      yield* source.give(1, 2)
      yield* quiet
      const error = yield* Effect.flip(Fiber.join(run))
      assert.strictEqual(error._tag, "InputNotAlone")
      assert.include(error.message, "expected number 2 and got 3")
    }))
})
