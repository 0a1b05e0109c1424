/** Elements that the log does not take, or not now: each of the others is in it once, in the order of the source. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Metric, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as DurableInput from "../../src/DurableInput.ts"
import * as TypedWal from "../../src/TypedWal.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import { encode, fills, open, readAll, records, refusePuts, sized, start, still, texts } from "../support/LogWorld.ts"
import { makeHandler, makeSource, names, quiet, textOf } from "./InputWorld.ts"

class Full extends Schema.TaggedError<Full>()("Full", {}) {}

const modes = ["after-durable", "after-accepted"] as const

const small = { ...still, maxRecordBytes: 1_000 }

/** `r1`, one that is too large, `r2`, one whose key is no text, `r3`. */
const mixed: ReadonlyArray<AppendRecord> = [
  ...records(1),
  { payload: new Uint8Array(2_000), headers: { name: "large" } },
  ...records(1, 2),
  { payload: encode("bad"), key: "\ud800" },
  ...records(1, 3)
]

describe("an element that the log refuses", () => {
  it.effect.each([...modes])(
    "%s: goes elsewhere; the others of its chunk are appended once and in order, and all are acknowledged",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(small)
        const handler = makeHandler()
        const refused: Array<string> = []
        const acked: Array<number> = []
        const input = DurableInput.make(wal, Stream.fromIterable(mixed), {
          handle,
          onDurable: (elements) => Effect.sync(() => acked.push(...elements.map((element) => mixed.indexOf(element)))),
          onRefused: ({ payload }, { _tag }) => Effect.sync(() => refused.push(`${_tag} ${payload.length}`))
        })
        assert.deepStrictEqual(yield* input.run(handler.handle), { handled: 3, deadLettered: 0 })
        assert.deepStrictEqual(refused, ["RecordTooLarge 2000", "InvalidRecord 3"])
        assert.deepStrictEqual(handler.done, names(1, 3))
        assert.deepStrictEqual(texts(yield* readAll(wal)), names(1, 3))
        assert.deepStrictEqual(acked, [0, 1, 2, 3, 4])
      })
  )

  it.effect("alone in a chunk is acknowledged after what came before it, and gives its room back", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(small)
      const acked: Array<number> = []
      const large = Array.from({ length: 5 }, () => mixed[1] ?? sized(1))
      const input = DurableInput.make(wal, Stream.rechunk(Stream.fromIterable(large), 1), {
        maxPending: 1,
        onDurable: (elements) => Effect.sync(() => acked.push(elements.length)),
        onRefused: () => Effect.void
      })
      assert.deepStrictEqual(yield* input.run(() => Effect.void), { handled: 0, deadLettered: 0 })
      assert.deepStrictEqual(acked, [1, 1, 1, 1, 1])
      assert.strictEqual((yield* wal.status).lastAccepted, 0)
    }))

  it.effect("and that cannot be kept elsewhere ends the input; what came before it is in the log", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(small)
      const input = DurableInput.make(wal, Stream.fromIterable(mixed), { onRefused: () => Effect.fail(new Full()) })
      assert.deepStrictEqual(yield* Effect.flip(input.run(() => Effect.void)), new Full())
      assert.strictEqual((yield* wal.status).lastAccepted, 1)
    }))

  it.effect("is one under a name that another element has, too", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(small)
      const refused: Array<string> = []
      const input = DurableInput.make(wal, Stream.fromIterable(records(3)), {
        producer: (record) => ({
          id: "source",
          sequence: textOf(record) === "r2" ? 1 : Number(textOf(record).slice(1))
        }),
        onRefused: (record, { _tag }) => Effect.sync(() => refused.push(`${textOf(record)} ${_tag}`))
      })
      yield* input.run(() => Effect.void)
      assert.deepStrictEqual(refused, ["r2 ProducerConflict"])
      assert.deepStrictEqual(texts(yield* readAll(wal)), ["r1", "r3"])
    }))

  it.effect("is a value that does not encode, too; it is told in a line and a metric", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const seen: Array<number> = []
      yield* Effect.gen(function*() {
        const numbers = yield* TypedWal.make({ schema: Schema.Int })
        const input = DurableInput.typed(numbers, Stream.make(1, 1.5, 2), {
          cursor: "refuses",
          onRefused: () => Effect.void
        })
        yield* input.run((value) => Effect.sync(() => seen.push(value)))
      }).pipe(
        Effect.provide(WalTest.layer()),
        Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]))
      )
      assert.deepStrictEqual(seen, [1, 2])
      assert.isTrue(
        lines.some((line) => line.includes("the log has refused an element of the source")),
        lines.join("\n")
      )
      const counts = (yield* Metric.snapshot).flatMap((one) =>
        one.id === "wal_input_refused_total" && one.attributes?.["cursor"] === "refuses" && one.type === "Counter"
          ? [Number(one.state.count)]
          : []
      )
      assert.deepStrictEqual(counts, [1])
    }))
})

describe("a chunk larger than the buffer of the log", () => {
  it.effect("of which a part is accepted when the disk is full is not appended again from its start", () =>
    Effect.gen(function*() {
      const kibibytes = 65_536
      const memory = yield* MemoryObjectStore.make()
      const { faults, wal } = yield* open(
        { ...still, maxRecordBytes: kibibytes, maxBufferedBytes: 200_000, segment: { maxBytes: kibibytes } },
        { memory: { ...memory, store: { ...memory.store, disk: "/disk" } } }
      )
      const makesRoom = faults.rule(refusePuts("StoreFull"))
      const chunk = Array.from({ length: 12 }, (_, index) => sized(30_000, index))
      const source = yield* makeSource
      const handler = makeHandler()
      const run = yield* start(
        DurableInput.make(wal, Stream.fromIterable(chunk), { onDurable: source.onDurable }).run(handler.handle)
      )
      yield* quiet
      // The open segment is sealed by time, and whoever waits for room learns of the disk.
      yield* TestClock.adjust("5 minutes")
      const { durable, lastAccepted } = yield* wal.status
      assert.isTrue(durable === 0 && lastAccepted > 0 && lastAccepted < 12, `${lastAccepted}`)
      makesRoom()
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* Fiber.join(run), { handled: 12, deadLettered: 0 })
      assert.deepStrictEqual(fills(yield* readAll(wal)), chunk.map((_, index) => index))
    }))
})

describe("a log for which nothing is refused", () => {
  it.effect("fails the input with what it says of the first element that it does not take", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(small)
      const error = yield* Effect.flip(DurableInput.make(wal, Stream.fromIterable(mixed)).run(() => Effect.void))
      assert.deepInclude(error, { _tag: "RecordTooLarge", index: 1 })
      assert.strictEqual((yield* wal.status).lastAccepted, 0)
    }))
})
