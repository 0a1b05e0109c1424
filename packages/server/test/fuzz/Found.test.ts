/** What the fuzzer found in decoders, where the input is too long to be kept as bytes: each of these took minutes, or died. */
import { resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeRecords } from "../../src/body/RecordsJson.ts"
import { substitute } from "../../src/config/Substitution.ts"
import { problemsOf } from "../config/load.ts"
import { parseBounds } from "../support/Bounds.ts"

const rows = (count: number, row: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => row(index)).join("\n")

describe("configuration", () => {
  it.effect("a file of thousands of unknown keys is reported in one pass", () =>
    Effect.gen(function*() {
      const count = 4_000
      const problems = yield* problemsOf(rows(count, (index) => `key-${index}: 1`))
      const unknown = problems.filter(({ rule }) => rule.startsWith("is not a known key"))
      assert.strictEqual(unknown.length, count)
    }))

  it("text of ${ without an end is reported without a search from each of them", () => {
    const count = 150_000
    const { problems, tree } = substitute("a}".concat("${".repeat(count), "$${"), {}, [])
    assert.deepStrictEqual([problems.length, tree], [count, "a}${"])
  })

  it.effect("lists in lists in place of a duration are refused, however deep", () =>
    Effect.gen(function*() {
      const depth = 20_000
      const nested: unknown = JSON.parse("[".repeat(depth) + "]".repeat(depth))
      const options = { nodeId: "node", streamId: "log", openTimeout: nested }
      const error = yield* Effect.flip(resolveOptions(Object(options)))
      assert.deepStrictEqual(error.problems.map(({ path }) => path), ["openTimeout"])
    }))

  it.effect("what the parser refuses is told in words, not by its codes", () =>
    Effect.gen(function*() {
      for (const text of ["a: \"\\q\"", "{a: |\n b}", "[".repeat(5_000), "a: &x &y 1", "%NOPE\n---\na: 1"]) {
        for (const { rule } of yield* problemsOf(text)) assert.notMatch(rule, /: [A-Z_]{6,}$/)
      }
    }))
})

describe("records as JSON", () => {
  it.effect("hundreds of thousands of names, where a few or none belong, are not decoded only to be refused", () =>
    Effect.gen(function*() {
      const names = `{${rows(200_000, (index) => `"h${index}":"",`)}"x":""}`
      for (
        const [record, path] of [
          [`{"payload":1,"headers":${names}}`, "headers"],
          [`{"payload":1,"headers":{"a":${names}}}`, "headers"],
          [`{"payload":1,"key":${names}}`, "key"],
          [`{"payload":1,"timestamp":${names}}`, "timestamp"],
          [`{"payload_base64":${names}}`, "payload_base64"],
          [`{"payload":1,${names.slice(1)}`, "h0"]
        ]
      ) {
        const refused = yield* Effect.flip(decodeRecords(Buffer.from(`{"records":[${record}]}`), parseBounds()))
        assert.strictEqual(refused.details?.["path"], `records[0].${path}`)
      }
    }))

  it.effect("a refusal does not repeat a name as long as the body", () =>
    Effect.gen(function*() {
      const body = Buffer.from(`{"records":[{"${"n".repeat(100_000)}":1}]}`)
      assert.isBelow(JSON.stringify(yield* Effect.flip(decodeRecords(body, parseBounds()))).length, 500)
    }))
})
