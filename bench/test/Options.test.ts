/** The command line of the benchmarks. */
import { assert, describe, it } from "@effect/vitest"
import { benches } from "../src/Benches.ts"
import { readOptions, usageOf } from "../src/Options.ts"

describe("options", () => {
  it("take names of benches, and nothing else", () => {
    const nothing = { names: ["encode"], json: false, quick: false, save: false, profile: undefined }
    assert.deepStrictEqual(readOptions(["encode", "--quick"], benches), { ...nothing, quick: true })
    assert.deepStrictEqual(readOptions(["--save", "encode"], benches), { ...nothing, save: true })
    assert.throws(() => readOptions(["--save", "--quick"], benches), /leave --quick out/)
    assert.deepStrictEqual(readOptions(["encode", "--profile", "ours"], benches), { ...nothing, profile: "ours" })
    assert.throws(() => readOptions(["--save", "--profile", "ours"], benches), /leave --save out/)
    assert.strictEqual(readOptions(["--help"], benches), "help")
    assert.throws(() => readOptions(["speed"], benches), /no bench speed: there are encode/)
    assert.throws(() => readOptions(["--fast"], benches), /--fast/)
  })

  it("are told with every bench", () => {
    for (const { about, name } of benches) {
      assert.include(usageOf(benches), name)
      assert.include(usageOf(benches), about)
    }
  })
})
