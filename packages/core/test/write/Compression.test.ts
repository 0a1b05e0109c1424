import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import {
  encode,
  key,
  open,
  type Options,
  readAll,
  reopen,
  sized,
  slotKeys,
  still,
  store,
  stored
} from "../support/LogWorld.ts"

const zstd: Options = { ...still, compression: { type: "zstd" } }
const lz4: Options = { ...still, compression: { type: "lz4" } }
const payloadOf = (record: { readonly payload: Uint8Array }) => Buffer.from(record.payload).toString("latin1")

/** Body overhead of one record: 4 + 12 bytes. */
const bodyOverhead = 16

const randomBytes = Effect.fnUntraced(function*(count: number) {
  const bytes = new Uint8Array(count)
  for (let index = 0; index < count; index++) bytes[index] = yield* Random.nextIntBetween(0, 256)
  return bytes
})

describe("compression", () => {
  for (const [name, options] of [["zstd", zstd], ["lz4", lz4]] as const) {
    it.effect(`${name} is applied: stored bytes shrink, and the log reads back [predecessor 14] [case 16]`, () =>
      Effect.gen(function*() {
        const log = yield* open(options)
        const text = encode("a line of a log file\n".repeat(5_000))
        yield* store(log.wal, [{ payload: text }])
        const { header } = yield* stored(log.memory, key(0))
        assert.strictEqual(header.codec, name)
        assert.isBelow(header.storedBytes * 10, header.rawBytes)
        assert.isBelow(log.memory.objects.get(key(0))?.body.length ?? Number.POSITIVE_INFINITY, text.length / 10)
        const again = yield* reopen(log, options)
        assert.deepStrictEqual((yield* readAll(again.wal)).map(payloadOf), [payloadOf({ payload: text })])
      }))
  }

  it.effect("leaves a body below the threshold raw, and marks it raw [case 16]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...zstd, compression: { type: "zstd", thresholdBytes: 10_240 } })
      for (const size of [0, 1, 10_239 - bodyOverhead, 10_240 - bodyOverhead]) yield* store(log.wal, [sized(size)])
      const parts = yield* Effect.forEach(slotKeys(log.memory), (at) => stored(log.memory, at))
      assert.deepStrictEqual(parts.map(({ header }) => [header.rawBytes, header.codec]), [
        [16, "none"],
        [17, "none"],
        [10_239, "none"],
        [10_240, "zstd"]
      ])
      assert.isTrue(parts.slice(0, 3).every(({ header }) => header.storedBytes === header.rawBytes))
    }))

  it.effect("stores data that does not shrink as it is [case 16]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...zstd, segment: { maxBytes: 2_000_000 } })
      const payload = yield* randomBytes(100_000)
      yield* store(log.wal, [{ payload }])
      const { header } = yield* stored(log.memory, key(0))
      assert.deepInclude(header, { codec: "none", storedBytes: header.rawBytes })
      assert.deepStrictEqual((yield* readAll(log.wal)).map(payloadOf), [payloadOf({ payload })])
    }))

  it.effect("reads by the codec of each segment, not of the configuration [case 16] [predecessor 14]", () =>
    Effect.gen(function*() {
      const first = yield* open(zstd)
      yield* store(first.wal, [sized(50_000, 1)])
      const second = yield* reopen(first, lz4)
      yield* store(second.wal, [sized(50_000, 2)])
      const third = yield* reopen(second, still)
      yield* store(third.wal, [sized(50_000, 3)])
      const parts = yield* Effect.forEach(
        slotKeys(third.memory).filter((at) => at !== key(1, 1) && at !== key(1, 2)),
        (at) => stored(third.memory, at)
      )
      assert.deepStrictEqual(parts.map(({ header }) => header.codec), ["zstd", "lz4", "none"])
      const fourth = yield* reopen(third, zstd)
      assert.deepStrictEqual((yield* readAll(fourth.wal)).map((record) => [record.payload.length, record.payload[0]]), [
        [50_000, 1],
        [50_000, 2],
        [50_000, 3]
      ])
    }))

  it.effect("measures what it saves", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...zstd, compression: { type: "zstd", level: 19 } })
      yield* store(log.wal, [sized(100_000)])
      assert.isBelow((yield* stored(log.memory, key(0))).header.storedBytes, 200)
    }))
})
