import { answer, errorAnswer } from "@effect-wal/testing/HttpS3Action"
import type { DoubleObject, DoubleOperation } from "@effect-wal/testing/HttpS3Model"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bytes, setUp, text } from "./support.ts"

type Etag = (object: DoubleObject, operation: DoubleOperation) => string

describe("tags", () => {
  const spellings: ReadonlyArray<readonly [name: string, etag: Etag]> = [
    ["an MD5", (object) => `"9b2cf535f27731c9743436${String(object.version).padStart(10, "0")}"`],
    ["a multipart tag", (object) => `"9b2cf535f27731c974343645a3985328-${object.version}"`],
    [
      "one with -gzip on GET",
      (object, operation) => operation === "get" ? `"AAAB${object.version}-gzip"` : `"AAAB${object.version}"`
    ],
    ["one without quotes", (object) => `opaque-no-quotes-${object.version}`],
    ["one with a colon", (object) => `"0x8DDBEEF:${object.version}"`]
  ]
  for (const [name, etag] of spellings) {
    it.effect(`[case 4] ${name}: 20 replaces are 20 PUTs, the tag sent back as it came`, () =>
      Effect.gen(function*() {
        const { double, store } = yield* setUp({ etag })
        let tag = yield* store.create("manifest.json", bytes("0"))
        for (let round = 1; round <= 20; round++) {
          const next = yield* store.replace("manifest.json", bytes(`${round}`), tag)
          assert.strictEqual(double.requests.at(-1)?.headers["if-match"], tag)
          tag = next
        }
        assert.strictEqual(double.count(), 21)
      }))

    it.effect(`[case 4] ${name}: a replace by the tag of a GET`, () =>
      Effect.gen(function*() {
        const { store } = yield* setUp({ etag })
        yield* store.create("manifest.json", bytes("0"))
        yield* store.replace("manifest.json", bytes("1"), (yield* store.get("manifest.json")).tag)
        assert.strictEqual(text((yield* store.get("manifest.json")).body), "1")
      }))
  }

  it.effect("[case 4] a tag with -gzip is kept when the object changed between GET and HEAD", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({
        etag: (object, operation) => operation === "get" ? `"v${object.version}-gzip"` : `"v${object.version}"`
      })
      yield* store.create("manifest.json", bytes("old"))
      double.rule((request) => {
        if (request.operation === "head") double.store("manifest.json", bytes("new"))
        return undefined
      })
      const got = yield* store.get("manifest.json")
      assert.deepStrictEqual([text(got.body), got.tag], ["old", "\"v1-gzip\""])
      assert.strictEqual(
        (yield* Effect.flip(store.replace("manifest.json", bytes("lost"), got.tag))).reason,
        "PreconditionFailed"
      )
      assert.strictEqual(text((yield* store.get("manifest.json")).body), "new")
    }))

  it.effect("[case 4] what was read stays read when a HEAD for its tag finds nothing", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({
        etag: (object, operation) => operation === "get" ? `"v${object.version}-gzip"` : `"v${object.version}"`
      })
      yield* store.create("manifest.json", bytes("old"))
      double.rule((request) => request.operation === "head" ? errorAnswer(404, "NoSuchBucket") : undefined)
      const got = yield* store.get("manifest.json")
      assert.deepStrictEqual([text(got.body), got.tag], ["old", "\"v1-gzip\""])
    }))

  it.effect("[case 4] a weak tag is UnexpectedResponse that asks for a strong one, without a request", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ etag: () => "W/\"AAAB\"" })
      const tag = yield* store.create("manifest.json", bytes("0"))
      const error = yield* Effect.flip(store.replace("manifest.json", bytes("1"), tag))
      assert.strictEqual(error.reason, "UnexpectedResponse")
      assert.include(error.detail, "strong tag")
      assert.strictEqual(double.count(), 1)
    }))

  it.effect("[case 4] a store that wants tags unquoted: found out once, then 20 replaces are 20 PUTs", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ ifMatch: "unquoted" })
      let tag = yield* store.create("manifest.json", bytes("0"))
      tag = yield* store.replace("manifest.json", bytes("1"), tag)
      assert.deepStrictEqual(double.requests.map((request) => request.operation), ["put", "put", "head", "put"])
      for (let round = 2; round <= 21; round++) tag = yield* store.replace("manifest.json", bytes(`${round}`), tag)
      assert.strictEqual(double.count("put"), 23)
      assert.strictEqual(double.count("head"), 1)
      assert.strictEqual(
        (yield* Effect.flip(store.replace("manifest.json", bytes("x"), "\"stale\""))).reason,
        "PreconditionFailed"
      )
    }))

  it.effect("[case 4] a stale tag before the spelling is known is refused, and no second write is tried", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ ifMatch: "unquoted" })
      yield* store.create("manifest.json", bytes("0"))
      assert.strictEqual(
        (yield* Effect.flip(store.replace("manifest.json", bytes("x"), "\"stale\""))).reason,
        "PreconditionFailed"
      )
      assert.deepStrictEqual(double.requests.map((request) => request.operation), ["put", "put", "head"])
    }))

  it.effect("[case 4] 8 replaces at once before the spelling is known: one wins", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp({ ifMatch: "unquoted" })
      const tag = yield* store.create("manifest.json", bytes("0"))
      const reasons = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, index) => `writer ${index}`),
        (body) =>
          Effect.match(store.replace("manifest.json", bytes(body), tag), {
            onSuccess: () => "won",
            onFailure: (error) => error.reason
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(reasons.toSorted(), [...Array<string>(7).fill("PreconditionFailed"), "won"])
    }))

  it.effect("[case 4] when the look at the object fails, the 412 is not passed on as final", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ ifMatch: "unquoted" })
      const tag = yield* store.create("manifest.json", bytes("0"))
      double.rule((request) => request.operation === "head" ? answer(500) : undefined)
      assert.strictEqual((yield* Effect.flip(store.replace("manifest.json", bytes("1"), tag))).reason, "Unavailable")
      double.clearRules()
      yield* store.replace("manifest.json", bytes("1"), tag)
    }))

  for (const [quoting, sent] of [["quoted", "\"v1\""], ["unquoted", "v1"]] as const) {
    it.effect(`[case 4] etagQuoting ${quoting} always sends ${sent}`, () =>
      Effect.gen(function*() {
        const { double, store } = yield* setUp({ ifMatch: "both", etag: (object) => `"v${object.version}"` }, {
          etagQuoting: quoting
        })
        const tag = yield* store.create("manifest.json", bytes("0"))
        yield* store.replace("manifest.json", bytes("1"), tag)
        assert.strictEqual(double.requests.at(-1)?.headers["if-match"], sent)
      }))
  }
})
