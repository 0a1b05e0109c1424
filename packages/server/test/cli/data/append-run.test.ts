import { StoreUnavailable } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { AppendInput } from "../../../src/cli/data/AppendInput.ts"
import { type AppendPlan, mayBeStored, runAppend } from "../../../src/cli/data/AppendRun.ts"
import type { Batch } from "../../../src/cli/data/LineBatches.ts"
import type { AppendOrder, Placed, StreamWriter, TakenBatch } from "../../../src/cli/data/Target.ts"
import type { TaggedFailure } from "../../../src/cli/Failure.ts"
import { WalClientError } from "../../../src/client/ClientError.ts"
import { ndjson } from "./Cli.ts"

const inputOf = (bytes: Stream.Stream<Uint8Array>, name = "in"): AppendInput => ({ name, bytes, sizeBytes: undefined })

const textInput = (text: string, name?: string) => inputOf(Stream.succeed(Buffer.from(text)), name)

const never = { advance: () => Effect.void, set: () => Effect.void, expect: () => Effect.void }

const planOf = (given: Partial<AppendPlan> = {}): AppendPlan => ({
  ack: "durable",
  raw: false,
  key: undefined,
  limits: { records: 2, bytes: 1_000 },
  fromLine: 1,
  stop: Effect.never,
  progress: never,
  ...given
})

/** A log that takes batches, and does with the n-th of them, from 0, as it is told. */
const writerOf = (
  settle: (index: number, placed: Placed) => Effect.Effect<Placed, TaggedFailure>,
  take: (index: number) => Effect.Effect<unknown, TaggedFailure> = () => Effect.void
) => {
  const orders: Array<AppendOrder & { readonly texts: ReadonlyArray<string> }> = []
  let last = 0
  const append: StreamWriter["append"] = (records, order) =>
    Effect.suspend(() => {
      const index = orders.length
      orders.push({ ...order, texts: records.map(({ payload }) => Buffer.from(payload).toString()) })
      const placed: Placed = { first: last + 1, last: last + records.length, epoch: 1, isRepeat: false }
      last = placed.last
      const taken: TakenBatch = { settled: settle(index, placed) }
      return Effect.as(take(index), taken)
    })
  const unused = Effect.die(new Error("not for this test"))
  const writer: StreamWriter = {
    append,
    commit: () => unused,
    removeCursor: () => unused,
    flush: unused,
    trim: () => unused,
    close: unused
  }
  return { writer, orders }
}

const batchOf = (texts: ReadonlyArray<string>, fromLine: number): Batch => ({
  payloads: texts.map((text) => Buffer.from(text)),
  bytes: texts.join("").length,
  fromLine,
  toLine: fromLine + texts.length - 1
})

const away = new StoreUnavailable({ operation: "create", key: "k", detail: "away" })

