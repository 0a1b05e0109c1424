import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger, Metric, Schedule, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as DurableInput from "../../src/DurableInput.ts"
import { Wal } from "../../src/Wal.ts"
import { drive, holdPuts, isDone, open, readAll, records, start, still, store, texts } from "../support/LogWorld.ts"
import { makeHandler, makeSource, markOf, names, quiet } from "./InputWorld.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

const modes = ["after-durable", "after-accepted"] as const
const ways = ["stopWhen", "interruption"] as const
const both = modes.flatMap((handle) => ways.map((way) => ({ handle, way })))

/** An input that is stopped in one of two ways. */
const running = Effect.fnUntraced(function*<A, E>(
  way: (typeof ways)[number],
  run: (options: { readonly stopWhen?: Effect.Effect<void> }) => Effect.Effect<A, E>
) {
  const asked = yield* Deferred.make<void>()
  const fiber = yield* start(run(way === "stopWhen" ? { stopWhen: Deferred.await(asked) } : {}))
  const stop = way === "stopWhen"
    ? Effect.asVoid(Deferred.succeed(asked, undefined))
    : Effect.asVoid(start(Fiber.interrupt(fiber)))
  return { fiber, stop: Effect.andThen(stop, quiet) }
})

describe("a stop", () => {
  it.effect.each(both)(
    "$handle, by $way: handlers finish and are committed, the rest stays",
    ({ handle, way }) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const source = yield* makeSource
        const handler = makeHandler()
        const { finish } = handler.hold("r2")
        const input = DurableInput.make(wal, source.stream, { handle, onDurable: source.onDurable })
        const { fiber, stop } = yield* running(way, (options) => input.run(handler.handle, options))
        yield* source.give(5)
        yield* quiet
        assert.deepStrictEqual(handler.started, ["r1", "r2"])
        yield* stop
        yield* source.give(1, 6)
        yield* quiet
        // Nothing more is taken, nothing more is begun.
        assert.deepStrictEqual([source.seen.taken, source.seen.closed, handler.started], [5, true, ["r1", "r2"]])
        assert.isFalse(isDone(fiber))
        yield* finish
        yield* quiet
        assert.isTrue(isDone(fiber))
        assert.deepStrictEqual([handler.done, handler.interrupted], [["r1", "r2"], []])
        assert.strictEqual(yield* markOf(wal), 2)
        // All that was taken is in the log, and acknowledged.
        assert.deepStrictEqual([texts(yield* readAll(wal)), source.acked], [names(1, 5), names(1, 5)])

        const again = makeHandler()
        yield* source.end
        yield* DurableInput.make(wal, source.stream, { handle }).run(again.handle)
        assert.deepStrictEqual(again.done, names(3, 6))
      })
  )

  it.effect.each(both)(
    "$handle, by $way: a handler that hangs is interrupted in time",
    ({ handle, way }) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const source = yield* makeSource
        const handler = makeHandler()
        handler.hold("r1")
        const input = DurableInput.make(wal, source.stream, { handle, stopTimeout: "5 seconds" })
        const { fiber, stop } = yield* running(way, (options) => input.run(handler.handle, options))
        yield* source.give(2)
        yield* quiet
        yield* stop
        yield* Effect.andThen(TestClock.adjust("4 seconds"), quiet)
        assert.isFalse(isDone(fiber))
        yield* Effect.andThen(TestClock.adjust("1 second"), quiet)
        assert.isTrue(isDone(fiber))
        assert.deepStrictEqual(handler.interrupted, ["r1"])
        assert.strictEqual(yield* markOf(wal), 0)
      })
  )

  it.effect.each(both)(
    "$handle, by $way: a store that does not answer holds it up no longer",
    ({ handle, way }) =>
      Effect.gen(function*() {
        const { faults, wal } = yield* open(still)
        faults.rule(holdPuts(() => Deferred.makeUnsafe<void>()))
        const source = yield* makeSource
        const input = DurableInput.make(wal, source.stream, { handle, onDurable: source.onDurable })
        const { fiber, stop } = yield* running(way, (options) => input.run(() => Effect.void, options))
        yield* source.give(2)
        yield* quiet
        yield* stop
        yield* Effect.andThen(TestClock.adjust("9 seconds"), quiet)
        assert.isFalse(isDone(fiber))
        yield* Effect.andThen(TestClock.adjust("2 seconds"), quiet)
        assert.isTrue(isDone(fiber))
        assert.deepStrictEqual(source.acked, [])
      })
  )

  it.effect("does not wait for the next try of a handler", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const { fiber, stop } = yield* running("stopWhen", (options) =>
        DurableInput.make(wal, Stream.concat(Stream.fromIterable(records(1)), Stream.never)).run(
          () =>
            Effect.fail(new Refused()),
          { ...options, retry: Schedule.spaced("1 hour"), deadLetter: () => Effect.die("it was not given up") }
        ))
      yield* quiet
      yield* stop
      assert.deepStrictEqual(yield* Fiber.join(fiber), { handled: 0, deadLettered: 0 })
      assert.strictEqual(yield* markOf(wal), 0)
    }))

  it.effect("accepts a chunk that the source has given, beyond the room", () =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(still)
      const gate = yield* Deferred.make<void>()
      faults.rule(holdPuts(() => gate))
      const source = yield* makeSource
      const chunk = Stream.concat(Stream.fromIterable(records(10)), Stream.never)
      const input = DurableInput.make(wal, chunk, { maxPending: 3, onDurable: source.onDurable })
      const { fiber, stop } = yield* running("stopWhen", (options) => input.run(() => Effect.void, options))
      yield* quiet
      assert.strictEqual((yield* wal.status).lastAccepted, 3)
      yield* stop
      assert.strictEqual((yield* wal.status).lastAccepted, 10)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(source.acked, names(1, 10))
    }))

  it.effect("comes too when the stream of deliveries is left", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      yield* source.give(5)
      const input = DurableInput.make(wal, source.stream, { onDurable: source.onDurable })
      yield* Stream.runDrain(Stream.take(input.deliveries, 1))
      assert.isTrue(source.seen.closed)
      assert.strictEqual(source.acked.length, source.seen.taken)
      assert.strictEqual((yield* wal.status).durable, source.seen.taken)
    }))

  it.effect("of a backlog is quick: what is in the log stays there", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      yield* store(wal, records(500))
      const handler = makeHandler()
      const { finish } = handler.hold("r3")
      const { fiber, stop } = yield* running("stopWhen", (options) =>
        DurableInput.make(wal, Stream.never).run(handler.handle, options))
      yield* quiet
      yield* stop
      yield* finish
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(handler.done, names(1, 3))
    }))
})

