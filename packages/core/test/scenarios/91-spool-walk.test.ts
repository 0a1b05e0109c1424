/** Seeded walks of the real code with a spool on each host, and outages; see `Walk.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { extraWalks, walks, type WalkSettings } from "./Walk.ts"

const spooling = (from: number, spools: number, options: WalkSettings["options"]) =>
  Effect.gen(function*() {
    const count = 25 + extraWalks
    const { acked, spooled } = yield* walks(from, count, { options, spools })
    assert.isAbove(acked, count, "the walks must acknowledge something")
    assert.isAbove(spooled, count, "the walks must spool something")
  })

describe("random walks with spools", () => {
  it.effect("one host, one worker", () => spooling(20_001, 1, {}))
  it.effect("three hosts, one worker", () => spooling(30_001, 3, { segment: { maxEntries: 2, linger: "0ms" } }))
  it.effect("three hosts, three workers, depth two", () =>
    spooling(40_001, 3, {
      parallelPut: { workers: 3, pipelineDepth: 2 },
      manifest: { maxSegments: 3, maxDelay: "1s" },
      cursor: { interval: "200ms" },
      segment: { maxEntries: 2, linger: "0ms" }
    }))
})
