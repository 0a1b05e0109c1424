import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Option, Stream } from "effect"
import type { Boundary } from "../../src/format/Boundary.ts"
import { chainAfter } from "../../src/format/ChainHash.ts"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { SparseIndex } from "../../src/manifest/SparseIndex.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { LogView } from "../../src/read/LogView.ts"
import { readSteps } from "../../src/read/SegmentReader.ts"
import { TailBuffer } from "../../src/read/TailBuffer.ts"
import { WalClosed, type WalEnd } from "../../src/WalError.ts"
import {
  drive,
  key,
  open,
  type Options,
  prefix,
  range,
  slotKeys,
  still,
  stored,
  storeSegments,
  type TestLog
} from "../support/LogWorld.ts"

const tens: Options = { ...still, segment: { maxEntries: 10 } }

/** The boundary before each slot, and after the last. */
const boundariesOf = Effect.fnUntraced(function*(log: TestLog) {
  const parts = yield* Effect.forEach(slotKeys(log.memory), (at) => stored(log.memory, at))
  const first: Boundary = { epoch: 1, slot: 0, seq: 0, at: 0, chain: parts[0]?.header.chain ?? "" }
  return [
    first,
    ...parts.map(({ header }): Boundary => ({
      epoch: 1,
      slot: header.slot + 1,
      seq: header.firstSeq + header.count - 1,
      at: header.lastAt,
      chain: chainAfter(header.chain, header, nodeDigest)
    }))
  ]
})

/** A view of a log of five segments of ten records whose trim point moves while somebody reads. */
const movingView = Effect.gen(function*() {
  const log = yield* open(tens)
  yield* storeSegments(log.wal, 5, 10)
  const boundaries = yield* boundariesOf(log)
  const at = (slot: number): Boundary => Option.getOrThrow(Option.fromNullishOr(boundaries[slot]))
  let trim = at(0)
  let slots = 5
  let ended: WalEnd | undefined
  let onLook: (name: string) => void = () => undefined
  const view: LogView = {
    prefix,
    logId: (yield* log.wal.status).logId,
    store: {
      ...log.memory.store,
      get: (name, request) =>
        Effect.suspend(() => {
          if (request?.firstBytes !== undefined) onLook(name)
          return log.memory.store.get(name, request)
        })
    },
    digest: nodeDigest,
    compression: nodeCompression,
    backoff: { base: Duration.millis(1), cap: Duration.millis(1) },
    maxSegmentBytes: 1_000_000,
    prefetch: 2,
    trim: () => trim,
    durable: () => at(slots),
    epochs: () => [{ epoch: 1, end: slots }],
    index: new SparseIndex([], 10),
    beyond: () => Effect.never,
    refresh: Effect.void,
    ended: () => ended
  }
  const trimTo = (slot: number) => {
    trim = at(slot)
    for (const gone of range(0, slot - 1)) log.memory.objects.delete(key(gone))
  }
  return {
    view,
    at,
    trimTo,
    log,
    end: (error: WalEnd) => void (ended = error),
    endAt: (count: number) => void (slots = count),
    onLook: (told: (name: string) => void) => void (onLook = told)
  }
})

const stepsFrom = (view: LogView, start: Boundary, fromSeq: number) =>
  drive(
    Effect.map(Stream.runCollect(readSteps(view, start, fromSeq)), (steps) =>
      steps.map((step) => step._tag === "Segment" ? step.segment.header.slot : `lost ${step.from}-${step.to}`))
  )

describe("readSteps", () => {
  it.effect("a search that started before the trim point is no reason to fail: what is wanted is there", () =>
    Effect.gen(function*() {
      const { at, trimTo, view } = yield* movingView
      trimTo(3)
      assert.deepStrictEqual(yield* stepsFrom(view, at(0), 35), [3, 4])
      assert.deepStrictEqual(yield* stepsFrom(view, at(0), 31), [3, 4])
      const error = yield* Effect.flip(stepsFrom(view, at(0), 30))
      assert.deepInclude(error, { _tag: "Trimmed", from: 30, trimmedTo: 30 })
    }))

  it.effect("the chain is followed from the trim point on", () =>
    Effect.gen(function*() {
      const { at, log, trimTo, view } = yield* movingView
      trimTo(2)
      log.memory.objects.delete(key(3))
      assert.deepStrictEqual(yield* stepsFrom(view, at(0), 25), [2, "lost 31-40", 4])
      // A segment of another chain at the trim point is no part of this log.
      const { body, header } = yield* stored(log.memory, key(2))
      log.memory.put(key(2), encodeSegment({ ...header, chain: "0".repeat(32) }, body, nodeDigest))
      assert.deepStrictEqual(yield* stepsFrom(view, at(0), 25), ["lost 21-40", 4])
    }))

  it.effect("what becomes durable while a loss is looked over is not lost with it", () =>
    Effect.gen(function*() {
      const { at, endAt, log, onLook, view } = yield* movingView
      endAt(4)
      log.memory.objects.delete(key(2))
      log.memory.objects.delete(key(3))
      onLook((name) => {
        if (name === key(3)) endAt(5)
      })
      assert.deepStrictEqual(yield* stepsFrom(view, at(0), 1), [0, 1, "lost 21-40"])
      assert.strictEqual(view.durable().seq, 50)
    }))

  it.effect("what is missing in a log that is over may have been deleted by its successor", () =>
    Effect.gen(function*() {
      const { at, end, log, view } = yield* movingView
      log.memory.objects.delete(key(1))
      end(new WalClosed({ streamId: "log" }))
      assert.strictEqual((yield* Effect.flip(stepsFrom(view, at(0), 1)))._tag, "WalClosed")
    }))
})

describe("TailBuffer", () => {
  it.effect("keeps the newest segments within its bytes, and finds by number", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      yield* storeSegments(log.wal, 5, 10)
      const parts = yield* Effect.forEach(slotKeys(log.memory), (at) =>
        Effect.map(stored(log.memory, at), (one) => ({ key: at, ...one })))
      const size = Math.max(...parts.map(({ body }) =>
        body.length
      ))
      const tail = new TailBuffer(2 * (size + 2_048))
      assert.isUndefined(tail.find(1))
      for (const part of parts) tail.push(part)
      assert.deepStrictEqual([30, 31, 40, 41, 50, 51].map((seq) => tail.find(seq)?.header.slot), [
        undefined,
        3,
        3,
        4,
        4,
        undefined
      ])
      const none = new TailBuffer(size - 100)
      for (const part of parts) none.push(part)
      assert.isUndefined(none.find(50))
    }))

  it.effect("counts what a segment takes beside its body: small ones do not pile up", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      yield* storeSegments(log.wal, 1, 10)
      const part = { key: key(0), ...(yield* stored(log.memory, key(0))) }
      const tail = new TailBuffer(1_048_576)
      for (let slot = 0; slot < 1_000; slot++) {
        tail.push({ ...part, header: { ...part.header, slot, firstSeq: slot * 10 + 1 } })
      }
      assert.isDefined(tail.find(10_000))
      assert.isUndefined(tail.find((1_000 - 512) * 10))
    }))
})
