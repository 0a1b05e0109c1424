import { SegmentMissing, StoreUnavailable } from "@effect-wal/core/WalError"
import type { WalReaderService } from "@effect-wal/core/WalReader"
import type { WalRecord } from "@effect-wal/core/WalRecord"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { startRead } from "../../../src/cli/data/StoreRead.ts"
import type { ReadOrder, Start } from "../../../src/cli/data/Target.ts"

const record = (seq: number): WalRecord => ({ seq, appendedAt: seq, payload: new Uint8Array(0) })

const away = new StoreUnavailable({ operation: "get", key: "k", detail: "away" })

/** A reader of the records 1 to 9, whose n-th read, from 0, ends as it is told; the places where reads began. */
const readerOf = (end: (read: number) => Stream.Stream<WalRecord, StoreUnavailable | SegmentMissing>, durable = 9) => {
  const starts: Array<unknown> = []
  const read = (options: { readonly from?: unknown } = {}) => {
    const index = starts.push(options.from) - 1
    const from = typeof options.from === "number" ? options.from : 1
    return Stream.concat(Stream.fromIterable([from, from + 1].map(record)), end(index))
  }
  const reader: WalReaderService = {
    read,
    replay: () => Stream.die(new Error("not for this test")),
    status: Effect.succeed({ logId: "l", epoch: 1, host: "h", durable, trimmedTo: 2, cursors: { billing: 5 } })
  }
  return { reader, starts }
}

const orderOf = (start: Start, follow = true): ReadOrder => ({ start, follow, onDamage: "fail" })

describe("the read of a stored log", () => {
  it.effect("that follows goes on behind what came when the store is back", () =>
    Effect.gen(function*() {
      const { reader, starts } = readerOf((index) => index < 2 ? Stream.fail(away) : Stream.empty)
      const elements = yield* startRead(reader, orderOf({ _tag: "Seq", seq: 3 }))
      const fiber = yield* Effect.forkChild(Stream.runCollect(elements))
      for (let turn = 0; turn < 5; turn++) {
        for (let yields = 0; yields < 50; yields++) yield* Effect.yieldNow
        yield* TestClock.adjust("10 seconds")
      }
      const seqs = (yield* Fiber.join(fiber)).map((element) => "seq" in element ? element.seq : 0)
      assert.deepStrictEqual(seqs, [3, 4, 5, 6, 7, 8])
      assert.deepStrictEqual(starts, [3, 5, 7])
    }))

  it.effect("does not go on where that does not help, and not where it does not follow", () =>
    Effect.gen(function*() {
      const missing = new SegmentMissing({ key: "k", from: 3, to: 4 })
      for (const [error, follow] of [[missing, true], [away, false]] as const) {
        const { reader, starts } = readerOf(() => Stream.fail(error))
        const elements = yield* startRead(reader, orderOf({ _tag: "Oldest" }, follow))
        assert.strictEqual(yield* Effect.flip(Stream.runDrain(elements)), error)
        assert.strictEqual(starts.length, 1)
      }
    }))

  it.effect("starts where the order says", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [Start, unknown]> = [
        [{ _tag: "Seq", seq: 4 }, 4],
        [{ _tag: "Time", millis: 7 }, { appendedAtMillis: 7 }],
        [{ _tag: "Oldest" }, undefined],
        [{ _tag: "Next" }, 10],
        [{ _tag: "Last", records: 3 }, 7],
        [{ _tag: "Last", records: 100 }, 3],
        [{ _tag: "Cursor", name: "billing" }, 6]
      ]
      for (const [start, from] of cases) {
        const { reader, starts } = readerOf(() => Stream.empty)
        yield* Effect.flatMap(startRead(reader, orderOf(start, false)), Stream.runDrain)
        assert.deepStrictEqual(starts, [from], start._tag)
      }
      const { reader } = readerOf(() => Stream.empty)
      const unknown = yield* Effect.flip(startRead(reader, orderOf({ _tag: "Cursor", name: "constructor" })))
      assert.strictEqual(unknown._tag, "CommandFailed")
    }))
})
