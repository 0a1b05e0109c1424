import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Result } from "effect"
import { crc32 } from "node:zlib"
import { answer, applied, cutBody, drop, gated, ghost, storeThenDrop } from "../src/HttpS3Action.ts"
import { make } from "../src/HttpS3Double.ts"

/** A plain request to the double, without the SDK: what the double says must not depend on it. */
const call = (url: string, init: RequestInit = {}) =>
  Effect.tryPromise((signal) =>
    fetch(url, { ...init, signal }).then((response) =>
      response.text().then((text) => ({ status: response.status, text, etag: response.headers.get("etag") }))
    )
  )

const setUp = Effect.gen(function*() {
  const double = yield* make()
  const url = (key: string) => `${double.s3Options.endpoint}/double/${key}`
  const put = (key: string, body: string, headers: Record<string, string> = {}) =>
    call(url(key), { method: "PUT", body, headers })
  return { double, url, put }
})

const stored = (object: { readonly body: Uint8Array } | undefined) =>
  object === undefined ? undefined : new TextDecoder().decode(object.body)

describe("HttpS3Double", () => {
  it.effect("keeps its conditions", () =>
    Effect.gen(function*() {
      const { double, put, url } = yield* setUp
      const created = yield* put("a", "1", { "if-none-match": "*" })
      assert.strictEqual(created.status, 200)
      assert.strictEqual((yield* put("a", "2", { "if-none-match": "*" })).status, 412)
      assert.strictEqual((yield* put("a", "2", { "if-match": "\"other\"" })).status, 412)
      assert.strictEqual((yield* put("none", "2", { "if-match": created.etag ?? "" })).status, 404)
      assert.strictEqual((yield* put("a", "2", { "if-match": created.etag ?? "" })).status, 200)
      assert.deepInclude(yield* call(url("a")), { status: 200, text: "2" })
      assert.strictEqual((yield* call(url("none"))).status, 404)
      assert.deepStrictEqual([double.count("put"), double.count("get", "none")], [5, 1])
      assert.deepStrictEqual(double.requests.map((request) => request.status), [200, 412, 412, 404, 200, 200, 404])
    }))

  it.effect("drops before storing, or after", () =>
    Effect.gen(function*() {
      const { double, put } = yield* setUp
      double.rule((request) => request.key === "before" ? drop : storeThenDrop)
      assert.isTrue(Result.isFailure(yield* Effect.result(put("before", "1"))))
      assert.isTrue(Result.isFailure(yield* Effect.result(put("after", "1"))))
      assert.deepStrictEqual([...double.objects.keys()], ["after"])
    }))

  it.effect("holds a request, or only its answer, until a gate opens", () =>
    Effect.gen(function*() {
      const { double, put } = yield* setUp
      const gate = yield* Deferred.make<void>()
      double.rule((request) => request.key === "held" ? gated(gate) : applied(gated(gate)))
      const fibers = yield* Effect.forEach(["held", "stored"], (key) => Effect.forkChild(put(key, "1")))
      yield* double.until(() => double.count("put") === 2)
      assert.deepStrictEqual([...double.objects.keys()], ["stored"])
      assert.deepStrictEqual(fibers.map((fiber) => fiber.pollUnsafe()), [undefined, undefined])
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual((yield* Effect.forEach(fibers, Fiber.join)).map((one) => one.status), [200, 200])
      assert.deepStrictEqual([...double.objects.keys()].toSorted(), ["held", "stored"])
    }))

  it.effect("lets a request come late, long after its caller gave up", () =>
    Effect.gen(function*() {
      const { double, put } = yield* setUp
      const gate = yield* Deferred.make<void>()
      double.rule((request) => request.number === 1 ? ghost(gate) : undefined)
      assert.isTrue(Result.isFailure(yield* Effect.result(put("a", "ghost"))))
      assert.isFalse(double.objects.has("a"))
      yield* Deferred.succeed(gate, undefined)
      yield* double.until(() => double.objects.has("a"))
      assert.strictEqual(stored(double.objects.get("a")), "ghost")
    }))

  it.effect("cuts bodies, answers what it is told, and forgets it when the rules are cleared", () =>
    Effect.gen(function*() {
      const { double, url } = yield* setUp
      double.store("a", new Uint8Array(1000))
      double.rule(() => cutBody(10))
      assert.isTrue(Result.isFailure(yield* Effect.result(call(url("a")))))
      double.rule(() => answer(503, "busy"))
      assert.deepInclude(yield* call(url("a")), { status: 503, text: "busy" })
      double.clearRules()
      assert.strictEqual((yield* call(url("a"))).text.length, 1000)
    }))

  it.effect("asks the newest rule first, and no other once one has decided", () =>
    Effect.gen(function*() {
      const { double, put } = yield* setUp
      let asked = 0
      double.rule(() => {
        asked++
        return undefined
      })
      double.rule((request) => request.key === "a" ? answer(500) : undefined)
      assert.strictEqual((yield* put("a", "1")).status, 500)
      assert.strictEqual((yield* put("b", "1")).status, 200)
      assert.strictEqual(asked, 1)
    }))

  it.effect("removes up to 1,000 keys in a call, with a checksum that fits, as S3 does", () =>
    Effect.gen(function*() {
      const { double, put, url } = yield* setUp
      yield* put("0", "1")
      const remove = (count: number, checksumOf?: (body: string) => number) => {
        const keys = Array.from({ length: count }, (_, index) => `<Object><Key>${index}</Key></Object>`)
        const body = `<Delete>${keys.join("")}</Delete>`
        const checksum = Buffer.alloc(4)
        checksum.writeUInt32BE(checksumOf?.(body) ?? 0)
        const headers = checksumOf === undefined ? {} : { "x-amz-checksum-crc32": checksum.toString("base64") }
        return call(`${url("")}?delete`, { method: "POST", body, headers })
      }
      assert.deepInclude(yield* remove(1_001, crc32), { status: 400 })
      assert.deepInclude(yield* remove(1), { status: 400 })
      assert.deepInclude(yield* remove(1, () => 0), { status: 400 })
      assert.isTrue(double.objects.has("0"))
      assert.deepInclude(yield* remove(1_000, crc32), { status: 200 })
      assert.isFalse(double.objects.has("0"))
    }))

  it.effect("keeps the bytes that it was given, whatever becomes of the caller's", () =>
    Effect.gen(function*() {
      const { double } = yield* setUp
      const body = Uint8Array.of(1)
      const object = double.store("a", body)
      body[0] = 2
      assert.deepStrictEqual(object.body, Uint8Array.of(1))
    }))

  it.effect("lists in pages, in order, below a prefix", () =>
    Effect.gen(function*() {
      const { double } = yield* setUp
      for (const key of ["p/c", "p/a", "q", "p/b"]) double.store(key, new Uint8Array(1))
      const page = (query: string) => call(`${double.s3Options.endpoint}/double?list-type=2&${query}`)
      const keys = (text: string) => [...text.matchAll(/<Key>([^<]*)</g)].map((match) => match[1])
      const first = (yield* page("prefix=p/&max-keys=2")).text
      assert.deepStrictEqual(keys(first), ["p/a", "p/b"])
      const token = /<NextContinuationToken>([^<]*)</.exec(first)?.[1] ?? ""
      assert.deepStrictEqual(keys((yield* page(`prefix=p/&continuation-token=${token}`)).text), ["p/c"])
      assert.deepStrictEqual(keys((yield* page("prefix=p/&start-after=p/a")).text), ["p/b", "p/c"])
    }))
})
