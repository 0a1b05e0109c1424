import { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { checkInput, kindOf, makeInput, runFuzz } from "@effect-wal/testing/fuzz/FuzzRun"
import { finding, type FuzzTarget } from "@effect-wal/testing/fuzz/FuzzTarget"
import { mutateBytes } from "@effect-wal/testing/fuzz/MutateBytes"
import { mutateJson, nodeOf, renderJson } from "@effect-wal/testing/fuzz/MutateJson"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"

/** Breaks a rule where a byte is 7, and dies where one is 9. */
const fragile: FuzzTarget = {
  name: "fragile",
  make: (random) => random.bytes(random.below(60)),
  check: (input) => {
    if (input.includes(7)) return Effect.fail(finding(`a seven at ${input.indexOf(7)}`))
    if (input.includes(9)) throw new RangeError("nine")
    return Effect.succeed(input.length % 2 === 0 ? {} : { refused: "Odd", reason: `${input.length} bytes` })
  }
}

describe("a fuzz run", () => {
  it.effect("has the same inputs for the same seed, byte for byte, and others for another", () =>
    Effect.gen(function*() {
      const request = { seed: 1, inputs: 500, maxFailures: 1_000 }
      const one = yield* runFuzz(fragile, request)
      assert.deepStrictEqual(yield* runFuzz(fragile, request), one)
      assert.notStrictEqual((yield* runFuzz(fragile, { ...request, seed: 2 })).inputsCrc32, one.inputsCrc32)
    }))

  it.effect("makes input n the same, whatever came before it", () =>
    Effect.gen(function*() {
      const all: Array<string> = []
      const kept = { ...fragile, check: () => Effect.succeed({}) }
      const noting = {
        ...kept,
        make: (random: FuzzRandom) => {
          const input = fragile.make(random)
          all.push(input.join())
          return input
        }
      }
      yield* runFuzz(noting, { seed: 3, inputs: 20 })
      assert.deepStrictEqual(all.map((_, index) => makeInput(kept, 3, index).join()), all)
    }))

  it.effect("counts what is decoded and what is refused, and tells reasons apart without their numbers", () =>
    Effect.gen(function*() {
      const calm = { ...fragile, make: (random: FuzzRandom) => new Uint8Array(random.below(10)) }
      const report = yield* runFuzz(calm, { seed: 1, inputs: 200 })
      assert.strictEqual(report.ok + report.typed, 200)
      assert.deepStrictEqual([...report.reasons], [["Odd: # bytes", report.typed]])
      assert.strictEqual(kindOf("found \"a 1\" at 12.5"), "found … at #")
    }))

  it.effect("takes a broken rule and a defect for a failure, and makes the input small", () =>
    Effect.gen(function*() {
      const report = yield* runFuzz(fragile, { seed: 1, inputs: 1_000, maxFailures: 1_000 })
      const sevens = report.failures.filter(({ problem }) => problem.startsWith("a seven"))
      const nines = report.failures.filter(({ problem }) => problem.startsWith("a defect: RangeError: nine"))
      assert.isAbove(sevens.length, 0)
      assert.isAbove(nines.length, 0)
      assert.strictEqual(sevens.length + nines.length, report.failures.length)
      for (const { shrunk } of sevens) assert.deepStrictEqual([...shrunk], [7])
      for (const { shrunk } of nines) assert.deepStrictEqual([...shrunk], [9])
    }))

  it.effect("ends after so many failures", () =>
    Effect.gen(function*() {
      const report = yield* runFuzz(fragile, { seed: 1, inputs: 100_000, maxFailures: 3 })
      assert.strictEqual(report.failures.length, 3)
      assert.isBelow(report.inputs, 1_000)
    }))

  it.effect("checks one input as the run does", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* checkInput(fragile, Uint8Array.of(7)), Result.fail("a seven at 0"))
      assert.deepStrictEqual(yield* checkInput(fragile, Uint8Array.of(1, 2)), Result.succeed({}))
    }))
})

describe("mutations", () => {
  it("of bytes are the same for the same seed and stay within their bound", () => {
    const mutated = (seed: number) => {
      let bytes = new Uint8Array(100)
      const random = new FuzzRandom(seed, 0)
      for (let round = 0; round < 2_000; round++) bytes = new Uint8Array(mutateBytes(random, bytes))
      return bytes
    }
    assert.deepStrictEqual(mutated(1), mutated(1))
    assert.isAtMost(mutated(2).length, 65_536)
    assert.strictEqual(mutateBytes(new FuzzRandom(1, 1), new Uint8Array(0), 20).length <= 320, true)
  })

  it("of JSON start from the text of the value and reach doubled names, numbers without range and deep nesting", () => {
    const value = { a: [1, "x", null], b: { c: true } }
    assert.strictEqual(renderJson(nodeOf(value)), JSON.stringify(value))
    const texts = Array.from({ length: 3_000 }, (_, index) => {
      const node = nodeOf(value)
      mutateJson(new FuzzRandom(1, index), node)
      return renderJson(node)
    })
    for (const part of ["1e400", "__proto__", "\\ud800", "[[[[[[[["]) {
      assert.isTrue(texts.some((text) => text.includes(part)), part)
    }
    assert.isTrue(texts.some((text) => text.split("\"a\":").length > 2), "no name twice")
  })

  it("numbers are spread over their range", () => {
    const random = new FuzzRandom(5, 5)
    const counts = new Array<number>(8).fill(0)
    for (let draw = 0; draw < 8_000; draw++) {
      const at = random.below(8)
      counts[at] = (counts[at] ?? 0) + 1
    }
    for (const count of counts) assert.approximately(count, 1_000, 150)
    assert.strictEqual(random.below(0), 0)
    assert.throws(() => random.pick([]))
  })
})
