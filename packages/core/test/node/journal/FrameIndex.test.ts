import { assert, describe, it } from "@effect/vitest"
import { FrameIndex } from "../../../src/node/journal/FrameIndex.ts"
import { SlotSet } from "../../../src/node/journal/SlotSet.ts"

/** Numbers that look random and are the same in each run. */
const sequence = (count: number, below: number) => {
  let state = 12_345
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  })
}

const entry = (epoch: number, slot: number, offset: number, passive = false) => ({
  epoch,
  slot,
  offset,
  bodyBytes: offset + 1,
  writtenAtMillis: offset + 2,
  passive
})

describe("FrameIndex", () => {
  it("holds what a sorted map would hold, in whatever order frames come", () => {
    const index = new FrameIndex()
    const model = new Map<number, ReturnType<typeof entry>>()
    for (const [offset, number] of sequence(2_000, 700).entries()) {
      const added = entry(Math.floor(number / 100), number % 100, offset, number % 7 === 0)
      index.add(added)
      model.set(number, added)
    }
    const sorted = [...model.entries()].sort(([left], [right]) => left - right).map(([, value]) => value)
    assert.strictEqual(index.size, sorted.length)
    assert.deepStrictEqual(sorted.map((_, row) => index.at(row)), sorted)
    for (const one of sorted) assert.deepStrictEqual(index.find(one), one)
    assert.isUndefined(index.find({ epoch: 9, slot: 0 }))
    assert.isUndefined(index.at(index.size))
    assert.deepStrictEqual(index.summary, {
      slots: sorted.length,
      holding: sorted.filter((one) => !one.passive).length,
      lowest: sorted[0],
      highest: sorted.at(-1)
    })
    assert.strictEqual(index.lowerBound({ epoch: 0, slot: 0 }), 0)
    assert.strictEqual(index.lowerBound({ epoch: 9, slot: 0 }), index.size)
  })

  it("without frames it has no lowest and no highest", () => {
    assert.deepStrictEqual(new FrameIndex().summary, { slots: 0, holding: 0, lowest: undefined, highest: undefined })
  })
})

describe("SlotSet", () => {
  it("holds what a set would hold", () => {
    const slots = new SlotSet()
    const model = new Set<number>()
    for (const [index, number] of sequence(4_000, 300).entries()) {
      const name = { epoch: Math.floor(number / 50), slot: number % 50 }
      const isAdd = index % 3 !== 0
      assert.strictEqual(isAdd ? slots.add(name) : slots.delete(name), isAdd ? !model.has(number) : model.has(number))
      if (isAdd) model.add(number)
      else model.delete(number)
      assert.strictEqual(slots.size, model.size)
    }
    for (let number = 0; number < 300; number++) {
      assert.strictEqual(slots.has({ epoch: Math.floor(number / 50), slot: number % 50 }), model.has(number))
    }
  })

  it("costs one range an epoch when slots go in order", () => {
    const slots = new SlotSet()
    for (let slot = 0; slot < 10_000; slot++) slots.add({ epoch: slot < 5_000 ? 1 : 2, slot })
    assert.deepStrictEqual([slots.size, slots.rangeCount], [10_000, 2])
  })
})
