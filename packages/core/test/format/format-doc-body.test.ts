/** `docs/format.md` says what the code does: segment bodies, the JSON documents, the directory store. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as fs from "node:fs/promises"
import { join, relative } from "node:path"
import { allEnds, archiveEnds } from "../../src/epoch/EndsArchive.ts"
import { Boundary } from "../../src/format/Boundary.ts"
import { decodeText, encodeText, viewOf } from "../../src/format/Bytes.ts"
import { CursorSet } from "../../src/format/CursorSet.ts"
import { decodeManifest, encodeManifest } from "../../src/format/ManifestCodec.ts"
import { OpenColumns } from "../../src/format/OpenColumns.ts"
import { decodeBody, encodeBody } from "../../src/format/SegmentBody.ts"
import * as DirectoryObjectStore from "../../src/node/DirectoryObjectStore.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { ObjectStore } from "../../src/store/ObjectStore.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import { freshDirectory } from "../node/fixtures/disks.ts"
import { block, endOfRows, numberOf, type Row, table, valueAt } from "./support/FormatDoc.ts"

const records: ReadonlyArray<AppendRecord> = Array.from({ length: 10 }, (_, index) => ({
  payload: encodeText("p".repeat(index)),
  ...(index % 4 === 1 ? { key: `key-${index}` } : {}),
  ...(index === 9 ? { headers: { trace: "ä" } } : {}),
  ...(index < 2 ? { contentType: "text/plain" } : {}),
  ...(index % 3 === 0 ? { timestamp: index + 0.5 } : {})
}))

const columnValues: Readonly<Record<string, ReadonlyArray<string | number | undefined>>> = {
  key: records.map((record) => record.key),
  headers: records.map((record) => record.headers === undefined ? undefined : JSON.stringify(record.headers)),
  "content type": records.map((record) => record.contentType),
  timestamp: records.map((record) => record.timestamp)
}

/** Calls at records 1 to 3 and at record 9. */
const calls = [
  { id: "a", sequence: 0x1_0000_0002, index: 1, count: 3, fingerprint: 0xf0000004 },
  { id: "loader 7", sequence: 5, index: 9, count: 1, fingerprint: 6 }
]

const encoded = (): Uint8Array => {
  const columns = new OpenColumns()
  records.forEach((record, index) => {
    const call = calls.find((one) => one.index === index)
    if (call !== undefined) columns.openCall({ ...call })
    columns.push(record, 1_000 + index)
  })
  return encodeBody(columns)
}

const [parts = [], bits = [], textColumn = [], timesColumn = []] = [0, 1, 2, 3].map((nth) => table("Segment body", nth))

const callRows = table("Segment body", 4)

/** Takes parts off a body as the tables say. */
class Walk {
  offset = 0
  readonly body: Uint8Array
  constructor(body: Uint8Array) {
    this.body = body
  }

  /** The bytes of the next part; `p` and `sum` belong to a column. */
  take(row: Row | undefined, of: { readonly p?: number; readonly sum?: number } = {}): Uint8Array {
    const n = records.length
    const { p = Number.NaN, sum = Number.NaN } = of
    const sizes: Readonly<Record<string, number>> = {
      "4": 4,
      "4 × n": 4 * n,
      "8 × n": 8 * n,
      "⌈n / 8⌉": Math.ceil(n / 8),
      "4 × p": 4 * p,
      "8 × p": 8 * p,
      sum,
      rest: this.body.length - this.offset
    }
    const size = sizes[row?.["size"] ?? ""]
    if (size === undefined) return assert.fail(`docs/format.md has a size ${row?.["size"]}`)
    const taken = this.body.subarray(this.offset, this.offset + size)
    this.offset += size
    return taken
  }
}

const numbers = (bytes: Uint8Array, row: Row | undefined): ReadonlyArray<number> => {
  const view = viewOf(bytes)
  return row?.["type"] === "f64"
    ? Array.from({ length: bytes.length / 8 }, (_, index) => view.getFloat64(index * 8, true))
    : Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(index * 4, true))
}

/** The calls, as the table reads them. */
const callsOf = (walk: Walk) => {
  const [count = 0] = numbers(walk.body.subarray(walk.offset, walk.offset + 4), undefined)
  walk.offset += 4
  const fixed = endOfRows(callRows)
  return Array.from({ length: count }, () => {
    const bytes = walk.body.subarray(walk.offset, walk.offset + fixed)
    const { "id length": length, ...call } = Object.fromEntries(
      callRows.map((row) => [row["field"] ?? "", valueAt(bytes, row)])
    )
    const idAt = walk.offset + fixed
    walk.offset = idAt + Number(length)
    return { id: decodeText(walk.body.subarray(idAt, walk.offset)), ...call }
  })
}

const columnOf = (walk: Walk, type: string | undefined): ReadonlyArray<string | number | undefined> => {
  const [bitmapRow, valuesRow, textsRow] = type === "text" ? textColumn : timesColumn
  const bitmap = walk.take(bitmapRow)
  const has = records.map((_, index) => ((bitmap[index >> 3] ?? 0) & (1 << (index & 7))) !== 0)
  const p = has.filter((one) => one).length
  const values = numbers(walk.take(valuesRow, { p }), valuesRow)
  let nth = 0
  if (type !== "text") return has.map((one) => one ? values[nth++] : undefined)
  const texts = walk.take(textsRow, { sum: values.reduce((total, length) => total + length, 0) })
  let at = 0
  return has.map((one) => {
    if (!one) return undefined
    const length = values[nth++] ?? 0
    at += length
    return decodeText(texts.subarray(at - length, at))
  })
}

