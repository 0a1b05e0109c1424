/** Where time goes, by place. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { partsOf, placeOf, profileText, RoundProfiler } from "../src/Profile.ts"

const root = "/project"
const place = (url: string, functionName = "work") => placeOf({ url, functionName }, root)

describe("profile", () => {
  it("counts our sources by file, others by package, the runtime as one", () => {
    assert.strictEqual(
      place("file:///project/packages/core/src/write/Segmenter.ts"),
      "packages/core/src/write/Segmenter.ts"
    )
    assert.strictEqual(
      place("file:///project/node_modules/.pnpm/effect@4/node_modules/effect/dist/Effect.js"),
      "effect"
    )
    assert.strictEqual(
      place("file:///project/node_modules/.pnpm/@smithy+x@1/node_modules/@smithy/x/dist/index.js"),
      "@smithy/x"
    )
    assert.strictEqual(place("node:internal/crypto/hash"), "node")
    assert.strictEqual(place("", "(garbage collector)"), "(garbage collector)")
    assert.strictEqual(place("", "set"), "natives of the runtime")
  })

  it("leaves out waiting, and adds up what is small", () => {
    const frame = { scriptId: "1", lineNumber: 0, columnNumber: 0 }
    const node = (id: number, functionName: string, url: string) => ({ id, callFrame: { ...frame, functionName, url } })
    const nodes = [node(1, "(idle)", ""), node(2, "a", "node:net"), node(3, "b", "file:///project/x.ts")]
    const samples = [1, 1, 1, ...Array.from({ length: 199 }, () => 2), 3]
    const parts = partsOf([{ nodes, samples, startTime: 0, endTime: 1 }], root)
    assert.deepStrictEqual(parts, [{ at: "node", share: 0.995 }, { at: "x.ts", share: 0.005 }])
    assert.include(profileText("log", parts), "| node | 99.5 % |\n| 1 others | 0.5 % |")
  })

  it("samples the rounds of one contender only", async () => {
    const profiler = new RoundProfiler("ours")
    const hash = () => createHash("sha256").update(new Uint8Array(16_777_216)).digest("hex").length
    assert.strictEqual(await profiler.around("floor", hash), 64)
    assert.lengthOf(profiler.profiles, 0)
    assert.strictEqual(await profiler.around("ours", hash), 64)
    assert.lengthOf(profiler.profiles, 1)
    assert.isNotEmpty(partsOf(profiler.profiles, root))
  })
})
