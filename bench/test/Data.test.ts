/** The data that is compressed: what it claims to be, and the same in each run. */
import { assert, describe, it } from "@effect/vitest"
import { arrowBatches } from "../src/data/ArrowBatches.ts"
import { logLines } from "../src/data/LogLines.ts"

/** A table of FlatBuffers: where its fields stand, by https://flatbuffers.dev/internals/. */
const fieldsOf = (view: DataView, table: number): ReadonlyArray<number> => {
  const list = table - view.getInt32(table, true)
  const count = (view.getUint16(list, true) - 4) / 2
  return Array.from({ length: count }, (_, index) => table + view.getUint16(list + 4 + 2 * index, true))
}

const followed = (view: DataView, at = 0): number => at + view.getUint32(at, true)
const long = (view: DataView, at = 0): number => Number(view.getBigInt64(at, true))

/** Takes an encapsulated record batch apart as a reader of the format does. */
const readBatch = (message: Uint8Array) => {
  const outer = new DataView(message.buffer, message.byteOffset)
  assert.strictEqual(outer.getUint32(0, true), 0xffffffff)
  const bodyAt = 8 + outer.getInt32(4, true)
  const view = new DataView(message.buffer, message.byteOffset + 8, bodyAt - 8)
  const [version = 0, headerType = 0, header, bodyBytes] = fieldsOf(view, followed(view))
  assert.deepStrictEqual([view.getInt16(version, true), view.getUint8(headerType)], [4, 3], "version 5, a record batch")
  assert.strictEqual(bodyAt + long(view, bodyBytes), message.length)
  const [rows, nodes, buffers] = fieldsOf(view, followed(view, header))
  const pairs = (at: number) =>
    Array.from({ length: view.getUint32(at, true) }, (_, index) => [
      long(view, at + 4 + 16 * index),
      long(view, at + 12 + 16 * index)
    ])
  return {
    rows: long(view, rows),
    nodes: pairs(followed(view, nodes)),
    buffers: pairs(followed(view, buffers)).map(([offset = 0, length = 0]) => {
      assert.strictEqual((bodyAt + offset) % 64, 0, "aligned")
      return message.slice(bodyAt + offset, bodyAt + offset + length)
    })
  }
}

describe("record batches of Arrow", () => {
  it("have the rows, columns and buffers of the format, and values in them", () => {
    const [first = new Uint8Array(0)] = arrowBatches(1, 7)
    const { buffers, nodes, rows } = readBatch(first)
    assert.strictEqual(rows, 1_000)
    const nulls = nodes[2]?.[1] ?? 0
    assert.deepStrictEqual(nodes, [0, 0, nulls, 0, 0, 0, 0].map((each) => [1_000, each]))
    const text = buffers[12] ?? new Uint8Array(0)
    // Of each column a bitmap, where it has nulls, and its values; of the text where each value ends, too.
    assert.deepStrictEqual(
      buffers.map(({ length }) => length),
      [0, 8_000, 0, 4_000, 125, 8_000, 0, 4_000, 0, 2_000, 0, 4_004, text.length, 0, 16_000]
    )
    const bits = (bytes: Uint8Array) =>
      bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0)
    assert.strictEqual(bits(buffers[4] ?? text), 1_000 - nulls)
    assert.isAbove(nulls, 0)
    const ends = new DataView((buffers[11] ?? text).buffer)
    assert.strictEqual(ends.getInt32(4_000, true), text.length)
    const sensor = new DataView((buffers[3] ?? text).buffer).getInt32(0, true)
    const sites = ["north hall", "south hall", "cold store", "yard", "roof"]
    assert.strictEqual(new TextDecoder().decode(text.subarray(0, ends.getInt32(4, true))), sites[sensor % 5])
  })

  it("are the same for the same seed, as many as asked for", () => {
    const batches = arrowBatches(100_000, 7)
    assert.strictEqual(batches.length, 2)
    assert.deepStrictEqual(arrowBatches(100_000, 7), batches)
    assert.notDeepEqual(arrowBatches(1, 8)[0], batches[0])
  })
})

describe("log lines", () => {
  it("are JSON of one line each, in order of time, the same for the same seed", () => {
    const lines = logLines(50_000, 7)
    const texts = lines.map((line) => new TextDecoder().decode(line))
    const times = texts.map((text) => String(JSON.parse(text).ts))
    assert.deepStrictEqual(times, times.toSorted())
    assert.isTrue(texts.every((text) => !text.includes("\n")))
    const total = lines.reduce((sum, { length }) => sum + length, 0)
    assert.isTrue(total >= 50_000 && total - (lines.at(-1)?.length ?? 0) < 50_000)
    assert.deepStrictEqual(logLines(50_000, 7), lines)
    assert.notDeepEqual(logLines(50_000, 8), lines)
  })
})
