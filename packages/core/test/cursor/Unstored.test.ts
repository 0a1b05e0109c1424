import { assert, describe, it } from "@effect/vitest"
import { Cursors } from "../../src/cursor/Cursors.ts"
import { emptyCursorSet } from "../../src/format/CursorSet.ts"

const cursorsOf = () => new Cursors(emptyCursorSet, { epoch: 1, maxAhead: 10 }, () => 1_000, () => 0)

describe("what of the cursors is not stored", () => {
  it("counts from the first change after the set that was stored, not from the first of all", () => {
    const cursors = cursorsOf()
    cursors.commit("default", 10, 100)
    const first = cursors.snapshot()
    cursors.commit("default", 14, 200)
    cursors.commit("default", 20, 300)
    assert.strictEqual(cursors.dirtySinceMillis, 100)
    cursors.stored(first)
    assert.strictEqual(cursors.dirtySinceMillis, 200)
    assert.strictEqual(cursors.unstoredRecords, 10)
    cursors.stored(cursors.snapshot())
    assert.isUndefined(cursors.dirtySinceMillis)
    assert.strictEqual(cursors.unstoredRecords, 0)
  })

  it("stays as it was after an older set, whose successors are not known", () => {
    const cursors = cursorsOf()
    cursors.commit("default", 10, 100)
    const older = cursors.snapshot()
    cursors.commit("default", 20, 200)
    cursors.snapshot()
    cursors.stored(older)
    assert.strictEqual(cursors.dirtySinceMillis, 100)
    assert.strictEqual(cursors.statuses()["default"]?.persisted, 10)
  })
})
