/** An input on a log that keeps nothing: only the source can give an element again. */
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger, Schema, Stream } from "effect"
import * as DurableInput from "../../src/DurableInput.ts"
import { Wal } from "../../src/Wal.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import type { WalService } from "../../src/WalService.ts"
import { records, start } from "../support/LogWorld.ts"
import { makeHandler, makeSource, markOf, names, quiet, textOf } from "./InputWorld.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

/** With a log that is switched off, and what is logged meanwhile. */
const switchedOff = <A, E>(body: (wal: WalService, lines: ReadonlyArray<string>) => Effect.Effect<A, E>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return Effect.flatMap(Wal.make({ nodeId: "node", streamId: "off", enabled: false }), (wal) => body(wal, lines)).pipe(
    Effect.scoped,
    Effect.provide(WalTest.layer()),
    Effect.provide(Logger.layer([logger]))
  )
}

/** A chunk, and nothing more. */
const chunkThenNothing = (count: number, from = 1) =>
  Stream.concat(Stream.fromIterable(records(count, from)), Stream.never)

describe("an input on a log that is switched off", () => {
  it.effect.each(["after-durable", "after-accepted"] as const)(
    "%s: acknowledges what is handled; a stop leaves the rest to the source, and says so",
    (handle) =>
      switchedOff((wal, lines) =>
        Effect.gen(function*() {
          const { acked, onDurable } = yield* makeSource
          const handler = makeHandler()
          const { finish } = handler.hold("r2")
          const input = DurableInput.make(wal, chunkThenNothing(5), { handle, onDurable })
          const run = yield* start(input.run(handler.handle))
          yield* quiet
          assert.deepStrictEqual([handler.done, acked], [["r1"], []])
          const stopped = yield* start(Fiber.interrupt(run))
          yield* quiet
          yield* finish
          // Without a wait for what nobody will handle.
          yield* Fiber.join(stopped)
          assert.deepStrictEqual([handler.done, acked], [["r1", "r2"], ["r1", "r2"]])
          assert.include(lines, "the input stops with 3 elements that are not acknowledged to their source")

          const again = makeHandler()
          const rest = DurableInput.make(wal, Stream.fromIterable(records(3, 3)), { handle, onDurable, maxPending: 1 })
          assert.deepStrictEqual(yield* rest.run(again.handle), { handled: 3, deadLettered: 0 })
          assert.deepStrictEqual([again.done, acked], [names(3, 5), names(1, 5)])
          assert.strictEqual(yield* markOf(wal), 8)
        })
      )
  )

  it.effect("a handler that fails for good leaves it and what comes after it to the source", () =>
    switchedOff((wal) =>
      Effect.gen(function*() {
        const { acked, onDurable } = yield* makeSource
        const input = DurableInput.make(wal, chunkThenNothing(5), { onDurable })
        const run = input.run((record) => textOf(record) === "r3" ? Effect.fail(new Refused()) : Effect.void)
        assert.strictEqual((yield* Effect.flip(run))._tag, "Refused")
        assert.deepStrictEqual(acked, ["r1", "r2"])
      })
    ))

  it.effect("the source hears in its order, whatever the order of the handlers, and is pulled no further meanwhile", () =>
    switchedOff((wal) =>
      Effect.gen(function*() {
        const source = yield* makeSource
        const handler = makeHandler()
        const { finish } = handler.hold("r1")
        const input = DurableInput.make(wal, source.stream, { onDurable: source.onDurable, maxPending: 3 })
        const run = yield* start(input.run(handler.handle, { concurrency: 4 }))
        yield* source.give(6)
        yield* source.end
        yield* quiet
        assert.deepStrictEqual([source.seen.taken, handler.done, source.acked], [3, ["r2", "r3"], []])
        yield* finish
        yield* Fiber.join(run)
        assert.deepStrictEqual(source.acked, names(1, 6))
      })
    ))

  it.effect("a pipeline that commits at its end is acknowledged too", () =>
    switchedOff((wal) =>
      Effect.gen(function*() {
        const { acked, onDurable } = yield* makeSource
        const input = DurableInput.make(wal, Stream.fromIterable(records(10)), { onDurable })
        yield* input.deliveries.pipe(
          Stream.grouped(4),
          Stream.mapEffect((group) => Effect.forEach(group, ({ commit }) => commit)),
          Stream.runDrain
        )
        assert.deepStrictEqual(acked, names(1, 10))
      })
    ))

  it.effect("what is committed after the end of the deliveries is acknowledged, each element once", () =>
    switchedOff((wal, lines) =>
      Effect.gen(function*() {
        const { acked, onDurable } = yield* makeSource
        const input = DurableInput.make(wal, Stream.fromIterable(records(10)), { onDurable })
        const taken = yield* input.deliveries.pipe(
          Stream.tap((delivery) => delivery.seq <= 2 ? delivery.commit : Effect.void),
          Stream.runCollect
        )
        assert.deepStrictEqual(acked, names(1, 2))
        assert.include(lines, "the input stops with 8 elements that are not acknowledged to their source")
        yield* Effect.forEach(taken.slice(2), ({ commit }) => commit)
        assert.deepStrictEqual(acked, names(1, 10))
      })
    ))

  it.effect.each([1, 5])(
    "an acknowledgement that fails, of element %d, fails the run",
    (failing) =>
      switchedOff((wal) =>
        Effect.gen(function*() {
          const source = Stream.rechunk(Stream.fromIterable(records(5)), 1)
          const onDurable = ([record]: ReadonlyArray<AppendRecord>) =>
            record !== undefined && textOf(record) === `r${failing}` ? Effect.fail(new Refused()) : Effect.void
          const run = DurableInput.make(wal, source, { onDurable }).run(() => Effect.void)
          assert.strictEqual((yield* Effect.flip(run))._tag, "Refused")
        })
      )
  )

  it.effect("an acknowledgement that fails while it stops fails the run", () =>
    switchedOff((wal) =>
      Effect.gen(function*() {
        const handler = makeHandler()
        const { finish } = handler.hold("r2")
        const stop = yield* Deferred.make<void>()
        const input = DurableInput.make(wal, chunkThenNothing(5), { onDurable: () => Effect.fail(new Refused()) })
        const run = yield* start(Effect.flip(input.run(handler.handle, { stopWhen: Deferred.await(stop) })))
        yield* quiet
        yield* Deferred.succeed(stop, undefined)
        yield* quiet
        yield* finish
        assert.strictEqual((yield* Fiber.join(run))._tag, "Refused")
      })
    ))

  it.effect("others may append, before and meanwhile, but with after-accepted", () =>
    switchedOff((wal) =>
      Effect.gen(function*() {
        yield* wal.append(records(3, 100))
        const source = yield* makeSource
        const handler = makeHandler()
        const input = DurableInput.make(wal, source.stream, { onDurable: source.onDurable, maxPending: 1 })
        const run = yield* start(input.run(handler.handle))
        for (const number of [1, 2, 3]) {
          yield* source.give(1, number)
          yield* quiet
          yield* wal.append(records(2, 200))
        }
        yield* source.end
        assert.deepStrictEqual(yield* Fiber.join(run), { handled: 3, deadLettered: 0 })
        assert.deepStrictEqual([handler.done, source.acked], [names(1, 3), names(1, 3)])

        const meanwhile = Stream.tap(Stream.rechunk(Stream.fromIterable(records(2)), 1), () => wal.append(records(1)))
        const alone = DurableInput.make(wal, meanwhile, { handle: "after-accepted" })
        assert.strictEqual((yield* Effect.flip(alone.run(() => Effect.void)))._tag, "InputNotAlone")
      })
    ))

  it.effect("what a run has taken and not handled is handled when the source gives it again, with its producer", () =>
    switchedOff((wal) =>
      Effect.gen(function*() {
        const { acked, onDurable } = yield* makeSource
        const producer = (record: AppendRecord) => ({ id: "p", sequence: Number(textOf(record).slice(1)) })
        const handler = makeHandler()
        const held = handler.hold("r2")
        const stop = yield* Deferred.make<void>()
        const run = yield* start(
          DurableInput.make(wal, chunkThenNothing(4), { onDurable, producer })
            .run(handler.handle, { stopWhen: Deferred.await(stop) })
        )
        yield* quiet
        yield* Deferred.succeed(stop, undefined)
        yield* quiet
        yield* held.finish
        yield* Fiber.join(run)
        const again = makeHandler()
        yield* DurableInput.make(wal, Stream.fromIterable(records(4)), { onDurable, producer }).run(again.handle)
        // The first two were handled, so they are repeats.
        assert.deepStrictEqual([handler.done, again.done], [["r1", "r2"], ["r3", "r4"]])
        assert.deepStrictEqual(acked, ["r1", "r2", ...names(1, 4)])
      })
    ))
})
