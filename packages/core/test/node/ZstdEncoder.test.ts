import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { zstdDecompressSync } from "node:zlib"
import { zstdFrameProblem } from "../../src/codec/ZstdFrame.ts"
import { ZstdEncoder } from "../../src/node/ZstdEncoder.ts"

const bodyBytes = 300_000

/** Bytes of which so many of eight are the same on and on, and the others do not compress; the same on each run. */
const body = (same: number): Uint8Array => {
  let state = 0x9e3779b9
  return Uint8Array.from({ length: bodyBytes }, (_, index) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return index % 8 < same ? 7 : state & 255
  })
}

const assertFrame = (frame: Uint8Array, of: Uint8Array): void => {
  assert.isUndefined(zstdFrameProblem(frame, of.length))
  assert.isTrue(zstdDecompressSync(frame).equals(of))
}

describe("ZstdEncoder", () => {
  it.effect("answers what was written where it was written, without a copy", () =>
    Effect.gen(function*() {
      const half = body(4)
      const frame = yield* new ZstdEncoder().compress(half, 1)
      assertFrame(frame, half)
      assert.isBelow(frame.length, bodyBytes)
      assert.isAtLeast(frame.buffer.byteLength, bodyBytes)
    }))

  it.effect("asks for no more memory than frames have needed lately", () =>
    Effect.gen(function*() {
      const encoder = new ZstdEncoder()
      const easy = body(8)
      const asked: Array<number> = []
      for (let nth = 0; nth < 60; nth++) asked.push((yield* encoder.compress(easy, 1)).buffer.byteLength)
      assert.isAtLeast(asked[0] ?? 0, bodyBytes)
      // The runtime cuts what is small from pools of this size.
      assert.isAtMost(asked[59] ?? bodyBytes, 65_536)
      // Step by step: a body that packs badly after a few that pack well still finds room.
      assert.isAtLeast(asked[5] ?? 0, bodyBytes / 2)
    }))

  it.effect("a frame that is larger than expected comes whole, and the next one has room", () =>
    Effect.gen(function*() {
      const encoder = new ZstdEncoder()
      for (let nth = 0; nth < 60; nth++) yield* encoder.compress(body(8), 1)
      const hard = body(0)
      assertFrame(yield* encoder.compress(hard, 1), hard)
      const again = yield* encoder.compress(hard, 1)
      assertFrame(again, hard)
      assert.isAtLeast(again.buffer.byteLength, bodyBytes)
    }))

  it.effect("packs an empty body, and several at one time", () =>
    Effect.gen(function*() {
      const encoder = new ZstdEncoder()
      const bodies = [new Uint8Array(0), body(8), body(4), body(0), Uint8Array.of(1)]
      const frames = yield* Effect.forEach(bodies, (each) => encoder.compress(each, 3), { concurrency: "unbounded" })
      frames.forEach((frame, index) => assertFrame(frame, bodies[index] ?? new Uint8Array(0)))
    }))
})
