import * as TypedWal from "@effect-wal/core/TypedWal"
import { Wal } from "@effect-wal/core/Wal"
import type { AppendError, InvalidRecord, ReadError, WalOpenError } from "@effect-wal/core/WalError"
import { WalReader } from "@effect-wal/core/WalReader"
import type { LostRange } from "@effect-wal/core/WalRecord"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema, SchemaTransformation, Stream } from "effect"
import { expectTypeOf } from "vitest"
import { ProcessRegistry, ProcessRegistryState } from "../src/ProcessRegistry.ts"
import { ObjectStore } from "../src/store/ObjectStore.ts"
import { decode, encode } from "./support/LogWorld.ts"

class Order extends Schema.Class<Order>("Order")({ id: Schema.String }) {}

const order = (id: string) => new Order({ id })

class Orders extends TypedWal.Tag("orders", { schema: Order, key: (one) => one.id })<Orders>() {}
class RawEvents extends Wal.Tag("events")<RawEvents>() {}
class Events extends TypedWal.Tag("events", { schema: Schema.String })<Events>() {}

class Secret extends Context.Service<Secret, { readonly word: string }>()("test/Secret") {}
/** Text that needs a service to be read and to be written. */
const Sealed = Schema.String.pipe(Schema.decodeTo(
  Schema.String,
  SchemaTransformation.transformEffect({
    decode: (text: string) => Effect.map(Secret, ({ word }) => text.replace(word, "")),
    encode: (text: string) => Effect.map(Secret, ({ word }) => `${word}${text}`)
  })
))

describe("as a service", () => {
  it.effect("over a log that another layer opens", () =>
    Effect.gen(function*() {
      const orders = yield* Orders
      yield* Effect.andThen(orders.append([order("a")]), orders.flush)
      assert.deepStrictEqual((yield* Stream.runCollect(orders.read())).map((one) => one.key), ["a"])
    }).pipe(Effect.provide(Orders.layerOver(Wal).pipe(Layer.provide(WalTest.layer())))))

  it.effect("with a log of its own, beside another, both read by a reader", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const registry = new ProcessRegistryState()
      registry.probed.add(memory.store.id)
      const logs = Layer.merge(
        Orders.layer({ nodeId: "n", streamId: "orders" }),
        Events.layerOver(RawEvents).pipe(Layer.provide(RawEvents.layer({ nodeId: "n", streamId: "events" })))
      )
      yield* Effect.gen(function*() {
        yield* Effect.flatMap(Orders, (log) => Effect.andThen(log.append([order("a")]), log.flush))
        yield* Effect.flatMap(Events, (log) => Effect.andThen(log.append(["b"]), log.flush))
        const reader = yield* WalReader.make({ nodeId: "n", streamId: "events" })
        const read = yield* Stream.runCollect(TypedWal.reads(reader, { schema: Schema.String }).read())
        assert.deepStrictEqual(read.map((one) => one.value), ["b"])
      }).pipe(
        Effect.provide(logs),
        Effect.scoped,
        Effect.provideService(ObjectStore, memory.store),
        Effect.provideService(ProcessRegistry, registry)
      )
    }))

  it.effect("services that the schema needs are asked of whoever appends and reads", () =>
    Effect.gen(function*() {
      const log = yield* TypedWal.make({ schema: Sealed })
      yield* Effect.provideService(log.append(["text"]), Secret, { word: "open " })
      yield* log.flush
      const [stored] = yield* Effect.flatMap(Wal, (wal) => Stream.runCollect(wal.read()))
      assert.strictEqual(decode(stored?.payload ?? encode("")), "\"open text\"")
      const read = Stream.runCollect(log.read())
      assert.deepStrictEqual(
        (yield* Effect.provideService(read, Secret, { word: "open " })).map((one) => one.value),
        ["text"]
      )
    }).pipe(Effect.provide(WalTest.layer())))
})

describe("types", () => {
  it("follow schema, services and policies", () => {
    type Log = Effect.Success<typeof plain>
    type SealedLog = Effect.Success<typeof sealed>
    const plain = TypedWal.make({ schema: Order })
    const sealed = TypedWal.make({ schema: Sealed })
    expectTypeOf(plain).toEqualTypeOf<Effect.Effect<TypedWal.TypedWalService<Order>, never, Wal>>()
    expectTypeOf<Parameters<Log["append"]>[0]>().toEqualTypeOf<ReadonlyArray<Order>>()
    expectTypeOf<Effect.Error<ReturnType<Log["append"]>>>().toEqualTypeOf<AppendError>()
    expectTypeOf<InvalidRecord>().toExtend<AppendError>()
    expectTypeOf<Effect.Services<ReturnType<Log["append"]>>>().toEqualTypeOf<never>()
    expectTypeOf<Effect.Services<ReturnType<SealedLog["append"]>>>().toEqualTypeOf<Secret>()
    expectTypeOf<Effect.Services<ReturnType<SealedLog["appendNow"]>>>().toEqualTypeOf<Secret>()
    expectTypeOf<Effect.Services<SealedLog["flush"]>>().toEqualTypeOf<never>()

    const reads = (log: Log, secret: SealedLog) => ({
      plain: log.read(),
      fail: log.read({ onDecodeError: "fail", limit: 1 }),
      undecodable: log.replay({ onDecodeError: "skip" }),
      lost: log.read({ onDamage: "skip" }),
      both: log.read({ onDamage: "skip", onDecodeError: "skip" }),
      secret: secret.read()
    })
    type Reads = ReturnType<typeof reads>
    type Value = TypedWal.TypedRecord<Order>
    type Decode = ReadError | TypedWal.RecordDecodeError
    expectTypeOf<Reads["plain"]>().toEqualTypeOf<Stream.Stream<Value, Decode>>()
    expectTypeOf<Reads["fail"]>().toEqualTypeOf<Stream.Stream<Value, Decode>>()
    expectTypeOf<Reads["undecodable"]>().toEqualTypeOf<Stream.Stream<Value | TypedWal.UndecodableRecord, ReadError>>()
    expectTypeOf<Reads["lost"]>().toEqualTypeOf<Stream.Stream<Value | LostRange, Decode>>()
    expectTypeOf<Reads["both"]>().toEqualTypeOf<
      Stream.Stream<Value | LostRange | TypedWal.UndecodableRecord, ReadError>
    >()
    expectTypeOf<Reads["secret"]>().toEqualTypeOf<Stream.Stream<TypedWal.TypedRecord<string>, Decode, Secret>>()

    expectTypeOf(Orders.layer).returns.toEqualTypeOf<Layer.Layer<Orders, WalOpenError, ObjectStore>>()
    expectTypeOf(Orders.layerOver(Wal)).toEqualTypeOf<Layer.Layer<Orders, never, Wal>>()
    expectTypeOf<Effect.Success<typeof Orders>>().toEqualTypeOf<TypedWal.TypedWalService<Order>>()
  })
})
