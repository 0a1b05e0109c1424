/** Codecs: each works, what it stores is smaller where it can be, and readers go by the object. */
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Suite } from "./Suite.ts"
import { open, type Options } from "./SuiteProcess.ts"
import { noise } from "./SuiteRandom.ts"
import { failureOf, keyAt, range, sized, store } from "./SuiteRecords.ts"
import { drive } from "./SuiteTime.ts"

/** The sizes of the case, the random one smaller; and one that is below the threshold with all that a segment adds. */
const payloads = [
  sized(0),
  sized(1),
  sized(10_000),
  sized(10_239),
  sized(10_240),
  { payload: noise(262_144, 16) },
  sized(200_000, 9)
]

const options = (compression: Options["compression"]): Options => ({
  segment: { maxEntries: 1 },
  ...(compression === undefined ? {} : { compression })
})

export const compressionTests = ({ test }: Suite): void => {
  for (const type of ["none", "zstd", "lz4"] as const) {
    test(`${type}: every size comes back, packed where that is less, by readers set to anything [case 16] [predecessor 14]`, (place) =>
      Effect.gen(function*() {
        const writer = yield* open(place, options({ type }))
        yield* store(writer.wal, payloads)
        yield* writer.crash
        for (const other of ["none", "zstd", "lz4"] as const) {
          const { crash, store: raw, wal } = yield* open(place, options({ type: other }))
          const read = yield* drive(Stream.runCollect(wal.read()))
          assert.strictEqual(read.length, payloads.length)
          for (const [index, record] of read.entries()) {
            assert.strictEqual(Buffer.compare(record.payload, payloads[index]?.payload ?? assert.fail("more")), 0)
          }
          const size = (slot: number) => Effect.map(raw.get(keyAt(place, slot)), ({ body }) => body.length)
          // Below the threshold, and what does not shrink, is stored as it is: a header on top, no more.
          assert.isAtLeast(yield* size(2), 10_000)
          assert.isAtMost(yield* size(5), 262_144 + 1_000)
          if (type === "none") assert.isAtLeast(yield* size(6), 200_000)
          else assert.isAtMost(yield* size(6), 20_000)
          yield* crash
        }
      }))
  }

  test("one log with the codec changed at each start reads back whole [case 16]", (place) =>
    Effect.gen(function*() {
      const turns = [
        { type: "zstd", level: 19, thresholdBytes: 0 },
        { type: "lz4", thresholdBytes: 0 },
        { type: "none" },
        { type: "zstd", level: 1 }
      ] as const
      for (const [index, compression] of turns.entries()) {
        const process = yield* open(place, options(compression))
        yield* store(process.wal, [sized(30_000, index), sized(100, index)])
        yield* process.crash
      }
      const { wal } = yield* open(place)
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual(
        [...read].map((record) => [record.payload.length, record.payload[0], record.payload.at(-1)]),
        range(0, 3).flatMap((index) => [[30_000, index, index], [100, index, index]])
      )
    }))

  test("a level that the codec has not is a ConfigError, and the store is asked for nothing [case 16]", (place) =>
    Effect.gen(function*() {
      const bad = [
        { type: "zstd", level: 23 },
        { type: "zstd", level: -1 },
        { type: "zstd", level: 3.5 },
        { type: "lz4", level: 0 },
        { type: "lz4", level: 17 },
        { type: "none", level: 3 }
      ] as const
      for (const compression of bad) {
        let asked = 0
        const error = yield* failureOf(open(place, options(compression), {
          onFaults: (faults) =>
            faults.rule(() => {
              asked++
              return undefined
            })
        }))
        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, "compression.level")
        assert.strictEqual(asked, 0)
      }
    }))
}
