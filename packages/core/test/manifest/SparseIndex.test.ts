import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { compareBoundaries } from "../../src/format/Boundary.ts"
import { SparseIndex, thinIndex } from "../../src/manifest/SparseIndex.ts"
import { boundary } from "../format/Samples.ts"

const entries = (count: number) => Array.from({ length: count }, (_, index) => boundary(1, index + 1, (index + 1) * 10))
const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 }))
const Max = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))

describe("the sparse index", () => {
  it("finds the last boundary before a number, at most a number, and before a time", () => {
    const index = new SparseIndex([boundary(1, 1, 10, 100), boundary(1, 2, 20, 200), boundary(2, 1, 30, 300)], 100)
    assert.isUndefined(index.before(10))
    assert.strictEqual(index.before(11)?.seq, 10)
    assert.strictEqual(index.atMost(10)?.seq, 10)
    assert.isUndefined(index.atMost(9))
    assert.strictEqual(index.atMost(999)?.seq, 30)
    assert.strictEqual(index.olderThan(201)?.seq, 20)
    assert.isUndefined(index.olderThan(100))
    assert.strictEqual(index.after({ epoch: 1, slot: 2 })?.seq, 30)
  })

  it("leaves out what does not lie after all there is", () => {
    const index = new SparseIndex(entries(3), 100)
    index.add(boundary(1, 3, 30))
    index.add(boundary(1, 2, 20))
    assert.strictEqual(index.all.length, 3)
  })

  it("keeps a point once that is given twice, as ends are that stand in a manifest's index too", () => {
    const index = new SparseIndex([...entries(3), ...entries(3)], 100)
    assert.deepStrictEqual(index.all, entries(3))
  })

  it.prop("stays bounded, ascending, and keeps the newest half dense", [Size, Max], ([count, max]) => {
    const capacity = Math.max(4, max)
    const index = new SparseIndex([], capacity)
    for (const entry of entries(count)) index.add(entry)
    assert.isAtMost(index.all.length, capacity)
    assert.strictEqual(index.all.at(-1)?.slot, count === 0 ? undefined : count)
    for (let at = 1; at < index.all.length; at++) {
      const [left, right] = [index.all[at - 1], index.all[at]]
      assert.isTrue(left !== undefined && right !== undefined && compareBoundaries(left, right) < 0)
    }
    const newest = Math.min(count, Math.floor(capacity / 2))
    assert.deepStrictEqual(
      index.all.slice(index.all.length - newest).map((entry) => entry.slot),
      Array.from({ length: newest }, (_, at) => count - newest + at + 1)
    )
  })

  it.prop("is thinned to at most so many, the newest among them", [Size, Max], ([count, max]) => {
    const thinned = thinIndex(entries(count), max)
    assert.isAtMost(thinned.length, max)
    assert.isAtLeast(thinned.length, Math.min(count, Math.floor(max / 2)))
    assert.strictEqual(thinned.at(-1)?.slot, count === 0 ? undefined : count)
  })

  it("forgets what is trimmed", () => {
    const index = new SparseIndex(entries(5), 100)
    index.dropThrough({ epoch: 1, slot: 3 })
    assert.deepStrictEqual(index.all.map((entry) => entry.slot), [4, 5])
    index.dropThrough({ epoch: 1, slot: 3 })
    assert.strictEqual(index.all.length, 2)
    index.dropThrough({ epoch: 2, slot: 0 })
    assert.deepStrictEqual(index.all, [])
  })

  it("answers what lies after a point, and nothing at or below it", () => {
    const index = new SparseIndex([...entries(2), boundary(2, 1, 30)], 100)
    const above = (epoch: number, slot: number) => index.above({ epoch, slot }).map((entry) => entry.seq)
    assert.deepStrictEqual([above(0, 0), above(1, 1), above(1, 2), above(2, 1)], [[10, 20, 30], [20, 30], [30], []])
    assert.strictEqual(index.all.length, 3)
  })
})
