/** Bodies in pieces: what is given back of them, and when. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { discardBody, wholeBody, wholeLines } from "../src/body/Body.ts"
import { append, json } from "./support/Client.ts"
import { startServer } from "./support/TestServer.ts"

describe("a body in pieces", () => {
  it("is put together only where it came in several", () => {
    const one = new Uint8Array([1, 2])
    assert.strictEqual(wholeBody([one]), one)
    assert.deepStrictEqual([...wholeBody([one, new Uint8Array([3])])], [1, 2, 3])
    assert.strictEqual(wholeBody([]).length, 0)
  })

  it("has whole lines in each piece, once it is cut behind them", () => {
    const texts = wholeLines(["a\nb", "c", "d\ne\nf", "\n", "g"].map((text) => Buffer.from(text)))
    assert.deepStrictEqual(texts.map((piece) => Buffer.from(piece).toString()), ["a\n", "bcd\n", "e\n", "f\n", "g"])
  })

  it("gives memory back that is large and its own, and no other", () => {
    const own = new Uint8Array(20_000)
    const small = new Uint8Array(10_000)
    const part = new Uint8Array(40_000).subarray(0, 20_000)
    discardBody([own, small, part])
    assert.deepStrictEqual([own.length, small.length, part.length], [0, 10_000, 20_000])
  })

  it.effect("is gone only when the log has its records", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const lines = Array.from({ length: 100 }, (_, nth) => JSON.stringify(`${nth} ${"x".repeat(1_000)}`))
      assert.strictEqual(json(yield* append(port, "application/x-ndjson", lines.join("\n"))).count, 100)
      assert.deepStrictEqual(log.records.map(({ payload }) => Buffer.from(payload).toString()), lines)
      const bytes = Buffer.alloc(100_000, "y")
      yield* append(port, "application/octet-stream", bytes)
      assert.isTrue(Buffer.from(log.records[100]?.payload ?? []).equals(bytes))
    }))
})
