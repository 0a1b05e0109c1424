import { assert, describe, it } from "@effect/vitest"
import {
  decodeFileHeader,
  encodeFileHeader,
  fileHeaderBytes,
  fileName,
  fileNumberOf
} from "../../../src/node/journal/JournalFile.ts"
import {
  bindFrames,
  decodeFrameHeader,
  encodeFrameHeader,
  frameHeaderBytes
} from "../../../src/node/journal/JournalFrame.ts"
import { nodeDigest } from "../../../src/node/NodeDigest.ts"

const id = "00112233445566778899aabbccddeeff"
const binding = bindFrames(nodeDigest, id, 7)

const header = {
  epoch: 3,
  slot: Number.MAX_SAFE_INTEGER,
  bodyBytes: 0xffff_ffff,
  bodyCrc: 0x8000_0001,
  writtenAtMillis: 1_790_000_000_123,
  syncedThrough: 128,
  passive: true
}

describe("JournalFrame", () => {
  it("what was encoded is decoded", () => {
    const bytes = encodeFrameHeader(binding, header, 4_096)
    assert.strictEqual(bytes.length, frameHeaderBytes)
    assert.deepStrictEqual(decodeFrameHeader(binding, bytes, 4_096), header)
    const plain = { ...header, passive: false }
    assert.deepStrictEqual(decodeFrameHeader(binding, encodeFrameHeader(binding, plain, 128), 128), plain)
  })

  it("each flipped bit, and each cut, is found", () => {
    const bytes = encodeFrameHeader(binding, header, 4_096)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Uint8Array.from(bytes)
      damaged[bit >>> 3] = (damaged[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
      assert.isUndefined(decodeFrameHeader(binding, damaged, 4_096), `bit ${bit}`)
    }
    for (let length = 0; length < bytes.length; length++) {
      assert.isUndefined(decodeFrameHeader(binding, bytes.subarray(0, length), 4_096))
    }
  })

  it("a frame is valid in its place only: same offset, same file, same journal", () => {
    const bytes = encodeFrameHeader(binding, header, 4_096)
    assert.isUndefined(decodeFrameHeader(binding, bytes, 4_097))
    assert.isUndefined(decodeFrameHeader(bindFrames(nodeDigest, id, 8), bytes, 4_096))
    assert.isUndefined(decodeFrameHeader(bindFrames(nodeDigest, id.replace("00", "01"), 7), bytes, 4_096))
  })

  it("no frame says that it was durable before it was written", () => {
    const bytes = encodeFrameHeader(binding, { ...header, syncedThrough: 4_097 }, 4_096)
    assert.isUndefined(decodeFrameHeader(binding, bytes, 4_096))
  })
})

describe("JournalFile", () => {
  const previous = {
    number: 6,
    goodBytes: 67_108_864,
    slots: 1_000,
    holding: 998,
    lowest: { epoch: 1, slot: 5 },
    highest: { epoch: 2, slot: 9 }
  }
  const file = { id, number: 7, previous, createdAtMillis: 1_790_000_000_123 }

  it("what was encoded is decoded, with and without a file before", () => {
    const bytes = encodeFileHeader(file, nodeDigest)
    assert.strictEqual(bytes.length, fileHeaderBytes)
    assert.deepStrictEqual(decodeFileHeader(bytes, nodeDigest), file)
    const first = { ...file, number: 1, previous: undefined }
    assert.deepStrictEqual(decodeFileHeader(encodeFileHeader(first, nodeDigest), nodeDigest), first)
    const empty = { ...file, previous: { ...previous, slots: 0, holding: 0, lowest: undefined, highest: undefined } }
    assert.deepStrictEqual(decodeFileHeader(encodeFileHeader(empty, nodeDigest), nodeDigest), empty)
  })

  it("each flipped bit, and each cut, is damage", () => {
    const bytes = encodeFileHeader(file, nodeDigest)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Uint8Array.from(bytes)
      damaged[bit >>> 3] = (damaged[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
      assert.deepStrictEqual(decodeFileHeader(damaged, nodeDigest), { _tag: "Damaged" }, `bit ${bit}`)
    }
    for (let length = 0; length < bytes.length; length++) {
      assert.deepStrictEqual(decodeFileHeader(bytes.subarray(0, length), nodeDigest), { _tag: "Damaged" })
    }
  })

  it("a newer version is told apart from damage", () => {
    const bytes = encodeFileHeader(file, nodeDigest)
    const view = new DataView(bytes.buffer)
    view.setUint16(8, 2, true)
    view.setUint32(124, nodeDigest.crc32(bytes.subarray(0, 124)), true)
    assert.deepStrictEqual(decodeFileHeader(bytes, nodeDigest), { _tag: "TooNew", version: 2 })
  })

  it("names are ten digits, and nothing else is one", () => {
    assert.strictEqual(fileName(42), "0000000042.journal")
    assert.strictEqual(fileNumberOf(fileName(42)), 42)
    for (
      const other of ["lock", "42.journal", "0000000042.journal.tmp", "x0000000042.journal", "0000000042.journal~"]
    ) {
      assert.isUndefined(fileNumberOf(other), other)
    }
  })
})
