/** What is compressed side by side is the same work, and a pace is one. */
import { nodeCompression } from "@effect-wal/core/node/NodeCompression"
import { nodeDigest } from "@effect-wal/core/node/NodeDigest"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshBuffers } from "../../packages/core/src/format/OpenColumns.ts"
import { readSegment, recordsOf } from "../../packages/core/src/format/SegmentCodec.ts"
import { packSegment } from "../../packages/core/src/write/PackSegment.ts"
import { logLines } from "../src/data/LogLines.ts"
import { bareCodec } from "../src/support/BareCodecs.ts"
import { Pace } from "../src/support/Pace.ts"
import { sealedSegments } from "../src/support/SealedSegments.ts"

const settings = [{ type: "zstd", level: 1 }, { type: "lz4" }] as const
const contents = [1, 2].map((seed) => logLines(100_000, seed))
const context = { digest: nodeDigest, compression: nodeCompression, buffers: freshBuffers }

describe.each(settings)("$type", (setting) => {
  it.effect("the log makes objects of the segments that hold all of them, and smaller ones", () =>
    Effect.gen(function*() {
      for (const [index, segment] of sealedSegments(contents).entries()) {
        const packed = yield* packSegment(segment, { ...context, setting: { ...setting, thresholdBytes: 0 } })
        assert.strictEqual(packed.header.codec, setting.type)
        assert.isBelow(packed.header.storedBytes, packed.header.rawBytes / 2)
        const read = yield* readSegment("key", packed.object, { ...context, maxSegmentBytes: 1_000_000 })
        const records = yield* recordsOf("key", read, 1)
        assert.deepStrictEqual(records.map(({ payload }) => new Uint8Array(payload)), contents[index])
      }
    }))

  it.effect("the bare codec packs a body that the log unpacks", () =>
    Effect.gen(function*() {
      const body = new Uint8Array(Buffer.concat(contents.flat()))
      const packed = yield* Effect.promise(() => bareCodec(setting)(body))
      assert.isBelow(packed.length, body.length / 2)
      const raw = yield* nodeCompression.decompress(packed, setting.type, body.length)
      assert.isTrue(Buffer.from(raw).equals(body))
    }))
})

describe("a pace", () => {
  it("lets through what is due, and says how long the rest has to wait", () => {
    const pace = new Pace(1)
    assert.strictEqual(pace.waitFor(3_600), 0)
    const hour = pace.waitFor(7_200)
    assert.isTrue(hour > 3_000_000 && hour <= 3_600_000)
    assert.isAbove(pace.waitFor(1), 9_000_000)
  })
})
