import { assert, describe, it } from "@effect/vitest"
import { decideCommit, type ManifestSituation } from "../../src/manifest/ManifestPolicy.ts"

const settings = { maxSegments: 8, maxDelayMillis: 10_000, cursorIntervalMillis: 1_000, cursorMaxEntries: 100 }

const decide = (change: Partial<ManifestSituation>) =>
  decideCommit(settings, {
    nowMillis: 5_000,
    pendingSegments: 0,
    pendingSinceMillis: undefined,
    requested: false,
    wanted: false,
    cursorDirtySinceMillis: undefined,
    cursorUnstoredRecords: 0,
    carrierDueMillis: undefined,
    notBeforeMillis: 0,
    ...change
  })

const commit = { _tag: "Commit" }
const until = (atMillis: number) => ({ _tag: "WaitUntil", atMillis })

describe("when the manifest is written", () => {
  it.each<readonly [string, Partial<ManifestSituation>, object]>([
    ["never while nothing has changed", {}, { _tag: "Wait" }],
    ["at once when somebody waits", { requested: true, notBeforeMillis: 9_000 }, commit],
    ["at once when it is wanted", { wanted: true, pendingSegments: 1, pendingSinceMillis: 3_000 }, commit],
    [
      "after a failure not before its time, though it is wanted",
      { wanted: true, notBeforeMillis: 9_000 },
      until(9_000)
    ],
    ["after max_delay", { pendingSegments: 1, pendingSinceMillis: 3_000 }, until(13_000)],
    ["at max_delay", { pendingSegments: 1, pendingSinceMillis: 3_000, nowMillis: 13_000 }, commit],
    ["not one segment before the batch is full", { pendingSegments: 7, pendingSinceMillis: 3_000 }, until(13_000)],
    ["at max_segments", { pendingSegments: 8, pendingSinceMillis: 3_000 }, commit],
    ["after a failure not before its time", {
      pendingSegments: 8,
      pendingSinceMillis: 3_000,
      notBeforeMillis: 7_000
    }, until(7_000)],
    ["for a cursor after its interval", { cursorDirtySinceMillis: 4_500 }, until(5_500)],
    ["for a cursor at its interval", { cursorDirtySinceMillis: 4_000 }, commit],
    ["for a cursor that has moved far", { cursorDirtySinceMillis: 4_999, cursorUnstoredRecords: 100 }, commit],
    ["not for a cursor that a segment will carry in time", {
      cursorDirtySinceMillis: 4_000,
      carrierDueMillis: 5_500
    }, until(6_500)],
    ["for a cursor whose carrier comes too late", { cursorDirtySinceMillis: 4_000, carrierDueMillis: 6_001 }, commit]
  ])("%s", (_, situation, expected) => {
    assert.deepStrictEqual(decide(situation), expected)
  })
})
