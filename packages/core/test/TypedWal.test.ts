import * as TypedWal from "@effect-wal/core/TypedWal"
import { Wal } from "@effect-wal/core/Wal"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, SchemaTransformation, Stream } from "effect"
import { decode, drive, encode, key, open, reopen, still, store } from "./support/LogWorld.ts"

class Order extends Schema.Class<Order>("Order")({
  id: Schema.String,
  placed: Schema.Date,
  amount: Schema.Int.check(Schema.isGreaterThan(0))
}) {}

const order = (id: string, amount = 1) => new Order({ id, placed: new Date(1_000), amount })

const atEnd = { until: "durable-end" } as const

/** Appends and waits until it is durable. */
const keep = <A, RD, RE>(log: TypedWal.TypedWalService<A, RD, RE>, ...values: ReadonlyArray<A>) =>
  Effect.flatMap(log.append(values), (appended) => appended.durable)

/** Appends bytes below the typed log. */
const keepRaw = (...payloads: ReadonlyArray<string>) =>
  Effect.flatMap(Wal, (wal) => store(wal, payloads.map((text) => ({ payload: encode(text) }))))

describe("a typed log", () => {
  it.effect("gives back values of the schema, with number, time, key, headers and timestamp of the value", () =>
    Effect.gen(function*() {
      const log = yield* TypedWal.make({
        schema: Order,
        key: (one) => one.id,
        headers: (one) => one.amount > 1 ? { amount: String(one.amount) } : undefined,
        timestamp: (one) => one.placed.getTime()
      })
      yield* keep(log, order("a"), order("b", 2))
      const read = yield* Stream.runCollect(log.read())
      assert.deepStrictEqual(read, [
        { seq: 1, appendedAt: 0, value: order("a"), key: "a", timestamp: 1_000 },
        { seq: 2, appendedAt: 0, value: order("b", 2), key: "b", headers: { amount: "2" }, timestamp: 1_000 }
      ])
      assert.isTrue(read[0]?.value instanceof Order)
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("stores plain JSON in UTF-8, without key and headers where none are asked for", () =>
    Effect.gen(function*() {
      const log = yield* TypedWal.make({ schema: Order })
      yield* keep(log, order("ä"))
      const [stored] = yield* Effect.flatMap(Wal, (wal) => Stream.runCollect(wal.read()))
      assert.deepStrictEqual(
        JSON.parse(decode(stored?.payload ?? encode(""))),
        { id: "ä", placed: "1970-01-01T00:00:01.000Z", amount: 1 }
      )
      assert.deepStrictEqual(Object.keys(stored ?? {}).sort(), ["appendedAt", "payload", "seq"])
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("takes a codec of bytes instead of JSON", () =>
    Effect.gen(function*() {
      const bytes = Schema.Uint8Array.pipe(Schema.decodeTo(
        Schema.Int,
        SchemaTransformation.transform({ decode: (one) => one.length, encode: (length) => new Uint8Array(length) })
      ))
      const log = yield* TypedWal.make({ bytes, key: (length) => `of ${length}` })
      yield* keep(log, 3)
      const [stored] = yield* Effect.flatMap(Wal, (wal) => Stream.runCollect(wal.read()))
      assert.deepStrictEqual(stored?.payload, new Uint8Array(3))
      assert.deepStrictEqual(yield* Stream.runCollect(log.read()), [{ seq: 1, appendedAt: 0, value: 3, key: "of 3" }])
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("refuses a value that does not encode by index and rule, and appends nothing of the call", () =>
    Effect.gen(function*() {
      const log = yield* TypedWal.make({
        schema: Schema.Struct({ lines: Schema.Array(Schema.Struct({ n: Schema.Int })) })
      })
      const good = { lines: [{ n: 1 }] }
      const bad = { lines: [{ n: 1 }, { n: 1.5 }] }
      for (const append of [log.append, log.appendNow]) {
        const error = yield* Effect.flip(append([good, good, bad]))
        assert.deepInclude(error, { _tag: "InvalidRecord", index: 2, field: "value[\"lines\"][1][\"n\"]" })
        assert.include(error.message, "integer")
      }
      assert.strictEqual((yield* log.status).lastAccepted, 0)
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("refuses what JSON cannot say", () =>
    Effect.gen(function*() {
      const log = yield* TypedWal.make({ schema: Schema.Unknown })
      const error = yield* Effect.flip(log.append([{ big: 1n }]))
      assert.deepInclude(error, { _tag: "InvalidRecord", index: 0 })
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("a sink encodes what flows in and is done when all is durable; an error counts from its first value", () =>
    Effect.gen(function*() {
      const log = yield* TypedWal.make({ schema: Order })
      const sent = Stream.rechunk(Stream.map(Stream.range(1, 10), (n) => order(`o${n}`, n)), 4)
      assert.strictEqual(yield* Stream.run(sent, log.sink), 10)
      assert.strictEqual((yield* log.status).durable, 10)
      const numbers = yield* TypedWal.make({ schema: Schema.Int })
      const failing = Stream.rechunk(Stream.fromArray([1, 2, 3, 4, 5, 6.5]), 4)
      for (const _ of [1, 2]) {
        const error = yield* Effect.flip(Stream.run(failing, numbers.sink))
        assert.deepInclude(error, { _tag: "InvalidRecord", index: 5 })
      }
      assert.strictEqual((yield* log.status).lastAccepted, 10 + 4 + 4)
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("a sink names the value that the log itself refuses by its place in all that came", () =>
    Effect.gen(function*() {
      const { wal } = yield* open({ ...still, maxRecordBytes: 100 })
      const log = TypedWal.over(wal, { schema: Schema.String, key: (text) => text === "bad" ? "\ud800" : text })
      const refused = (...values: ReadonlyArray<string>) =>
        Effect.flip(Stream.run(Stream.rechunk(Stream.fromIterable(values), 2), log.sink))
      assert.deepInclude(yield* refused("a", "b", "c", "d", "bad"), { _tag: "InvalidRecord", index: 4, field: "key" })
      const large = yield* refused("a", "b", "c", "x".repeat(200))
      assert.deepInclude(large, { _tag: "RecordTooLarge", index: 3, limitBytes: 100 })
      // The chunks before are appended.
      assert.strictEqual((yield* wal.status).lastAccepted, 4 + 2)
    }))

  it.effect("is the log below it for the rest: acknowledge, flush, trim, close", () =>
    Effect.gen(function*() {
      const log = yield* TypedWal.make({ schema: Schema.String })
      yield* keep(log, "a", "b", "c")
      yield* log.ack(1)
      assert.deepStrictEqual((yield* Stream.runCollect(log.replay(atEnd))).map((one) => one.value), ["b", "c"])
      yield* log.commit(3)
      assert.strictEqual(yield* log.flush, 3)
      assert.isNull((yield* log.close).lost)
    }).pipe(Effect.provide(WalTest.layer())))
})

describe("records that do not decode", () => {
  const mixed = Effect.gen(function*() {
    const log = yield* TypedWal.make({ schema: Schema.Struct({ n: Schema.Int }) })
    yield* keep(log, { n: 1 })
    yield* keepRaw("{\"n\":\"two\"}", "{", "\u00ff")
    yield* Effect.flatMap(Wal, (wal) => store(wal, [{ payload: Uint8Array.of(0xff) }]))
    yield* keep(log, { n: 6 })
    return log
  })

  it.effect("fail the stream by default, with number and reason, after all before them", () =>
    Effect.gen(function*() {
      const log = yield* mixed
      const seen: Array<number> = []
      const error = yield* log.read().pipe(
        Stream.runForEach((one) => Effect.sync(() => seen.push(one.seq))),
        Effect.flip
      )
      assert.deepStrictEqual(seen, [1])
      assert.deepInclude(error, { _tag: "RecordDecodeError", seq: 2 })
      assert.include(error.message, "record 2 does not decode: value[\"n\"]")
      assert.deepInclude(yield* Effect.flip(Stream.runDrain(log.replay(atEnd))), { _tag: "RecordDecodeError", seq: 2 })
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("are elements that say so with the policy skip, with their bytes, and the rest is delivered", () =>
    Effect.gen(function*() {
      const log = yield* mixed
      for (const stream of [log.read({ onDecodeError: "skip" }), log.replay({ ...atEnd, onDecodeError: "skip" })]) {
        const read = yield* Stream.runCollect(stream)
        assert.deepStrictEqual(
          read.map((one) => TypedWal.isUndecodable(one) ? [one.seq, one.record.payload] : [one.seq, one.value]),
          [
            [1, { n: 1 }],
            [2, encode("{\"n\":\"two\"}")],
            [3, encode("{")],
            [4, encode("\u00ff")],
            [5, Uint8Array.of(0xff)],
            [6, { n: 6 }]
          ]
        )
        const reasons = read.flatMap((one) => TypedWal.isUndecodable(one) ? [one.reason] : [])
        assert.include(reasons[0] ?? "", "value[\"n\"]: Expected")
        assert.include(reasons[3] ?? "", "UTF-8")
      }
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("are acknowledged like any other, and replay goes on behind them", () =>
    Effect.gen(function*() {
      const log = yield* mixed
      yield* log.replay({ ...atEnd, onDecodeError: "skip" }).pipe(
        Stream.filter(TypedWal.isUndecodable),
        Stream.runForEach((one) => log.ack(one.seq))
      )
      yield* log.ack(1)
      assert.deepStrictEqual((yield* Stream.runCollect(log.replay(atEnd))).map((one) => one.value), [{ n: 6 }])
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("are told apart from lost ranges, which keep their own policy", () =>
    Effect.gen(function*() {
      const options = { ...still, segment: { maxEntries: 1 } }
      const writer = yield* open(options)
      yield* store(writer.wal, ["1", "no", "3", "4"].map((text) => ({ payload: encode(text) })))
      const { memory, wal } = yield* reopen(writer, options)
      memory.damage(key(2), (bytes) => bytes.subarray(0, 200))
      const log = TypedWal.over(wal, { schema: Schema.Int })
      const read = yield* drive(Stream.runCollect(log.read({ onDamage: "skip", onDecodeError: "skip" })))
      assert.deepStrictEqual(read.map((one) => "_tag" in one ? one._tag : one.value), [
        1,
        "UndecodableRecord",
        "LostRange",
        4
      ])
      const damaged = yield* Effect.flip(drive(Stream.runDrain(log.read({ onDecodeError: "skip" }))))
      assert.strictEqual(damaged._tag, "SegmentCorrupt")
      const undecodable = yield* Effect.flip(drive(Stream.runDrain(log.read({ onDamage: "skip" }))))
      assert.strictEqual(undecodable._tag, "RecordDecodeError")
    }))
})

describe("evolution", () => {
  const First = Schema.Struct({ id: Schema.String })
  const Second = Schema.Struct({
    id: Schema.String,
    note: Schema.optionalKey(Schema.String),
    tries: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
  })

  it.effect("old records decode with a schema that has more fields, new ones with the old schema", () =>
    Effect.gen(function*() {
      const first = yield* TypedWal.make({ schema: First })
      const second = yield* TypedWal.make({ schema: Second })
      yield* keep(first, { id: "old" })
      yield* keep(second, { id: "new", note: "n", tries: 2 })
      assert.deepStrictEqual((yield* Stream.runCollect(second.read())).map((one) => one.value), [
        { id: "old", tries: 0 },
        { id: "new", note: "n", tries: 2 }
      ])
      assert.deepStrictEqual((yield* Stream.runCollect(first.read())).map((one) => one.value), [{ id: "old" }, {
        id: "new"
      }])
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("a field that is required all of a sudden is an error for each old record, not a wrong value", () =>
    Effect.gen(function*() {
      yield* keep(yield* TypedWal.make({ schema: First }), { id: "old" })
      const strict = yield* TypedWal.make({ schema: Schema.Struct({ id: Schema.String, note: Schema.String }) })
      const error = yield* Effect.flip(Stream.runDrain(strict.read()))
      assert.deepInclude(error, { _tag: "RecordDecodeError", seq: 1, reason: "value[\"note\"]: Missing key" })
    }).pipe(Effect.provide(WalTest.layer())))
})
