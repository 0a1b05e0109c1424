import { answer, errorAnswer, storeThenDrop } from "@effect-wal/testing/HttpS3Action"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bytes, factsOf, setUp, text } from "./support.ts"

describe("a lost answer", () => {
  it.effect("[case 1] a replace that was stored and whose answer was lost is one request, then 412 to the same tag", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      const first = yield* store.create("manifest.json", bytes("1"))
      let lost = false
      double.rule((request) => {
        if (request.operation !== "put" || lost) return undefined
        lost = true
        return storeThenDrop
      })
      const unknown = yield* Effect.flip(store.replace("manifest.json", bytes("2"), first))
      assert.deepStrictEqual(factsOf(unknown), ["replace", "Unavailable", "unknown", true])
      assert.strictEqual(double.count("put"), 2, "the store repeats nothing by itself")
      const refused = yield* Effect.flip(store.replace("manifest.json", bytes("2"), first))
      assert.deepStrictEqual(factsOf(refused), ["replace", "PreconditionFailed", "not-applied", false])
      assert.strictEqual(text((yield* store.get("manifest.json")).body), "2")
    }))

  it.effect("[case 1] a create that was stored and whose answer was lost is one request, then AlreadyExists", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule((request) => request.operation === "put" && request.number === 1 ? storeThenDrop : undefined)
      const unknown = yield* Effect.flip(store.create("a.seg", bytes("mine")))
      assert.deepStrictEqual(factsOf(unknown), ["create", "Unavailable", "unknown", true])
      assert.strictEqual(double.count("put"), 1)
      assert.strictEqual((yield* Effect.flip(store.create("a.seg", bytes("mine")))).reason, "AlreadyExists")
      assert.strictEqual(double.count("put"), 2)
    }))
})

describe("answers of a compare-and-swap", () => {
  const cases = [
    [409, "ConditionalRequestConflict", "Conflict"],
    [409, "OperationAborted", "Conflict"],
    [412, "PreconditionFailed", "PreconditionFailed"],
    [404, "NoSuchKey", "NotFound"],
    [404, "NoSuchBucket", "NoSuchBucket"],
    [500, "InternalError", "Unavailable"],
    [403, "AccessDenied", "AccessDenied"],
    [507, "InsufficientStorage", "StoreFull"]
  ] as const
  for (const [status, code, reason] of cases) {
    it.effect(`[case 2] ${status} ${code} is ${reason}, after one request`, () =>
      Effect.gen(function*() {
        const { double, store } = yield* setUp({}, { etagQuoting: "quoted" })
        const tag = yield* store.create("manifest.json", bytes("1"))
        double.rule((request) => request.operation === "put" ? errorAnswer(status, code) : undefined)
        const error = yield* Effect.flip(store.replace("manifest.json", bytes("2"), tag))
        assert.deepStrictEqual([error.reason, error.status, error.code], [reason, status, code])
        assert.strictEqual(double.count(), 2)
      }))
  }
})

describe("headers that the store does not know", () => {
  it.effect("[case 3] (a) a refused condition is NotSupported and names the header", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ refusedHeaders: ["if-none-match", "if-match"] })
      const error = yield* Effect.flip(store.create("a", bytes("1")))
      assert.deepStrictEqual([error.reason, error.status, error.isRetryable], ["NotSupported", 501, false])
      assert.include(error.detail, "if-none-match")
      assert.strictEqual(double.count("put"), 1, "no retry storm")
    }))

  it.effect("[case 3] (a) single_writer writes without conditions", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ refusedHeaders: ["if-none-match", "if-match"] }, {
        conditionalWrites: "single_writer"
      })
      const tag = yield* store.create("a", bytes("1"))
      yield* store.replace("a", bytes("2"), tag)
      assert.strictEqual(text((yield* store.get("a")).body), "2")
      for (const request of double.requests) {
        assert.isUndefined(request.headers["if-match"])
        assert.isUndefined(request.headers["if-none-match"])
      }
    }))

  const checksumless = { refusedHeaders: ["x-amz-checksum-crc32", "x-amz-sdk-checksum-algorithm"] }

  it.effect("[case 3] (b) a refused checksum header is named, and the switch makes it work", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp(checksumless)
      const error = yield* Effect.flip(store.create("a", bytes("1")))
      assert.strictEqual(error.reason, "NotSupported")
      assert.match(error.detail, /x-amz-(checksum-crc32|sdk-checksum-algorithm)/)
      assert.include(error.detail, "checksums: when_required")
      const switched = yield* setUp(checksumless, { checksums: "when_required" })
      const tag = yield* switched.store.create("a", bytes("1"), { crc32: 1 })
      yield* switched.store.replace("a", bytes("2"), tag)
      assert.strictEqual(text((yield* switched.store.get("a")).body), "2")
      assert.deepStrictEqual(yield* switched.store.remove(["a"]), [])
      assert.strictEqual(switched.double.objects.size, 0)
    }))

  it.effect("[case 3] (b) a 501 without a header name names those that were sent", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => answer(501))
      const error = yield* Effect.flip(store.create("a", bytes("1")))
      assert.include(error.detail, "If-None-Match or x-amz-checksum-crc32")
    }))

  it.effect("the checksum that the caller has is the one that is sent, and a wrong one is refused by the store", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      yield* store.create("a", bytes("123456789"), { crc32: 0xcbf43926 })
      assert.strictEqual(double.requests[0]?.headers["x-amz-checksum-crc32"], "y/Q5Jg==")
      assert.strictEqual(double.requests[0]?.headers["x-amz-sdk-checksum-algorithm"], "CRC32")
      const error = yield* Effect.flip(store.create("b", bytes("123456789"), { crc32: 1 }))
      assert.deepStrictEqual([error.reason, error.code], ["Unavailable", "BadDigest"])
      assert.isFalse(double.objects.has("b"))
    }))
})
