/** The table of what the answer to a segment PUT means, row by row. */
import { assert, describe, it } from "@effect/vitest"
import { encodeOwner } from "../../src/format/Extensions.ts"
import { ObjectStoreError, type Reason } from "../../src/store/ObjectStoreError.ts"
import { afterLook, afterPut } from "../../src/write/PutOutcome.ts"
import { markerHeader, segmentHeader } from "../format/Samples.ts"

const answer = (reason: Reason) => new ObjectStoreError({ operation: "create", key: "k", reason, detail: "d" })

describe("the answer to a segment PUT", () => {
  it.each<readonly [Reason, "look" | "retry"]>([
    ["AlreadyExists", "look"],
    ["Conflict", "retry"],
    ["TimedOut", "retry"],
    ["Unavailable", "retry"],
    ["Throttled", "retry"],
    ["PreconditionFailed", "retry"],
    ["NotFound", "retry"],
    ["AccessDenied", "retry"],
    ["NoSuchBucket", "retry"],
    ["CredentialsUnavailable", "retry"],
    ["StoreFull", "retry"],
    ["NotSupported", "retry"],
    ["UnexpectedResponse", "retry"]
  ])("%s: %s", (reason, step) => {
    assert.strictEqual(afterPut(answer(reason)), step)
  })
})

describe("what a look at a taken key finds", () => {
  const mine = segmentHeader({ storedCrc: 7, rawCrc: 8 })

  it("is mine with my nonce and the checksum of what was sent", () => {
    assert.deepStrictEqual(afterLook(mine, { ...mine, extensions: [] }), { _tag: "Confirmed" })
  })

  it.each([
    { nonce: "f".repeat(32) },
    { storedCrc: 9 },
    { rawCrc: 9 },
    { logId: "f".repeat(32) },
    { epoch: 4 },
    { slot: 18 },
    { firstSeq: 1 },
    { count: 1 }
  ])("is a conflict with %j", (change) => {
    assert.strictEqual(afterLook(mine, { ...mine, ...change })._tag, "Conflict")
  })

  it("fences me where it is an end marker of this slot, and says whose", () => {
    const owner = { epoch: 9, host: "other" }
    assert.deepStrictEqual(afterLook(mine, markerHeader({ extensions: [encodeOwner(owner)] })), {
      _tag: "Fenced",
      owner
    })
    assert.deepStrictEqual(afterLook(mine, markerHeader()), { _tag: "Fenced", owner: undefined })
  })

  it.each([{ logId: "f".repeat(32) }, { epoch: 4 }, { slot: 18 }])(
    "is a conflict where the marker has %j",
    (change) => {
      assert.strictEqual(afterLook(mine, markerHeader(change))._tag, "Conflict")
    }
  )
})
