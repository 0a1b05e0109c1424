import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  firstMissing,
  inspect,
  isMarkerOf,
  isSegmentOf,
  type ListedSlot,
  lostThrough,
  orderSlots
} from "../../src/epoch/EndOfEpoch.ts"
import { markerHeader, segmentHeader } from "../format/Samples.ts"

const listed = (...slots: ReadonlyArray<number>): ReadonlyArray<ListedSlot> =>
  slots.map((slot) => ({ slot, sizeBytes: 5_000 }))

const Slots = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })))
const Slot = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))

describe("the end of an epoch", () => {
  it.each([
    { slots: [], from: 0, end: 0 },
    { slots: [], from: 7, end: 7 },
    { slots: [0, 1, 2], from: 0, end: 3 },
    { slots: [1, 2], from: 0, end: 0 },
    { slots: [0, 1, 3], from: 0, end: 2 },
    { slots: [2, 0, 1, 1, 0], from: 0, end: 3 },
    { slots: [0, 1, 5, 6], from: 5, end: 7 },
    { slots: [0, 1], from: 5, end: 5 }
  ])("of slots $slots from $from is $end", ({ end, from, slots }) => {
    assert.strictEqual(firstMissing(orderSlots(listed(...slots), from), from), end)
  })

  it.prop("is the first number that is not listed, whatever the order", [Slots, Slot], ([slots, from]) => {
    const set = new Set(slots)
    let expected = from
    while (set.has(expected)) expected++
    const ordered = orderSlots(listed(...slots), from)
    assert.strictEqual(firstMissing(ordered, from), expected)
    assert.deepStrictEqual(
      ordered.map((one) => one.slot),
      [...set].filter((slot) => slot >= from).sort((left, right) => left - right)
    )
  })
})

describe("what is looked at before an end marker is put", () => {
  const search = { from: 0, missing: 20, window: 2, maxMarkerBytes: 1_024 }

  it("small objects in the top two windows, as those could be markers", () => {
    const slots = Array.from({ length: 20 }, (_, slot) => ({ slot, sizeBytes: slot % 2 === 0 ? 200 : 5_000 }))
    assert.deepStrictEqual(inspect(slots, search).maybeMarkers, [14, 16, 18])
  })

  it("the first two windows of what is stored above, however far above it lies", () => {
    assert.deepStrictEqual(inspect(listed(19, 21, 22, 40, 41, 42), search).above, [21, 22, 40, 41])
    assert.deepStrictEqual(inspect(listed(19, 900), search).above, [900])
    assert.deepStrictEqual(inspect(listed(19), search).above, [])
  })
})

describe("a loss", () => {
  const above = (slot: number, watermarkSlot: number, watermarkSeq: number) =>
    segmentHeader({ slot, watermarkSlot, watermarkSeq })

  it.each([
    { name: "nothing says so", left: { slot: 3, seq: 30 }, above: [], cursor: 30, through: undefined },
    { name: "a cursor is above", left: { slot: 3, seq: 30 }, above: [], cursor: 31, through: 31 },
    {
      name: "headers were sent below it",
      left: { slot: 3, seq: 30 },
      above: [above(4, 3, 30)],
      cursor: 0,
      through: undefined
    },
    { name: "a header knew the slot", left: { slot: 3, seq: 30 }, above: [above(5, 4, 40)], cursor: 0, through: 40 },
    {
      name: "the highest counts",
      left: { slot: 3, seq: 30 },
      above: [above(5, 4, 40), above(6, 6, 60)],
      cursor: 45,
      through: 60
    },
    { name: "a cursor may be highest", left: { slot: 3, seq: 30 }, above: [above(5, 4, 40)], cursor: 45, through: 45 }
  ])("$name", ({ above: headers, cursor, left, through }) => {
    assert.strictEqual(lostThrough(left, { above: headers, highestCursor: cursor }), through)
  })
})

describe("what stands in a place", () => {
  const place = { logId: "a".repeat(32), epoch: 3, slot: 17 }

  it("is its segment or its end marker only with the right log, epoch, slot and kind", () => {
    assert.isTrue(isSegmentOf(segmentHeader(place), place))
    assert.isFalse(isMarkerOf(segmentHeader(place), place))
    assert.isTrue(isMarkerOf(markerHeader(place), place))
    assert.isFalse(isSegmentOf(markerHeader(place), place))
    for (const wrong of [{ logId: "b".repeat(32) }, { epoch: 4 }, { slot: 18 }]) {
      assert.isFalse(isSegmentOf(segmentHeader({ ...place, ...wrong }), place))
      assert.isFalse(isMarkerOf(markerHeader({ ...place, ...wrong }), place))
    }
  })
})