describe("the end of the source", () => {
  it.effect("lets a handler go on with its tries", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      let tries = 0
      const run = DurableInput.make(wal, Stream.fromIterable(records(1))).run(
        () => Effect.suspend(() => ++tries < 3 ? Effect.fail(new Refused()) : Effect.void),
        { retry: Schedule.spaced("1 minute") }
      )
      assert.deepStrictEqual(yield* drive(run, 10_000), { handled: 1, deadLettered: 0 })
      assert.strictEqual(tries, 3)
    }))
})

describe("an input tells", () => {
  it.effect("what it did, in metrics and lines", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      yield* Effect.gen(function*() {
        const wal = yield* Wal
        let tries = 0
        const run = DurableInput.make(wal, Stream.fromIterable(records(3)), { cursor: "told" }).run(
          (_, { seq }) => Effect.suspend(() => seq === 2 && ++tries < 4 ? Effect.fail(new Refused()) : Effect.void),
          { retry: Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 1 })), deadLetter: () => Effect.void }
        )
        yield* drive(run)
      }).pipe(Effect.provide(WalTest.layer({ streamId: "told" })), Effect.provide(Logger.layer([logger])))
      const series = (yield* Metric.snapshot).filter(({ attributes, id }) =>
        id.startsWith("wal_input_") && attributes?.["stream"] === "told" && attributes["cursor"] === "told"
      )
      const values = series.map((one) => [one.id, one.type === "Counter" ? Number(one.state.count) : NaN])
      // The gauge of what is in memory is gone with the input.
      assert.deepStrictEqual(Object.fromEntries(values), {
        wal_input_appended_total: 3,
        wal_input_handled_total: 2,
        wal_input_retries_total: 1,
        wal_input_dead_letters_total: 1
      })
      assert.isTrue(lines.some((line) => line.includes("record 2: try 1 failed, again in 1s")), lines.join("\n"))
      assert.isTrue(lines.some((line) => line.includes("record 2 is given up, and kept as a dead letter")))
      assert.isTrue(lines.some((line) => line.includes("2 handled, 1 dead letters")))
    }))
})

describe("a log that is switched off", () => {
  it.effect("lets elements through to their handlers", () =>
    Effect.gen(function*() {
      const wal = yield* Wal.make({ nodeId: "node", streamId: "off", enabled: false })
      const handler = makeHandler()
      const source = yield* makeSource
      yield* source.give(3)
      yield* source.end
      const input = DurableInput.make(wal, source.stream, { onDurable: source.onDurable })
      assert.deepStrictEqual(yield* input.run(handler.handle), { handled: 3, deadLettered: 0 })
      assert.deepStrictEqual([handler.done, source.acked], [names(1, 3), names(1, 3)])
    }).pipe(Effect.provide(WalTest.layer()), Effect.scoped))
})
