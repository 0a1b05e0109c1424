/** Memory of segments that is used again, and when it must not be. */
import { assert, describe, it } from "@effect/vitest"
import { OpenColumns } from "../../src/format/OpenColumns.ts"
import { encodeBody, headerRoom, placeColumns } from "../../src/format/SegmentBody.ts"
import { TailBuffer } from "../../src/read/TailBuffer.ts"
import { SegmentBuffers, SegmentMemory } from "../../src/write/SegmentBuffers.ts"
import { segmentHeader } from "../format/Samples.ts"

describe("buffers of segments", () => {
  it("are given out again where they fit, and no more is kept than the bound", () => {
    const buffers = new SegmentBuffers(2_500)
    const first = buffers.take(1_000)
    buffers.give(first)
    assert.strictEqual(buffers.heldBytes, 1_000)
    assert.notStrictEqual(buffers.take(1_001), first)
    assert.notStrictEqual(buffers.take(499), first)
    assert.strictEqual(buffers.take(500), first)
    assert.strictEqual(buffers.heldBytes, 0)
    for (let nth = 0; nth < 3; nth++) buffers.give(new Uint8Array(1_000))
    assert.strictEqual(buffers.heldBytes, 2_000)
    buffers.give(new Uint8Array(3_000))
    assert.strictEqual(buffers.heldBytes, 0)
  })

  it("are given back once, and never where somebody may still read them", () => {
    const buffers = new SegmentBuffers(10_000)
    const memory = new SegmentMemory(new Uint8Array(1_000), buffers)
    memory.release()
    memory.release()
    assert.strictEqual(buffers.heldBytes, 1_000)
    const read = new SegmentMemory(new Uint8Array(1_000), buffers)
    read.keep()
    read.release()
    assert.strictEqual(buffers.heldBytes, 1_000)
  })

  it("stay with a reader who was given what lies in them, when the window of newest segments moves on", () => {
    const buffers = new SegmentBuffers(10_000)
    const tail = new TailBuffer(5_000)
    const push = (slot: number) =>
      tail.push({
        key: `${slot}`,
        header: segmentHeader({ slot, firstSeq: slot + 1, count: 1 }),
        body: new Uint8Array(100),
        memory: new SegmentMemory(new Uint8Array(1_000), buffers)
      })
    for (const slot of [0, 1]) push(slot)
    assert.strictEqual(tail.find(1)?.key, "0")
    for (const slot of [2, 3]) push(slot)
    assert.strictEqual(buffers.heldBytes, 1_000)
  })
})

describe("columns", () => {
  const fill = (columns: OpenColumns, count: number, bytes: number) => {
    for (let nth = 0; nth < count; nth++) columns.push({ payload: new Uint8Array(bytes).fill(nth + 1) }, nth)
    return columns
  }

  it("are encoded where they lie, with room for a header before them, and the same as anywhere else", () => {
    const dirty = new SegmentBuffers(1_000_000)
    dirty.give(new Uint8Array(20_000).fill(0xff))
    const expected = { headBytes: headerRoom + 200, payloadBytes: 10_000 }
    const columns = fill(new OpenColumns(expected, dirty), 10, 1_000)
    const placed = placeColumns(columns)
    assert.strictEqual(placed.bytes.buffer, columns.buffer.buffer)
    assert.isAtLeast(placed.room, headerRoom)
    assert.deepStrictEqual(placed.bytes.slice(), encodeBody(fill(new OpenColumns(), 10, 1_000)))
  })

  it("go to memory of their own where there is no room, or far too much", () => {
    const narrow = fill(new OpenColumns({ headBytes: headerRoom, payloadBytes: 10_000 }), 10, 1_000)
    const wide = fill(new OpenColumns({ headBytes: headerRoom + 200, payloadBytes: 1_000_000 }), 10, 1_000)
    for (const columns of [narrow, wide]) {
      const placed = placeColumns(columns)
      assert.notStrictEqual(placed.bytes.buffer, columns.buffer.buffer)
      assert.strictEqual(placed.room, headerRoom)
      assert.deepStrictEqual(placed.bytes.slice(), encodeBody(fill(new OpenColumns(), 10, 1_000)))
    }
  })

  it("grow, and give back what they have outgrown", () => {
    const buffers = new SegmentBuffers(1_000_000)
    const columns = fill(new OpenColumns({ headBytes: 100, payloadBytes: 1_000 }, buffers), 10, 1_000)
    assert.strictEqual(columns.payloadBytes, 10_000)
    assert.isAtLeast(buffers.heldBytes, 1_100)
    assert.deepStrictEqual([...columns.payloads.subarray(9_000, 9_003)], [10, 10, 10])
  })
})
