/** Seeded walks of the real code without spools; see `Walk.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { extraWalks, walks, type WalkSettings } from "./Walk.ts"

const acknowledging = (from: number, options: WalkSettings["options"]) =>
  Effect.gen(function*() {
    const count = 25 + extraWalks
    const { acked } = yield* walks(from, count, { options })
    assert.isAbove(acked, count, "the walks must acknowledge something")
  })

describe("random walks", () => {
  it.effect("one worker", () => acknowledging(1, {}))
  it.effect("four workers, depth two, deleting", () =>
    acknowledging(10_001, {
      parallelPut: { workers: 4, pipelineDepth: 2 },
      retention: { policy: "committed" },
      manifest: { maxSegments: 3, maxDelay: "1s" },
      cursor: { interval: "200ms" },
      segment: { maxEntries: 2, linger: "0ms" }
    }))
})
