/** Streams over a view that does not know an epoch that it must: they end, with what is missing. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Stream } from "effect"
import type { Boundary } from "../../src/format/Boundary.ts"
import { SparseIndex } from "../../src/manifest/SparseIndex.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { LogView } from "../../src/read/LogView.ts"
import { streamRecords, type StreamRequest } from "../../src/read/RecordStream.ts"

const point = (epoch: number, slot: number, seq: number): Boundary => ({
  epoch,
  slot,
  seq,
  at: 0,
  chain: "0".repeat(32)
})

/** Five records are said to be durable, and no epoch holds them. */
const emptyView = Effect.map(MemoryObjectStore.make(), ({ store }): LogView => ({
  prefix: "n/s/",
  logId: "a".repeat(32),
  store,
  digest: nodeDigest,
  compression: nodeCompression,
  backoff: { base: Duration.millis(1), cap: Duration.millis(1) },
  maxSegmentBytes: 1_000,
  prefetch: 2,
  trim: () => point(2, 0, 0),
  durable: () => point(2, 0, 5),
  epochs: () => [{ epoch: 2, end: 0 }],
  index: new SparseIndex([], 10),
  beyond: () => Effect.void,
  refresh: Effect.void
}))

const request: Omit<StreamRequest, "onDamage"> = {
  fromSeq: 2,
  until: "durable-end",
  onSegment: () => Effect.void,
  onLost: () => Effect.void,
  onCaughtUp: Effect.void
}

describe("a log without the slots of its durable records", () => {
  it.effect("fails with the range, instead of looking for ever", () =>
    Effect.gen(function*() {
      const view = yield* emptyView
      const error = yield* Effect.flip(Stream.runCollect(streamRecords(view, { ...request, onDamage: "fail" })))
      assert.strictEqual(error._tag, "SequenceGap")
      if (error._tag === "SequenceGap") assert.deepStrictEqual([error.from, error.to], [2, 5])
    }))

  it.effect("is one lost range where damage is skipped", () =>
    Effect.gen(function*() {
      const view = yield* emptyView
      const read = yield* Stream.runCollect(streamRecords(view, { ...request, onDamage: "skip" }))
      assert.deepStrictEqual(read.map((element) => "from" in element ? [element.from, element.to] : []), [[2, 5]])
    }))
})
