import { StateSet } from "@effect-wal/testing/model/StateSet"
import { describe, expect, it } from "vitest"

const stateOf = (...words: ReadonlyArray<number>) => Uint32Array.from(words)

const readBack = (set: StateSet, index: number, words: number): ReadonlyArray<number> => {
  const to = new Uint32Array(words)
  set.read(index, to)
  return [...to]
}

describe("the set of visited states", () => {
  it("takes a state once, and keeps its number, its words and where it was reached from", () => {
    const set = new StateSet(2)
    expect(set.add(stateOf(1, 2), 0)).toBe(true)
    expect(set.add(stateOf(2, 1), 0)).toBe(true)
    expect(set.add(stateOf(1, 2), 1)).toBe(false)
    expect(set.add(stateOf(0xffff_ffff, 0), 1)).toBe(true)
    expect(set.size).toBe(3)
    expect(readBack(set, 2, 2)).toEqual([0xffff_ffff, 0])
    expect(set.parentOf(2)).toBe(1)
    expect(set.find(stateOf(2, 1))).toBe(1)
    expect(set.find(stateOf(2, 2))).toBe(-1)
  })

  it("tells states apart whose hashes are the same", () => {
    const set = new StateSet(1, 8, () => 5)
    for (let word = 0; word < 4; word++) expect(set.add(stateOf(word), 0)).toBe(true)
    for (let word = 0; word < 4; word++) expect(set.add(stateOf(word), 0)).toBe(false)
    expect([0, 1, 2, 3].map((word) => set.find(stateOf(word)))).toEqual([0, 1, 2, 3])
    expect(set.find(stateOf(4))).toBe(-1)
  })

  it("grows its table and its blocks, and still finds every state", () => {
    const set = new StateSet(2, 4)
    const count = 150_000
    for (let value = 0; value < count; value++) {
      if (!set.add(stateOf(value, value * 7), value === 0 ? 0 : value - 1)) throw new Error(`${value} was new`)
    }
    expect(set.size).toBe(count)
    for (let value = 0; value < count; value += 997) {
      expect(set.find(stateOf(value, value * 7))).toBe(value)
      expect(set.parentOf(value)).toBe(Math.max(0, value - 1))
    }
    expect(readBack(set, 70_000, 2)).toEqual([70_000, 490_000])
    expect(set.add(stateOf(70_000, 490_000), 0)).toBe(false)
  })
})
