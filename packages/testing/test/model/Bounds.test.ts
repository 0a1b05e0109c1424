import { unlimited } from "@effect-wal/testing/model/Bound"
import { smallBounds } from "@effect-wal/testing/model/Bounds"
import { findStuck } from "@effect-wal/testing/model/Progress"
import { rulesWithout } from "@effect-wal/testing/model/Rules"
import { explore } from "@effect-wal/testing/model/Search"
import { describe, expect, it } from "vitest"

/** States of each bound: another number means that the model has changed. */
const statesOf: Readonly<Record<string, number>> = {
  "takeover-ci": 8_170,
  "checkpoint-ci": 7_579,
  "trim-ci": 7_041,
  "sweep-ci": 5_421,
  "barrier-ci": 3_702,
  "busy-ci": 72_479,
  "window-ci": 44_009,
  "spool-ci": 36_368,
  "spool-window-ci": 2_958,
  "spool-twice-ci": 53_695,
  "spool-trim-ci": 10_648,
  "producers-ci": 3_543,
  "spool-producers-ci": 12_954
}

/** Whether the log can always go on is asked here of bounds up to this size; `pnpm model` asks it of larger ones too. */
const mostStatesOfProgress = 40_000

describe("the model of the protocol, explored completely", () => {
  it.each(smallBounds)("keeps every promise: $name, $about", (bound) => {
    const explored = explore(bound, rulesWithout(), { mostStates: 1_000_000 })
    expect(explored.violation).toBeUndefined()
    expect(explored.isCut).toBe(false)
    expect(explored.states.size).toBe(statesOf[bound.name])
    if (bound.calls > 0 || bound.records < unlimited || explored.states.size > mostStatesOfProgress) return
    expect(findStuck(explored)).toBeUndefined()
  })

  it("says so where not all was seen", () => {
    const [bound] = smallBounds
    if (bound === undefined) throw new Error("there are no bounds")
    const explored = explore(bound, rulesWithout(), { mostStates: 1_000 })
    expect(explored.isCut).toBe(true)
    expect(explored.violation).toBeUndefined()
  })
})
