import { describe, expect, it } from "vitest"
import { chooseFault, faultKinds, type Weather } from "./acceptance/FaultPlan.ts"
import { fewestInThird, judgeFlatness, ruleText } from "./acceptance/Flatness.ts"
import { Run, seededChance } from "./acceptance/Run.ts"
import { soakLine, SoakLog } from "./acceptance/SoakLog.ts"

const repeat = (value: number, times: number): Array<number> => Array.from({ length: times }, () => value)

const tenth = { share: 0.1, constant: 5 }

describe("flat or not", () => {
  it("the last third may be above the second by the share and the constant, and not by more", () => {
    const of = (end: number) => judgeFlatness([...repeat(10, 19), ...repeat(100, 19), ...repeat(end, 19)], tenth)
    expect(of(115)).toEqual({ start: 10, middle: 100, end: 115, peak: 115, limit: 115, isFlat: true })
    expect(of(115.1).isFlat).toBe(false)
    expect(of(20).isFlat).toBe(true)
  })

  it("what grows all the time is not flat, however much it goes up and down besides", () => {
    const growing = Array.from({ length: 300 }, (_, index) => 100 + index)
    expect(judgeFlatness(growing, tenth).isFlat).toBe(false)
    const growingSaw = growing.map((value, index) => value + 50 * (index % 20))
    expect(judgeFlatness(growingSaw, tenth).isFlat).toBe(false)
  })

  it("warming up, single peaks and saw teeth are flat", () => {
    const warmingUp = Array.from({ length: 100 }, (_, index) => index)
    expect(judgeFlatness([...warmingUp, ...repeat(100, 200)], tenth).isFlat).toBe(true)
    const withPeaks = Array.from({ length: 300 }, (_, index) => index % 10 === 0 ? 10_000 : 100)
    expect(judgeFlatness(withPeaks, tenth)).toMatchObject({ peak: 10_000, isFlat: true })
    const sawTeeth = Array.from({ length: 300 }, (_, index) => 100 + index % 20)
    expect(judgeFlatness(sawTeeth, tenth).isFlat).toBe(true)
  })

  it("what falls back to where it was is flat, also when it was higher for most of the last third", () => {
    const quiet = Array.from({ length: 200 }, (_, index) => 100 + 10 * (index % 10))
    expect(judgeFlatness([...quiet, ...repeat(190, 85), ...repeat(100, 15)], tenth).isFlat).toBe(true)
    expect(judgeFlatness([...quiet, ...repeat(190, 95), ...repeat(100, 5)], tenth).isFlat).toBe(false)
  })

  it("too few samples and samples that are no numbers show nothing, so they are not flat", () => {
    const enough = repeat(100, 3 * fewestInThird)
    expect(judgeFlatness(enough, tenth).isFlat).toBe(true)
    expect(judgeFlatness(enough.slice(1), tenth).isFlat).toBe(false)
    expect(judgeFlatness([], tenth).isFlat).toBe(false)
    expect(judgeFlatness([...enough, Number.NaN], tenth).isFlat).toBe(false)
  })

  it("the rule is told in words", () => {
    expect(ruleText(tenth, "MiB")).toBe(
      "the lowest tenth of the last third is at most that of the second third + 10 % + 5 MiB"
    )
  })
})

describe("faults by chance", () => {
  const put = { changes: true, bodyBytes: 100 }
  const faultsOf = (seed: number, weather: Weather, request = put, times = 20_000) => {
    const chance = seededChance(seed)
    return Array.from({ length: times }, () => chooseFault(chance, weather, request))
  }

  it("the same seed gives the same faults, another one others", () => {
    expect(faultsOf(7, "rough")).toEqual(faultsOf(7, "rough"))
    expect(faultsOf(7, "rough")).not.toEqual(faultsOf(8, "rough"))
  })

  it("in rough weather each kind comes up, and most requests pass", () => {
    const faults = faultsOf(1, "rough")
    for (const kind of faultKinds) expect(faults, kind).toContain(kind)
    const passed = faults.filter((fault) => fault === undefined).length
    expect(passed / faults.length).toBeGreaterThan(0.8)
    expect(passed / faults.length).toBeLessThan(0.95)
  })

  it("in calm weather there are none, in an outage nothing passes", () => {
    expect(new Set(faultsOf(1, "calm"))).toEqual(new Set([undefined]))
    expect(faultsOf(1, "outage")).not.toContain(undefined)
  })

  it("only what changes the store can come back as a ghost, only a body can be cut", () => {
    const get = { changes: false, bodyBytes: 0 }
    const faults = new Set([...faultsOf(1, "rough", get), ...faultsOf(1, "outage", get)])
    expect(faults).not.toContain("ghosts")
    expect(faults).not.toContain("cutRequestBody")
    expect(faults).toContain("cutAnswerBody")
  })
})

describe("the judge of what is read while records are deleted", () => {
  const log = () => {
    const run = new Run("test")
    const judged = new SoakLog(run, "pair")
    judged.ledger.take(10)
    return { run, judged }
  }
  const line = (ordinal: number) => Buffer.from(soakLine(ordinal))
  const durable = (firstSeq: number) => ({ level: "durable", epoch: 1, firstSeq } as const)

  it("takes what is read again, and what is read before or after its acknowledgement", () => {
    const { judged, run } = log()
    judged.note([0, 1], durable(1))
    judged.saw(1, line(0))
    judged.saw(2, line(1))
    judged.saw(1, line(0))
    judged.saw(3, line(2))
    judged.note([2], durable(3))
    judged.ledger.judge(judged.seen)
    expect(run.ok).toBe(true)
  })

  it.each<readonly [string, (judged: SoakLog) => void]>([
    ["another record under an acknowledged number", (judged) => {
      judged.note([0], durable(1))
      judged.saw(1, line(1))
    }],
    ["an acknowledgement of a number that was read as another record", (judged) => {
      judged.saw(1, line(1))
      judged.note([0], durable(1))
    }],
    ["two acknowledgements of one number", (judged) => {
      judged.note([0], durable(1))
      judged.note([1], durable(1))
    }],
    ["a number that is read as two records", (judged) => {
      judged.saw(1, line(0))
      judged.saw(1, line(1))
    }],
    ["a record that nobody has sent", (judged) => judged.saw(1, line(10))],
    ["other bytes than were sent", (judged) => judged.saw(1, Buffer.from(soakLine(3).replace("xx", "xy")))],
    ["an acknowledged record that nobody ever read", (judged) => {
      judged.note([0], durable(1))
      judged.ledger.judge(judged.seen)
    }],
    ["a record that was refused", (judged) => {
      judged.refuse([0])
      judged.saw(1, line(0))
      judged.ledger.judge(judged.seen)
    }],
    ["a record under two numbers", (judged) => {
      judged.saw(1, line(0))
      judged.saw(2, line(0))
      judged.ledger.judge(judged.seen)
    }]
  ])("sees %s", (_, happens) => {
    const { judged, run } = log()
    happens(judged)
    expect(run.ok).toBe(false)
  })
})
