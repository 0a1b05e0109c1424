/** What a crash loses and doubles, state by state: the table in `DurableInput.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as DurableInput from "../../src/DurableInput.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import {
  drive,
  holdPuts,
  open,
  type Options,
  readAll,
  reopen,
  start,
  still,
  type TestLog,
  texts
} from "../support/LogWorld.ts"
import { makeHandler, makeSource, markOf, names, quiet, textOf } from "./InputWorld.ts"

const modes = ["after-durable", "after-accepted"] as const

/** Runs an input in a process that is killed once all is quiet. Answers what was handled and acknowledged by then. */
const crashed = Effect.fnUntraced(function*(log: TestLog, options: DurableInput.InputOptions<AppendRecord>, count = 2) {
  const source = yield* makeSource
  const handler = makeHandler()
  const input = DurableInput.make(log.wal, source.stream, { ...options, onDurable: source.onDurable })
  const run = yield* start(input.run(handler.handle))
  yield* source.give(count)
  yield* quiet
  log.faults.crash()
  const before = { handled: [...handler.done], acked: [...source.acked] }
  // A process that is killed does nothing more; this one is ended for the sake of the test, and waits in vain.
  yield* Fiber.interrupt(run).pipe(Effect.forkChild({ startImmediately: true }))
  yield* TestClock.adjust("11 seconds")
  return before
})

/** The next process: its source gives these again. Answers what is handled now. */
const next = Effect.fnUntraced(
  function*(
    log: TestLog,
    given: ReadonlyArray<string>,
    options: DurableInput.InputOptions<AppendRecord>,
    log2: Options = still
  ) {
    const again = yield* reopen(log, log2)
    const source = yield* makeSource
    const handler = makeHandler()
    for (const name of given) yield* source.give(1, Number(name.slice(1)))
    yield* source.end
    const input = DurableInput.make(again.wal, source.stream, { ...options, onDurable: source.onDurable })
    yield* drive(input.run(handler.handle))
    return { handled: handler.done, acked: source.acked, wal: again.wal }
  }
)

const openHeld = Effect.gen(function*() {
  const log = yield* open(still)
  const gate = yield* Deferred.make<void>()
  log.faults.rule(holdPuts(() => gate))
  return log
})

describe("a crash finds elements", () => {
  it.effect("accepted and not durable, after-durable: not handled; the source has them, and gives them again", () =>
    Effect.gen(function*() {
      const log = yield* openHeld
      const options = { handle: "after-durable" } as const
      assert.deepStrictEqual(yield* crashed(log, options), { handled: [], acked: [] })
      const { handled, wal } = yield* next(log, names(1, 2), options)
      assert.deepStrictEqual(handled, names(1, 2))
      assert.deepStrictEqual(texts(yield* readAll(wal)), names(1, 2))
    }))

  it.effect("accepted and not durable, after-accepted: handled, and again when the source gives them again", () =>
    Effect.gen(function*() {
      const log = yield* openHeld
      const options = { handle: "after-accepted" } as const
      assert.deepStrictEqual(yield* crashed(log, options), { handled: [...names(1, 2)], acked: [] })
      const { handled, wal } = yield* next(log, names(1, 2), options)
      assert.deepStrictEqual(handled, names(1, 2))
      assert.deepStrictEqual(texts(yield* readAll(wal)), names(1, 2))
    }))

  it.effect("accepted and not durable, after-accepted: handled, and in no log where the source cannot give them again", () =>
    Effect.gen(function*() {
      const log = yield* openHeld
      const options = { handle: "after-accepted" } as const
      assert.deepStrictEqual((yield* crashed(log, options)).handled, names(1, 2))
      const { handled, wal } = yield* next(log, [], options)
      assert.deepStrictEqual([handled, texts(yield* readAll(wal))], [[], []])
    }))

  it.effect.each([...modes])(
    "%s: durable and not acknowledged: twice, unless the producer names them",
    (handle) =>
      Effect.gen(function*() {
        const given = names(1, 2)
        const plain = yield* open(still)
        yield* crashed(plain, { handle })
        assert.deepStrictEqual(texts(yield* readAll((yield* next(plain, given, { handle })).wal)), [...given, ...given])

        const producer = (record: AppendRecord) => ({ id: "source", sequence: Number(textOf(record).slice(1)) })
        const named = yield* open(still)
        yield* crashed(named, { handle, producer })
        const { acked, handled, wal } = yield* next(named, [...given, "r3"], { handle, producer })
        assert.deepStrictEqual(texts(yield* readAll(wal)), names(1, 3))
        assert.deepStrictEqual(acked, names(1, 3))
        // What the first run has handled comes again: its cursor was not stored.
        assert.deepStrictEqual(handled, names(1, 3))
      })
  )

  it.effect.each([...modes])(
    "%s: handled and not committed in the store: again; committed there: not again",
    (handle) =>
      Effect.gen(function*() {
        const log = yield* open(still)
        assert.deepStrictEqual(yield* crashed(log, { handle }), { handled: [...names(1, 2)], acked: [...names(1, 2)] })
        const first = yield* next(log, ["r3"], { handle })
        assert.deepStrictEqual(first.handled, names(1, 3))
        assert.strictEqual(yield* markOf(first.wal), 3)
        yield* first.wal.close

        const last = yield* reopen(log)
        assert.strictEqual(yield* markOf(last.wal), 3)
      })
  )
})

describe("elements that come again", () => {
  it.effect("long after the producer's newest calls are known as appended", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      const handler = makeHandler()
      const producer = (record: AppendRecord) => ({ id: "source", sequence: Number(textOf(record).slice(1)) })
      const run = yield* start(
        DurableInput.make(wal, source.stream, { producer, onDurable: source.onDurable, maxPending: 5 })
          .run(handler.handle)
      )
      yield* source.give(20)
      yield* source.give(20)
      yield* source.give(1, 21)
      yield* source.end
      yield* Fiber.join(run)
      assert.deepStrictEqual(handler.done, names(1, 21))
      assert.deepStrictEqual(source.acked, [...names(1, 20), ...names(1, 20), "r21"])
      assert.strictEqual((yield* wal.status).durable, 21)
    }))

  it.effect("after acceptance they give room back although nothing new is committed", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      const handler = makeHandler()
      const producer = (record: AppendRecord) => ({ id: "source", sequence: Number(textOf(record).slice(1)) })
      yield* source.give(3)
      for (let round = 0; round < 5; round++) yield* source.give(3)
      yield* source.end
      const input = DurableInput.make(wal, source.stream, { handle: "after-accepted", producer, maxPending: 4 })
      yield* input.run(handler.handle)
      assert.deepStrictEqual(handler.done, names(1, 3))
    }))

  it.effect("with other content under the same name end the input", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      yield* source.give(2)
      const input = DurableInput.make(wal, source.stream, { producer: () => ({ id: "source", sequence: 1 }) })
      const exit = yield* Effect.exit(input.run(() => Effect.void))
      assert.include(Exit.isFailure(exit) ? String(exit.cause) : "", "ProducerConflict")
    }))
})
