/** Twins of the dialect cases: answers that say one thing and mean another, under a whole log. */
import { answer, applied, errorAnswer, rewriteAnswer } from "@effect-wal/testing/HttpS3Action"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp } from "../support.ts"
import { append, openLog, readAll } from "./LogOnDouble.ts"

const isSegmentPut = (request: { readonly operation: string; readonly key: string }) =>
  request.operation === "put" && request.key.endsWith(".seg")

describe("a conditional create that is answered", () => {
  const stored = applied(errorAnswer(200, "InternalError", { etag: "\"a\"" }))
  it.live.each(
    [
      ["200 with an error in it, and nothing is stored", errorAnswer(200, "InternalError", { etag: "\"a\"" })],
      ["200 with an error in it, and it is stored", stored],
      ["200 with a page of a proxy in it", answer(200, "<html><body>Please log in</body></html>", { etag: "\"a\"" })],
      ["412 although the key is free", errorAnswer(412, "PreconditionFailed")],
      ["404 as if the bucket were another's", errorAnswer(404, "NoSuchKey")],
      ["403 once", errorAnswer(403, "AccessDenied")],
      ["302 to nowhere", answer(302, "", { location: "http://127.0.0.1:1/" })],
      ["200 without a tag, and it is stored", rewriteAnswer((good) => ({ ...good, headers: {} }))]
    ] as const
  )("[kind B] %s: durable once, by the same key and bytes", ([, action]) =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      const wal = yield* openLog(store)
      yield* append(wal, "one")
      let times = 2
      double.rule((request) => isSegmentPut(request) && times-- > 0 ? action : undefined)
      yield* append(wal, "two")
      double.clearRules()
      yield* append(wal, "three")
      assert.deepStrictEqual(yield* readAll(wal), ["1:one", "2:two", "3:three"])
      const second = double.requests.filter((one) => isSegmentPut(one) && one.key.includes("000000000001.seg"))
      assert.isAtLeast(second.length, 2)
      const [first] = second
      for (const one of second) assert.deepStrictEqual(Buffer.from(one.body), Buffer.from(first?.body ?? []))
      assert.strictEqual([...double.objects.keys()].filter((key) => key.endsWith(".seg")).length, 3)
    }))
})

describe("a replace of the manifest that is answered", () => {
  it.live.each(
    [
      ["200 with an error in it, and it is stored", applied(errorAnswer(200, "InternalError"))],
      ["200 with an error in it, and nothing is stored", errorAnswer(200, "InternalError")],
      ["409, and it is stored", applied(errorAnswer(409, "OperationAborted"))],
      ["412, and it is stored", applied(errorAnswer(412, "PreconditionFailed"))]
    ] as const
  )("[kind B] %s: changed once, and nobody is fenced", ([, action]) =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      const wal = yield* openLog(store)
      yield* append(wal, "one", "two")
      yield* wal.commit(1)
      let times = 1
      double.rule((request) =>
        request.operation === "put" && request.key.endsWith("manifest.json") && times-- > 0 ? action : undefined
      )
      assert.strictEqual(yield* wal.trim(1), 1)
      yield* append(wal, "three")
      assert.deepStrictEqual(yield* readAll(wal), ["2:two", "3:three"])
      assert.strictEqual((yield* wal.status).state, "open")
    }))
})

describe("a store that looks at conditions late", () => {
  it.live("[kind B] [case 3] answers 200 with an error to every conditional create: refused by the probe, nothing left behind", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule((request) =>
        request.operation === "put" && request.headers["if-none-match"] !== undefined
          ? errorAnswer(200, "NotImplemented")
          : undefined
      )
      const error = yield* Effect.flip(Effect.scoped(openLog(store, true)))
      assert.include(["ConditionalWritesUnsupported", "StoreUnavailable"], error._tag)
      assert.strictEqual(double.objects.size, 0)
    }))
})
