/** What the fuzzer found in decoders, where the input is too long to be kept as bytes: each of these took minutes, or died. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { decodeRecords } from "../../src/body/RecordsJson.ts"
import { substitute } from "../../src/config/Substitution.ts"
import { problemsOf } from "../config/load.ts"

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

  it.effect("what the parser refuses is told in words, not by its codes", () =>
    Effect.gen(function*() {
      for (const text of ["a: \"\\q\"", "{a: |\n b}", "[".repeat(5_000), "a: &x &y 1", "%NOPE\n---\na: 1"]) {
        for (const { rule } of yield* problemsOf(text)) assert.notMatch(rule, /: [A-Z_]{6,}$/)
      }
    }))
})

describe("records as JSON", () => {
  it("hundreds of thousands of headers are decoded without comparing each with each", () => {
    const count = 200_000
    const headers = rows(count, (index) => `"h${index}":"",`)
    const decoded = decodeRecords(Buffer.from(`{"records":[{"payload":1,"headers":{${headers}"x":""}}]}`))
    assert.strictEqual(Object.keys(Result.getOrThrow(decoded)[0]?.headers ?? {}).length, count + 1)
  })

  it("a refusal does not repeat a name as long as the body", () => {
    const refused = Result.flip(decodeRecords(Buffer.from(`{"records":[{"${"n".repeat(100_000)}":1}]}`)))
    assert.isBelow(JSON.stringify(Result.getOrThrow(refused)).length, 500)
  })
})
