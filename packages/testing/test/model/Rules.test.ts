import { largeBounds, smallBounds } from "@effect-wal/testing/model/Bounds"
import { describeWay } from "@effect-wal/testing/model/Describe"
import { brokenPromise, brokenStep } from "@effect-wal/testing/model/Promises"
import { ruleNames, rulesWithout, ruleTable } from "@effect-wal/testing/model/Rules"
import { explore, wayTo } from "@effect-wal/testing/model/Search"
import { describe, expect, it } from "vitest"

const bounds = [...smallBounds, ...largeBounds]

const boundNamed = (name: string) => {
  const bound = bounds.find((one) => one.name === name)
  if (bound === undefined) throw new Error(`there is no bound ${name}`)
  return bound
}

describe("the model of the protocol without one of its rules", () => {
  it.each(ruleNames)("breaks a promise: %s", (rule) => {
    const explored = explore(boundNamed(ruleTable[rule].bound), rulesWithout(rule), { mostStates: 1_000_000 })
    expect(explored.violation).toBeDefined()
    const way = wayTo(explored, explored.violation?.state ?? 0)
    // The way leads there step by step, and nothing is broken before its last one.
    expect(way.slice(1).every(({ step }) => step !== undefined)).toBe(true)
    expect(way.slice(0, -1).map(({ state }) => brokenPromise(state))).toEqual(way.slice(0, -1).map(() => undefined))
    const [before, last] = way.slice(-2)
    if (before === undefined || last === undefined) throw new Error("the way has no step")
    expect(brokenPromise(last.state) ?? brokenStep(before.state, last.state)).toBe(explored.violation?.text)
  })

  it("shows the way in words", () => {
    const explored = explore(boundNamed("takeover-ci"), rulesWithout("acks-in-order"), { mostStates: 100_000 })
    const lines = describeWay(wayTo(explored, explored.violation?.state ?? 0))
    expect(lines.map((line) => line.slice(5).split("  ")[0])).toEqual([
      "A: starts, and reads the manifest",
      "A: claims the manifest: epoch 1",
      "A: activates its epoch",
      "A: sends slot 0",
      "A: sends slot 1",
      "A: slot 1 lands",
      "A: slot 1 is confirmed"
    ])
  })
})
