import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { presets } from "../../src/config/Presets.ts"
import { decideSeal, type SealSettings, type SealSituation } from "../../src/write/SealPolicy.ts"
import { endOfFitting, isFullFor, sealsFor } from "../../src/write/SegmentLimits.ts"

const settings: SealSettings = {
  maxEntries: 10,
  maxBytes: 1_000,
  flushIntervalMillis: 1_000,
  lingerMillis: 100,
  sync: "group_commit"
}

const quiet: SealSituation = {
  nowMillis: 5_000,
  open: { openedAt: 5_000, entries: 1, contentBytes: 1 },
  queueHasRoom: true,
  workerFree: true,
  withinBudgetAt: 0,
  demanded: false,
  roomWanted: false,
  flush: "none"
}
const open = (entries: number, contentBytes: number, openedAt = 5_000) => ({
  open: { openedAt, entries, contentBytes }
})
const seal = (reason: string) => ({ _tag: "Seal", reason })
const until = (atMillis: number) => ({ _tag: "WaitUntil", atMillis })
const stretched = (stretchedFrom: number, atMillis: number) => ({ _tag: "WaitUntil", atMillis, stretchedFrom })
const wait = { _tag: "Wait" }

const table: ReadonlyArray<readonly [string, Partial<SealSituation>, Partial<SealSettings>, object]> = [
  ["nothing open, whatever is asked", { open: undefined, demanded: true, flush: "close" }, {}, wait],
  ["no room in the queue, whatever is asked", { queueHasRoom: false, flush: "flush", ...open(10, 0) }, {}, wait],
  ["one entry short", open(9, 0), {}, until(6_000)],
  ["max_entries", open(10, 0), {}, seal("entries")],
  ["one byte short", open(1, 999), {}, until(6_000)],
  ["max_bytes", open(1, 1_000), {}, seal("bytes")],
  ["flush", { flush: "flush" }, {}, seal("flush")],
  ["close", { flush: "close" }, {}, seal("close")],
  ["interval not over", { ...open(1, 1, 4_001) }, {}, until(5_001)],
  ["interval over", { ...open(1, 1, 4_000) }, {}, seal("interval")],
  ["demand within linger", { demanded: true, ...open(1, 1, 4_901) }, {}, until(5_001)],
  ["demand after linger", { demanded: true, ...open(1, 1, 4_900) }, {}, seal("demand")],
  ["demand, no linger", { demanded: true }, { lingerMillis: 0 }, seal("demand")],
  ["demand, all workers busy", { demanded: true, workerFree: false, ...open(1, 1, 4_500) }, {}, until(5_500)],
  ["demand, linger as long as the interval", { demanded: true }, { lingerMillis: 1_000 }, until(6_000)],
  ["demand, linger longer than the interval", { demanded: true }, { lingerMillis: 9_000 }, until(6_000)],
  ["periodic: demand does not seal", { demanded: true, ...open(1, 1, 4_500) }, { sync: "periodic" }, until(5_500)],
  ["periodic: interval", { demanded: true, ...open(1, 1, 4_000) }, { sync: "periodic" }, seal("interval")],
  ["periodic: size", open(10, 0), { sync: "periodic" }, seal("entries")],
  ["periodic: room", { roomWanted: true, ...open(1, 1, 4_800) }, { sync: "periodic" }, seal("demand")],
  ["room wanted", { roomWanted: true, ...open(1, 1, 4_800) }, {}, seal("demand")],
  ["beyond the budget", { demanded: true, withinBudgetAt: 5_400, ...open(1, 1, 4_800) }, {}, stretched(4_900, 5_400)],
  ["within linger, beyond the budget", { demanded: true, withinBudgetAt: 5_400 }, {}, stretched(5_100, 5_400)],
  ["within the budget before linger is over", { demanded: true, withinBudgetAt: 5_050 }, {}, until(5_100)],
  ["within the budget now", { demanded: true, withinBudgetAt: 5_000, ...open(1, 1, 4_800) }, {}, seal("demand")],
  ["never beyond the interval", { demanded: true, withinBudgetAt: 9_000 }, {}, stretched(5_100, 6_000)],
  [
    "beyond the budget: interval",
    { demanded: true, withinBudgetAt: 9_000, ...open(1, 1, 4_000) },
    {},
    seal("interval")
  ],
  ["beyond the budget: entries", { demanded: true, withinBudgetAt: 9_000, ...open(10, 0) }, {}, seal("entries")],
  ["beyond the budget: bytes", { demanded: true, withinBudgetAt: 9_000, ...open(1, 1_000) }, {}, seal("bytes")],
  ["beyond the budget: flush", { demanded: true, withinBudgetAt: 9_000, flush: "flush" }, {}, seal("flush")],
  ["beyond the budget: close", { demanded: true, withinBudgetAt: 9_000, flush: "close" }, {}, seal("close")],
  ["beyond the budget: nobody waits", { withinBudgetAt: 9_000 }, {}, until(6_000)],
  [
    "beyond the budget: room wanted",
    { demanded: true, roomWanted: true, withinBudgetAt: 9_000, ...open(1, 1, 4_800) },
    {},
    seal("demand")
  ]
]

