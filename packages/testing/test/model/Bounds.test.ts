import { unlimited } from "@effect-wal/testing/model/Bound"
import { smallBounds } from "@effect-wal/testing/model/Bounds"
import { findStuck } from "@effect-wal/testing/model/Progress"
import { rulesWithout } from "@effect-wal/testing/model/Rules"
import { explore } from "@effect-wal/testing/model/Search"
import { describe, expect, it } from "vitest"

/** States of each bound: another number means that the model has changed. */
const statesOf: Readonly<Record<string, number>> = {
  "takeover-ci": 14_764,
  "checkpoint-ci": 13_753,
  "trim-ci": 7_661,
  "sweep-ci": 6_007,
  "barrier-ci": 7_066,
  "busy-ci": 237_923,
  "window-ci": 300_361,
  "spool-ci": 109_590,
  "spool-window-ci": 3_874,
  "spool-twice-ci": 145_779,
  "spool-trim-ci": 15_199,
  "producers-ci": 5_557,
  "spool-producers-ci": 22_924
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
