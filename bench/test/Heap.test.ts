/** Memory in use. */
import { assert, it } from "@effect/vitest"
import { usedBytes } from "../src/support/Heap.ts"

it("is what is held, buffers too, without what is garbage", () => {
  const size = 64 * 1_048_576
  const before = usedBytes()
  let held: Uint8Array | undefined = new Uint8Array(size).fill(1)
  const withIt = usedBytes()
  assert.strictEqual(held.length, size)
  held = undefined
  const without = usedBytes()
  assert.isAtLeast(withIt - before, size * 0.9)
  assert.isAtLeast(withIt - without, size * 0.9)
})