describe("SealPolicy", () => {
  for (const [name, situation, overrides, expected] of table) {
    it(name, () => {
      assert.deepStrictEqual<object>(decideSeal({ ...settings, ...overrides }, { ...quiet, ...situation }), expected)
    })
  }

  it("presets linger 1 s, 100 ms, 5 ms: always shorter than their interval", () => {
    const lingers = [presets.aggressive, presets.balanced, presets.low_latency].map(({ linger }) =>
      Duration.toMillis(linger)
    )
    assert.deepStrictEqual(lingers, [1_000, 100, 5])
  })
})

describe("SegmentLimits", () => {
  const limits = { maxEntries: 3, maxBytes: 100, maxSegmentBytes: 10_000 }

  it("an empty segment takes any record", () => {
    assert.isFalse(isFullFor(limits, { entries: 0, contentBytes: 0 }, 1_000_000))
  })

  it("counts the segments that a batch needs, after what is open", () => {
    const empty = { entries: 0, contentBytes: 0 }
    assert.strictEqual(sealsFor(limits, empty, []), 0)
    assert.strictEqual(sealsFor(limits, empty, [50, 50]), 0)
    assert.strictEqual(sealsFor(limits, empty, [50, 51]), 1)
    assert.strictEqual(sealsFor(limits, { entries: 1, contentBytes: 60 }, [50, 50]), 1)
    assert.strictEqual(sealsFor(limits, empty, [1, 1, 1, 1, 1, 1, 1]), 2)
    assert.strictEqual(sealsFor(limits, empty, [1, 500, 1]), 2)
    assert.strictEqual(sealsFor({ ...limits, maxEntries: 1_000, maxSegmentBytes: 150 }, empty, [0, 0, 0, 0, 0]), 1)
  })

  it("says up to where a batch goes into what is open", () => {
    const empty = { entries: 0, contentBytes: 0 }
    assert.strictEqual(endOfFitting(limits, empty, [50, 50, 1], 0), 2, "full by bytes")
    assert.strictEqual(endOfFitting(limits, empty, [50, 51, 1], 0), 1, "the next would be too much")
    assert.strictEqual(endOfFitting(limits, empty, [0, 0, 0, 0], 0), 3, "full by entries")
    assert.strictEqual(endOfFitting(limits, { entries: 1, contentBytes: 60 }, [9, 9, 9], 1), 3, "to the end")
    assert.strictEqual(endOfFitting(limits, empty, [500, 1], 0), 1, "an empty one takes any")
    assert.strictEqual(endOfFitting({ ...limits, maxEntries: 9, maxSegmentBytes: 150 }, empty, [0, 0, 0, 0, 0], 0), 4)
  })
})