describe("an append", () => {
  it.effect("sends the batches in order, over several files, and counts what is stored", () =>
    Effect.gen(function*() {
      const { orders, writer } = writerOf((_, placed) => Effect.succeed(placed))
      const { end, tally } = yield* runAppend(writer, [textInput(ndjson(1, 3), "a"), textInput("4\n", "b")], planOf())
      assert.deepStrictEqual(end, { _tag: "Done" })
      assert.deepStrictEqual(orders.map(({ texts }) => texts), [["{\"n\":1}", "{\"n\":2}"], ["{\"n\":3}"], ["4"]])
      assert.deepInclude(tally, { records: 4, batches: 3, first: 1, last: 4, through: { file: "b", line: 1 } })
    }))

  it.effect("names each batch by its first line, also when it starts later", () =>
    Effect.gen(function*() {
      const { orders, writer } = writerOf((_, placed) => Effect.succeed(placed))
      const plan = planOf({ key: "k", fromLine: 3 })
      yield* runAppend(writer, [textInput(ndjson(1, 6))], plan)
      assert.deepStrictEqual(orders.map(({ key }) => key), ["k-3", "k-5"])
    }))

  it.effect("ends at the first batch that is not stored, and says which lines nobody knows of", () =>
    Effect.gen(function*() {
      const { writer } = writerOf((index, placed) => index >= 2 ? Effect.fail(away) : Effect.succeed(placed))
      const { end, tally } = yield* runAppend(writer, [textInput(ndjson(1, 9))], planOf())
      assert.deepInclude(tally, { records: 4, last: 4, through: { file: "in", line: 4 } })
      assert.deepStrictEqual(end, {
        _tag: "Failed",
        error: away,
        unsure: { file: "in", fromLine: 5, toLine: 9, records: 5 }
      })
    }))

  it.effect("knows that a call which was refused is not stored, and settles what went before it", () =>
    Effect.gen(function*() {
      const refusal = new WalClientError({
        reason: { _tag: "overloaded", status: 503, message: "m", data: "not-durable", retryable: true, details: {} }
      })
      const { writer } = writerOf(
        (index, placed) => index === 0 ? Effect.delay(Effect.succeed(placed), 1_000) : Effect.succeed(placed),
        (index) => index === 2 ? Effect.fail(refusal) : Effect.void
      )
      const fiber = yield* Effect.forkChild(runAppend(writer, [textInput(ndjson(1, 9))], planOf()))
      for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
      yield* TestClock.adjust("1 minute")
      const { end, tally } = yield* Fiber.join(fiber)
      assert.strictEqual(end._tag === "Failed" ? end.error : undefined, refusal)
      assert.deepInclude(end, {
        _tag: "Failed",
        refused: { file: "in", batch: batchOf(["{\"n\":5}", "{\"n\":6}"], 5) }
      })
      assert.notProperty(end, "unsure")
      assert.deepInclude(tally, { records: 4, through: { file: "in", line: 4 } })
    }))

  it.effect("says of the batch in hand too that nobody knows, where one before it is not stored either", () =>
    Effect.gen(function*() {
      const stop = yield* Deferred.make<void>()
      const { orders, writer } = writerOf(
        () => Effect.never,
        (index) => index === 2 ? Effect.andThen(Deferred.succeed(stop, undefined), Effect.never) : Effect.void
      )
      const plan = planOf({ stop: Deferred.await(stop) })
      const fiber = yield* Effect.forkChild(runAppend(writer, [textInput(ndjson(1, 9))], plan))
      for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
      yield* TestClock.adjust("1 minute")
      const { end } = yield* Fiber.join(fiber)
      assert.strictEqual(orders.length, 3)
      assert.deepStrictEqual(end, { _tag: "Stopped", unsure: { file: "in", fromLine: 1, toLine: 6, records: 6 } })
      // The same of calls that fail without saying what became of their records.
      const failing = writerOf(() => Effect.fail(away), (index) => index === 2 ? Effect.fail(away) : Effect.void)
      const failed = yield* runAppend(failing.writer, [textInput(ndjson(1, 9))], planOf())
      assert.deepStrictEqual(failed.end, {
        _tag: "Failed",
        error: away,
        unsure: { file: "in", fromLine: 1, toLine: 6, records: 6 }
      })
    }))

  it("takes the word of an error for what became of the records", () => {
    const failed = (reason: WalClientError["reason"]) => mayBeStored(new WalClientError({ reason }))
    assert.isTrue(failed({ _tag: "ConnectionFailed", message: "" }))
    assert.isFalse(failed({ _tag: "InvalidCall", message: "" }))
    assert.isTrue(mayBeStored(away))
    assert.isFalse(mayBeStored({ _tag: "RecordTooLarge", message: "" }))
    assert.isFalse(mayBeStored({ _tag: "CommandFailed", message: "" }))
  })

  it.effect("reads no further ahead than what may wait, however long the input", () =>
    Effect.gen(function*() {
      const chunk = Buffer.from(ndjson(1, 2))
      let produced = 0
      const endless = Stream.fromEffectRepeat(Effect.sync(() => {
        produced++
        return chunk
      }))
      const { orders, writer } = writerOf(() => Effect.never)
      const fiber = yield* Effect.forkChild(runAppend(writer, [inputOf(endless)], planOf()))
      for (let turn = 0; turn < 1_000; turn++) yield* Effect.yieldNow
      assert.strictEqual(orders.length, 16)
      assert.isBelow(produced, 32)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("sends what has come when nothing more comes, and with a key waits for full batches", () =>
    Effect.gen(function*() {
      for (const key of [undefined, "k"]) {
        const { orders, writer } = writerOf((_, placed) => Effect.succeed(placed))
        const input = inputOf(Stream.concat(Stream.succeed(Buffer.from("1\n")), Stream.never))
        const plan = planOf({ key, ...key === undefined ? { linger: Duration.millis(200) } : {} })
        const fiber = yield* Effect.forkChild(runAppend(writer, [input], plan))
        for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
        assert.strictEqual(orders.length, 0)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(orders.length, key === undefined ? 1 : 0)
        yield* Fiber.interrupt(fiber)
      }
    }))

  it.effect("told to stop, sends no more of the batches that it has read", () =>
    Effect.gen(function*() {
      const stop = yield* Deferred.make<void>()
      const { orders, writer } = writerOf(
        (_, placed) => Effect.succeed(placed),
        (index) => index === 2 ? Deferred.succeed(stop, undefined) : Effect.void
      )
      const plan = planOf({ stop: Deferred.await(stop) })
      const { end, tally } = yield* runAppend(writer, [textInput(ndjson(1, 100))], plan)
      assert.deepStrictEqual(end, { _tag: "Stopped" })
      assert.strictEqual(orders.length, 3)
      assert.deepInclude(tally, { records: 6, through: { file: "in", line: 6 } })
    }))

  it.effect("told to stop, waits for what is under way, for a time", () =>
    Effect.gen(function*() {
      for (const seconds of [5, 60]) {
        const stop = yield* Deferred.make<void>()
        const { writer } = writerOf((index, placed) =>
          index === 0 ? Effect.succeed(placed) : Effect.delay(Effect.succeed(placed), `${seconds} seconds`)
        )
        const input = inputOf(Stream.concat(Stream.succeed(Buffer.from(ndjson(1, 5))), Stream.never))
        const fiber = yield* Effect.forkChild(runAppend(writer, [input], planOf({ stop: Deferred.await(stop) })))
        for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
        yield* Deferred.succeed(stop, undefined)
        yield* TestClock.adjust("1 minute")
        const { end, tally } = yield* Fiber.join(fiber)
        if (seconds === 5) {
          assert.deepStrictEqual([end, tally.records], [{ _tag: "Stopped" }, 4])
        } else {
          assert.deepStrictEqual(end, { _tag: "Stopped", unsure: { file: "in", fromLine: 3, toLine: 4, records: 2 } })
          assert.strictEqual(tally.records, 2)
        }
      }
    }))
})
