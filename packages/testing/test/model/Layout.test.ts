import { largeBounds, smallBounds } from "@effect-wal/testing/model/Bounds"
import { Held, layoutOf, pack, State, unpack } from "@effect-wal/testing/model/Layout"
import { describe, expect, it } from "vitest"

const bounds = [...smallBounds, ...largeBounds]

describe("the packing of a state", () => {
  it.each(bounds)("gives every number back: $name", (bound) => {
    const layout = layoutOf(bound)
    const state = new State(layout)
    const packed = new Uint32Array(layout.words)
    const back = new State(layout)
    for (const shift of [0, 5, 11]) {
      for (let at = 0; at < layout.size; at++) state.set(at, (at * 7 + shift) & 15)
      pack(state, packed)
      unpack(packed, back)
      expect(back.numbers).toEqual(state.numbers)
    }
  })

  it.each(bounds)("has no two fields in one place: $name", (bound) => {
    const layout = layoutOf(bound)
    const seen = new Map<number, string>()
    const note = (name: string, change: (state: State) => void) => {
      const state = new State(layout)
      change(state)
      const changed = [...state.numbers].flatMap((value, at) => value === 0 ? [] : [at])
      expect(changed).toHaveLength(1)
      for (const at of changed) {
        expect(seen.get(at)).toBeUndefined()
        seen.set(at, name)
      }
    }
    for (let epoch = 1; epoch <= bound.epochs; epoch++) {
      note(`end ${epoch}`, (state) => state.setEnd(epoch, 1))
      for (let slot = 0; slot < layout.keys; slot++) {
        note(`key ${epoch}/${slot}`, (state) => state.setKey(epoch, slot, Held.marker, true))
      }
    }
    for (let process = 0; process < bound.processes.length; process++) {
      for (let field = 0; field < layout.processSize; field++) {
        note(`process ${process} ${field}`, (state) => state.put(process, field, 1))
      }
    }
  })

  it("keeps what a key holds apart from a marker on its way", () => {
    const state = new State(layoutOf(bounds[0] ?? raise()))
    state.setKey(1, 1, Held.data + 3, true)
    expect(state.held(1, 1)).toBe(Held.data + 3)
    expect(state.isMarkerUnderWay(1, 1)).toBe(true)
    expect(state.held(1, 0)).toBe(Held.nothing)
  })

  it("refuses a bound whose numbers would not fit", () => {
    const bound = bounds[0] ?? raise()
    expect(() => layoutOf({ ...bound, slots: 8, consumes: true })).toThrow("epochs × slots")
    expect(() => layoutOf({ ...bound, processes: Array.from({ length: 5 }, () => "plain" as const) })).toThrow(
      "processes"
    )
    expect(() => layoutOf({ ...bound, window: 5 })).toThrow("window")
  })
})

const raise = (): never => {
  throw new Error("there are no bounds")
}
