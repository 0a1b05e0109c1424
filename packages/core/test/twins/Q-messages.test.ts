/** Twins of the size cases: records that are all key or all headers, and exactly at their limit. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AppendRecord } from "../../src/WalRecord.ts"
import { drive, encode, open, type Options, readAll, reopen, sized, still, store } from "../support/LogWorld.ts"

const headersOf = (count: number, value: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`header-${String(index).padStart(3, "0")}`, value]))

/** Stored, and read back by another process from the store. */
const throughStore = Effect.fnUntraced(function*(given: ReadonlyArray<AppendRecord>, options: Options = {}) {
  const all = { ...still, ...options }
  const writer = yield* open(all)
  yield* store(writer.wal, given)
  yield* writer.wal.close
  const log = yield* reopen(writer, all)
  const read = yield* drive(readAll(log.wal))
  return read.map(({ appendedAt: _, seq: __, ...record }) => ({ ...record, payload: record.payload.slice() }))
})

describe("records", () => {
  it.effect("[kind Q] with 64 headers, a key of 100,000 characters, and names that are also properties", () =>
    Effect.gen(function*() {
      const given: ReadonlyArray<AppendRecord> = [
        { payload: encode("headers"), headers: headersOf(64, "v".repeat(1_000)) },
        { payload: encode("key"), key: "k".repeat(100_000) },
        { payload: encode("hearts"), key: "♥💔".repeat(1_000), headers: { "💔": "\u0000\n\"\\\u2028" } },
        { payload: encode("empty"), key: "", headers: {}, contentType: "" },
        {
          payload: encode("names"),
          headers: Object.fromEntries([["__proto__", "a"], ["constructor", "b"], ["toString", "c"], ["", "d"]])
        },
        { payload: new Uint8Array(0) }
      ]
      assert.deepStrictEqual(yield* throughStore(given), given)
      const [, , , , names] = yield* throughStore(given)
      assert.sameMembers(Object.keys(names?.headers ?? {}), ["__proto__", "constructor", "toString", ""])
    }))

  const limit = 1_000

  it.effect("[kind Q] of exactly max_record_bytes in each of its parts; one byte more is RecordTooLarge", () =>
    Effect.gen(function*() {
      const options: Options = { ...still, maxRecordBytes: limit, segment: { maxBytes: limit } }
      const { wal } = yield* open(options)
      const parts: ReadonlyArray<readonly [string, (bytes: number) => AppendRecord]> = [
        ["payload", (bytes) => sized(bytes)],
        ["key", (bytes) => ({ payload: encode(""), key: "k".repeat(bytes) })],
        [
          "key of two-byte characters",
          (bytes) => ({ payload: encode("x".repeat(bytes % 2)), key: "é".repeat(bytes >> 1) })
        ],
        ["content type", (bytes) => ({ payload: encode(""), contentType: "c".repeat(bytes) })]
      ]
      for (const [name, make] of parts) {
        yield* store(wal, [make(limit)])
        const error = yield* Effect.flip(wal.append([make(limit + 1)]))
        assert.deepInclude(error, { _tag: "RecordTooLarge", sizeBytes: limit + 1, limitBytes: limit }, name)
      }
      assert.strictEqual((yield* readAll(wal)).length, parts.length)
    }))

  it.effect("[kind Q] that fill a whole segment with headers of escapes can still be read with the limits that took them", () =>
    Effect.gen(function*() {
      const options: Options = {
        maxRecordBytes: 100_000,
        maxSegmentBytes: "1MiB",
        segment: { maxBytes: "512KiB", maxEntries: 10_000 }
      }
      // Each counts as escapes of six bytes at most; none of it may pass the limit of what readers take.
      const noisy = (count: number): ReadonlyArray<AppendRecord> =>
        Array.from({ length: count }, (_, index) => ({
          payload: encode(String(index)),
          key: "\u0001".repeat(50),
          headers: { h: "\u0001\"\\\n".repeat(100) }
        }))
      const given = noisy(2_000)
      assert.deepStrictEqual(yield* throughStore(given, options), given)
    }))

  it.effect("[kind Q] of one byte each in the largest segment that may be: it is read with the limits that took it", () =>
    Effect.gen(function*() {
      const options: Options = {
        maxRecordBytes: 100_000,
        maxSegmentBytes: "1MiB",
        segment: { maxBytes: "512KiB", maxEntries: 1_000_000 }
      }
      const given = Array.from({ length: 200_000 }, (_, index) => ({ payload: Uint8Array.of(index & 255) }))
      assert.strictEqual((yield* throughStore(given, options)).length, given.length)
    }))
})