describe("docs/format.md, bodies", () => {
  it("the tables read a body that the code wrote, to its last byte", () => {
    const walk = new Walk(encoded())
    const [mask, lengths, times] = parts
    assert.deepStrictEqual(numbers(walk.take(mask), mask), [bits.reduce((sum, row) => sum + numberOf(row["bit"]), 0)])
    assert.deepStrictEqual(numbers(walk.take(lengths), lengths), records.map((record) => record.payload.length))
    assert.deepStrictEqual(numbers(walk.take(times), times), records.map((_, index) => 1_000 + index))
    const optional = parts.filter((row) => row["size"] === "column")
    assert.deepStrictEqual(optional.map((row) => row["part"]), bits.map((row) => row["column"]))
    for (const row of optional) {
      if (row["type"] === "calls") assert.deepStrictEqual(callsOf(walk), calls)
      else assert.deepStrictEqual(columnOf(walk, row["type"]), [...columnValues[row["part"] ?? ""] ?? []], row["part"])
    }
    assert.strictEqual(decodeText(walk.take(parts.at(-1))), "p".repeat(45))
    assert.strictEqual(walk.offset, walk.body.length)
  })

  it("each bit stands for its column alone, and a higher bit does not decode", () => {
    for (const row of bits) {
      const columns = new OpenColumns()
      const name = row["column"]
      const record: AppendRecord = {
        payload: encodeText("x"),
        ...(name === "key" ? { key: "k" } : {}),
        ...(name === "headers" ? { headers: { a: "b" } } : {}),
        ...(name === "content type" ? { contentType: "c" } : {}),
        ...(name === "timestamp" ? { timestamp: 1 } : {})
      }
      if (name === "calls") columns.openCall({ id: "p", sequence: 0, count: 1, fingerprint: 0 })
      columns.push(record, 1)
      assert.strictEqual(viewOf(encodeBody(columns)).getUint32(0, true), numberOf(row["bit"]), name)
    }
    const body = encoded()
    viewOf(body).setUint32(0, 32, true)
    assert.isTrue("_tag" in decodeBody(body, { firstSeq: 1, count: records.length }))
  })
})

const manifest = () => decodeManifest("manifest.json", encodeText(block("manifest.json")))
const context = {
  prefix: "",
  digest: nodeDigest,
  backoff: { base: Duration.millis(1), cap: Duration.millis(1) },
  attempts: 1
}

describe("docs/format.md, JSON", () => {
  it.effect("the manifest decodes, its table names each field, and writing it gives the same JSON", () =>
    Effect.gen(function*() {
      const shown: unknown = JSON.parse(block("manifest.json"))
      const written: unknown = JSON.parse(decodeText(encodeManifest(yield* manifest())) ?? "")
      assert.deepStrictEqual(written, shown)
      assert.deepStrictEqual(
        table("manifest.json").map((row) => row["field"]),
        Object.keys(Object(written))
      )
      assert.deepStrictEqual(table("Boundary").map((row) => row["field"]), Object.keys(Boundary.fields))
      assert.deepStrictEqual(table("Cursor set").map((row) => row["field"]), Object.keys(CursorSet.fields))
    }))

  it.effect("the archive of ends is read as it is shown, and written under the key that is shown", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const key = "epochs/0000000001-00000000000000000000000000000000.json"
      memory.put(key, encodeText(block("Archive of ends")))
      const held = yield* manifest()
      const read = allEnds(context, { ...held, ends_archive: { key, through: 1 }, ends: held.ends.slice(1) })
      assert.deepStrictEqual(yield* Effect.provideService(read, ObjectStore, memory.store), held.ends)
      const nonce = "0123456789abcdef0123456789abcdef"
      const ends = held.ends.map((end, index) => ({ ...end, epoch: 127 + index }))
      const stored = yield* archiveEnds(context, { ends, previous: null, nonce }).pipe(
        Effect.provideService(ObjectStore, memory.store)
      )
      assert.deepStrictEqual(stored, { key: table("Keys")[2]?.["key"] ?? "", through: 128 })
      const shown: unknown = JSON.parse(block("Archive of ends"))
      const body: unknown = JSON.parse(decodeText(memory.objects.get(stored.key)?.body ?? new Uint8Array(0)) ?? "")
      assert.deepStrictEqual(Object.keys(Object(body)), Object.keys(Object(shown)))
    }))
})

describe("docs/format.md, directory store", () => {
  it.effect("the files are those that are shown", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const store = yield* DirectoryObjectStore.make({ path: root })
      const prefix = "wal/node-0/orders/"
      yield* store.create(`${prefix}segments/0000000001/000000000000.seg`, encodeText("s"))
      let tag = yield* store.create(`${prefix}manifest.json`, encodeText("1"))
      for (const version of ["2", "3"]) tag = yield* store.replace(`${prefix}manifest.json`, encodeText(version), tag)
      const entries = yield* Effect.promise(() => fs.readdir(root, { recursive: true, withFileTypes: true }))
      const files = entries.filter((entry) => entry.isFile()).map((entry) =>
        relative(root, join(entry.parentPath, entry.name))
      )
      assert.sameMembers(files, block("Directory store").split("\n"))
    }))
})
