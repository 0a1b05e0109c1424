import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Stream } from "effect"
import type { LostRange, WalRecord } from "../../src/WalRecord.ts"
import { failing, harmed, skipping, tens } from "../support/Harmed.ts"
import {
  drive,
  encode,
  isSegmentKey,
  key,
  open,
  range,
  records,
  reopen,
  seqs,
  store,
  storeSegments
} from "../support/LogWorld.ts"

describe("a missing segment", () => {
  it.effect("above the cursor: SegmentMissing with the range, and the rest with skip [case 18] [predecessor 8]", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => memory.objects.delete(key(3)), 25)
      const { before, error } = yield* failing(log)
      assert.deepInclude(error, { _tag: "SegmentMissing", key: key(3), from: 31, to: 40 })
      assert.deepStrictEqual(before, range(26, 30))
      assert.deepStrictEqual(yield* skipping(log), [...range(26, 30), "lost 31-40", ...range(41, 100)])
    }))

  it.effect("the cursor inside it: only what was not committed counts as lost [case 18]", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => memory.objects.delete(key(3)), 35)
      assert.strictEqual((yield* failing(log)).error._tag, "SegmentMissing")
      assert.deepStrictEqual(yield* skipping(log), ["lost 36-40", ...range(41, 100)])
    }))

  it.effect("below the cursor: nobody is hurt [case 18]", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => memory.objects.delete(key(3)), 50)
      const read = yield* Stream.runCollect(log.wal.replay({ until: "durable-end" }))
      assert.deepStrictEqual(seqs(read), range(51, 100))
    }))

  it.effect("a lost range is acked once delivered, and counted [case 18]", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => memory.objects.delete(key(3)))
      yield* drive(Stream.runForEach(log.wal.replay({ until: "durable-end", onDamage: "skip" }), (element) =>
        "_tag" in element ? Effect.void : log.wal.ack(element.seq)))
      assert.strictEqual((yield* log.wal.status).cursors["default"]?.mark, 100)
      const lost = (yield* Metric.snapshot).find((one) =>
        one.id === "wal_records_lost_total"
      )
      assert.deepInclude(lost?.state, { count: 10 })
    }))

  it.effect("many in a row: looked over once, not once for each", () =>
    Effect.gen(function*() {
      let headers = 0
      const options = { ...tens, segment: { maxEntries: 1 } }
      const writer = yield* open(options)
      yield* storeSegments(writer.wal, 120, 1)
      yield* writer.wal.close
      const log = yield* reopen(writer, options, {
        onGet: (_, header) => {
          headers += header ? 1 : 0
        }
      })
      for (let slot = 20; slot < 100; slot++) log.memory.objects.delete(key(slot))
      headers = 0
      assert.deepStrictEqual(yield* skipping(log), [...range(1, 20), "lost 21-100", ...range(101, 120)])
      assert.isAtMost(headers, 100)
    }))

  it.effect("404 once, then 200: read on [case 18]", () =>
    Effect.gen(function*() {
      const log = yield* harmed(() => undefined)
      let answers = 1
      log.faults.rule((request) =>
        request.operation === "get" && request.key === key(3) && answers-- > 0
          ? { _tag: "Fail", reason: "NotFound" }
          : undefined
      )
      const read = yield* drive(Stream.runCollect(log.wal.replay({ until: "durable-end" })))
      assert.deepStrictEqual(seqs(read), range(1, 100))
    }))

  for (
    const reason of [
      "AccessDenied",
      "NoSuchBucket",
      "CredentialsUnavailable",
      "Unavailable",
      "UnexpectedResponse"
    ] as const
  ) {
    it.effect(`${reason} is never "missing", also with skip; what stands before is delivered [case 18]`, () =>
      Effect.gen(function*() {
        const log = yield* harmed(() => undefined)
        log.faults.rule((request) => request.key === key(3) ? { _tag: "Fail", reason } : undefined)
        const { before, error } = yield* failing(log)
        const tags = { AccessDenied: "AccessDenied", NoSuchBucket: "AccessDenied", Unavailable: "StoreUnavailable" }
        assert.strictEqual(
          error._tag,
          {
            ...tags,
            CredentialsUnavailable: "CredentialsUnavailable",
            UnexpectedResponse: "UnexpectedResponse"
          }[reason]
        )
        assert.deepStrictEqual(before, range(1, 30))
        const skipped = yield* drive(
          Effect.exit(Stream.runDrain(log.wal.replay({ until: "durable-end", onDamage: "skip" })))
        )
        assert.strictEqual(skipped._tag, "Failure")
        assert.strictEqual((yield* log.wal.status).cursors["default"]?.mark, 0)
      }))
  }

  it.effect("nothing is called lost because its neighbours cannot be asked", () =>
    Effect.gen(function*() {
      const log = yield* harmed(({ memory }) => memory.objects.delete(key(3)))
      log.faults.rule((request) =>
        request.operation === "get" && isSegmentKey(request.key) && request.key > key(3)
          ? { _tag: "Fail", reason: "AccessDenied" }
          : undefined
      )
      const seen: Array<WalRecord | LostRange> = []
      const skipping = Stream.runForEach(log.wal.replay({ until: "durable-end", onDamage: "skip" }), (element) =>
        Effect.sync(() => {
          seen.push(element)
        }))
      assert.strictEqual((yield* drive(Effect.flip(skipping)))._tag, "AccessDenied")
      assert.deepStrictEqual(seqs(seen), range(1, 30))
    }))

  it.effect("a passing error of the store is waited out", () =>
    Effect.gen(function*() {
      const log = yield* harmed(() => undefined)
      let failures = 30
      log.faults.rule((request) =>
        request.operation === "get" && failures-- > 0 ? { _tag: "Fail", reason: "Throttled" } : undefined
      )
      const read = yield* drive(Stream.runCollect(log.wal.replay({ until: "durable-end" })))
      assert.deepStrictEqual(seqs(read), range(1, 100))
    }))

  it.effect("foreign objects are no segments [case 12]", () =>
    Effect.gen(function*() {
      const writer = yield* open(tens)
      yield* storeSegments(writer.wal, 3, 10)
      const foreign = [
        "",
        ".DS_Store",
        "README.txt",
        "manifest.json.bak",
        "segments/",
        "segments/0000000001/x.tmp",
        "segments/1/2.seg"
      ]
      for (const name of foreign) writer.memory.put(`node/log/${name}`, encode("PK"))
      const siblings = [
        "node/log2/segments/0000000001/000000000003.seg",
        "node/log-old/segments/0000000001/000000000003.seg"
      ]
      for (const name of siblings) writer.memory.put(name, encode("theirs"))
      const log = yield* reopen(writer, { ...tens, retention: { policy: "committed" } })
      assert.deepStrictEqual(seqs(yield* Stream.runCollect(log.wal.read())), range(1, 30))
      yield* log.wal.commit(30)
      yield* log.wal.trim(30)
      yield* drive(Effect.sleep("1 minute"))
      for (const name of [...foreign.map((one) => `node/log/${one}`), ...siblings]) {
        assert.isTrue(log.memory.objects.has(name), name)
      }
      assert.isFalse(log.memory.objects.has(key(0)))
      yield* store(log.wal, records(1))
    }))
})
