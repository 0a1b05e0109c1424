/** `docs/format.md` says what the code does: journals, the local log, the spool. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { join, relative } from "node:path"
import { encodeText, fromHex, setUint64, toHex, viewOf } from "../../src/format/Bytes.ts"
import {
  decodeFileHeader,
  encodeFileHeader,
  type FileHeader,
  fileHeaderBytes,
  fileMagic,
  fileName,
  journalVersion,
  temporarySuffix
} from "../../src/node/journal/JournalFile.ts"
import {
  bindFrames,
  decodeFrameHeader,
  encodeFrameHeader,
  type FrameHeader,
  frameHeaderBytes,
  frameMagic
} from "../../src/node/journal/JournalFrame.ts"
import * as LocalObjectStore from "../../src/node/LocalObjectStore.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import * as SpoolDirectory from "../../src/node/SpoolDirectory.ts"
import { freshDirectory } from "../node/fixtures/disks.ts"
import { frame, use } from "../node/journal/fixtures/journals.ts"
import { block, endOfRows, numberOf, type Row, table, valueAt } from "./support/FormatDoc.ts"

const id = "0123456789abcdef0123456789abcde0"

/** Every field has a value of its own, so that two that are swapped show. */
const fileHeader: FileHeader = {
  id,
  number: 0x1_0000_0002,
  previous: {
    number: 0x1_0000_0001,
    goodBytes: 0x2_0000_0003,
    slots: 0x3_0000_0004,
    holding: 5,
    lowest: { epoch: 6, slot: 0x4_0000_0007 },
    highest: { epoch: 8, slot: 0x5_0000_0009 }
  },
  createdAtMillis: 1_764_400_000_000
}

const fileValues: ReadonlyArray<readonly [string, number | string]> = [
  ["magic", toHex(fileMagic)],
  ["version", journalVersion],
  ["reserved", "0000"],
  ["header length", fileHeaderBytes],
  ["journal id", id],
  ["number", 0x1_0000_0002],
  ["previous number", 0x1_0000_0001],
  ["good length", 0x2_0000_0003],
  ["slots", 0x3_0000_0004],
  ["holding", 5],
  ["lowest epoch", 6],
  ["lowest slot", 0x4_0000_0007],
  ["highest epoch", 8],
  ["highest slot", 0x5_0000_0009],
  ["made at", 1_764_400_000_000],
  ["reserved", "00".repeat(12)]
]

const frameHeader: FrameHeader = {
  epoch: 0x1_0000_0002,
  slot: 0x2_0000_0003,
  bodyBytes: 4,
  bodyCrc: 0xf0000005,
  writtenAtMillis: 1_764_400_000_000,
  syncedThrough: 700,
  passive: true
}

const frameValues: ReadonlyArray<readonly [string, number | string]> = [
  ["magic", toHex(frameMagic)],
  ["body length", 4],
  ["body CRC", 0xf0000005],
  ["epoch", 0x1_0000_0002],
  ["slot", 0x2_0000_0003],
  ["written at", 1_764_400_000_000],
  ["synced through", 700],
  ["flags", 1]
]

const fileRows = table("Journal file")
const [frameRows, crcRows] = [table("Frame"), table("Frame", 1)]

const read = (bytes: Uint8Array, rows: ReadonlyArray<Row>) =>
  rows.map((row): readonly [string, number | string] => [row["field"] ?? "", valueAt(bytes, row)])

const shownMagic = (magic: Uint8Array) => [...magic].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")

/** What one field of the bytes holds, by the table. */
const valueOf = (bytes: Uint8Array, rows: ReadonlyArray<Row>, field: string): number | string => {
  const row = rows.find((one) => one["field"] === field)
  return row === undefined ? assert.fail(`docs/format.md has no field ${field}`) : valueAt(bytes, row)
}

/** The frames of a file as the tables read them, up to its end. */
const framesIn = (file: Uint8Array) => {
  const found = []
  for (let at = fileHeaderBytes; at < file.length;) {
    const bytes = file.subarray(at)
    const length = Number(valueOf(bytes, frameRows, "body length"))
    const body = bytes.subarray(frameHeaderBytes, frameHeaderBytes + length)
    assert.strictEqual(valueOf(bytes, frameRows, "body CRC"), nodeDigest.crc32(body))
    found.push({
      at,
      slot: valueOf(bytes, frameRows, "slot"),
      syncedThrough: valueOf(bytes, frameRows, "synced through"),
      body: new TextDecoder().decode(body)
    })
    at += frameHeaderBytes + length
  }
  return found
}

const filesBelow = (root: string) =>
  Effect.map(
    Effect.promise(() => fs.readdir(root, { recursive: true, withFileTypes: true })),
    (entries) =>
      entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)))
  )

describe("docs/format.md, journals", () => {
  it("the table of a file is its header, field by field, without a gap", () => {
    const bytes = encodeFileHeader(fileHeader, nodeDigest)
    assert.strictEqual(endOfRows(fileRows), fileHeaderBytes)
    assert.strictEqual(bytes.length, fileHeaderBytes)
    const crc = nodeDigest.crc32(bytes.subarray(0, numberOf(fileRows.at(-1)?.["offset"])))
    assert.deepStrictEqual(read(bytes, fileRows), [...fileValues, ["CRC", crc]])
    assert.deepStrictEqual(decodeFileHeader(bytes, nodeDigest), fileHeader)
    assert.strictEqual(fileRows[0]?.["meaning"], shownMagic(fileMagic))
    assert.strictEqual(numberOf(fileRows[1]?.["meaning"]), journalVersion)
    assert.strictEqual(numberOf(fileRows[3]?.["meaning"]), fileHeaderBytes)
  })

  it("the table of a frame is its header, and its CRC is over what the second table says", () => {
    const at = 1_000
    const bytes = encodeFrameHeader(bindFrames(nodeDigest, id, 7), frameHeader, at)
    assert.strictEqual(endOfRows(frameRows), frameHeaderBytes)
    assert.strictEqual(bytes.length, frameHeaderBytes)
    const input = new Uint8Array(endOfRows(crcRows))
    const offsetOf = (field: string) => numberOf(crcRows.find((row) => row["field"] === field)?.["offset"])
    input.set(fromHex(id), offsetOf("journal id"))
    setUint64(viewOf(input), offsetOf("file number"), 7)
    setUint64(viewOf(input), offsetOf("frame offset"), at)
    input.set(bytes.subarray(0, numberOf(crcRows.at(-1)?.["size"])), offsetOf("header"))
    assert.strictEqual(input.length, 16 + 8 + 8 + frameHeaderBytes - 4)
    assert.deepStrictEqual(read(bytes, frameRows), [...frameValues, ["header CRC", nodeDigest.crc32(input)]])
    assert.deepStrictEqual(decodeFrameHeader(bindFrames(nodeDigest, id, 7), bytes, at), frameHeader)
    assert.strictEqual(frameRows[0]?.["meaning"], shownMagic(frameMagic))
  })

  it("a frame is valid in its place only", () => {
    const bytes = encodeFrameHeader(bindFrames(nodeDigest, id, 7), frameHeader, 1_000)
    const other = id.replace("0", "1")
    assert.isUndefined(decodeFrameHeader(bindFrames(nodeDigest, id, 8), bytes, 1_000))
    assert.isUndefined(decodeFrameHeader(bindFrames(nodeDigest, other, 7), bytes, 1_000))
    assert.isUndefined(decodeFrameHeader(bindFrames(nodeDigest, id, 7), bytes, 1_001))
  })

  it.effect("an opening makes of a file what the page says", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* journal.append([frame(1, 0, "durable")])
          yield* journal.append([frame(1, 1, "perhaps in the page cache only")])
        }))
      const firstPath = join(directory, fileName(1))
      const first = new Uint8Array(yield* Effect.promise(() => fs.readFile(firstPath)))
      const [one, two] = framesIn(first)
      const end = fileHeaderBytes + frameHeaderBytes + "durable".length
      assert.deepStrictEqual([one?.syncedThrough, two?.at, two?.syncedThrough], [fileHeaderBytes, end, end])
      yield* Effect.promise(() => fs.appendFile(firstPath, "torn"))
      yield* Effect.promise(() => fs.writeFile(join(directory, fileName(2) + temporarySuffix), "left over"))
      yield* use(directory, (journal) =>
        Effect.sync(() => {
          assert.deepStrictEqual(journal.tornTail, { path: firstPath, framesKept: 2, droppedBytes: "torn".length })
        }))
      assert.sameMembers(yield* filesBelow(directory), [fileName(1), fileName(2), "lock"])
      const second = new Uint8Array(yield* Effect.promise(() => fs.readFile(join(directory, fileName(2)))))
      assert.deepStrictEqual(
        ["number", "previous number", "good length", "slots", "holding", "lowest slot", "highest slot"].map((field) =>
          valueOf(second, fileRows, field)
        ),
        [2, 1, end, 1, 1, 0, 0]
      )
      assert.strictEqual(valueOf(second, fileRows, "journal id"), valueOf(first, fileRows, "journal id"))
      assert.deepStrictEqual(framesIn(second), [
        { at: fileHeaderBytes, slot: 1, syncedThrough: fileHeaderBytes, body: "perhaps in the page cache only" }
      ])
      // Nothing was cut: what is behind the good length only does not count.
      assert.isAbove((yield* Effect.promise(() => fs.stat(firstPath))).size, first.length)
      yield* use(directory, (journal) => Effect.sync(() => assert.isUndefined(journal.tornTail)))
    }))

  it.effect("a journal of a newer version is refused and left alone", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const newer = encodeFileHeader({ ...fileHeader, number: 1, previous: undefined }, nodeDigest)
      viewOf(newer).setUint16(8, journalVersion + 1, true)
      viewOf(newer).setUint32(124, nodeDigest.crc32(newer.subarray(0, 124)), true)
      yield* Effect.promise(() => fs.writeFile(join(directory, fileName(1)), newer))
      const error = yield* Effect.flip(use(directory, () => Effect.void))
      assert.deepInclude(error, { _tag: "JournalError", reason: "failed" })
      assert.sameMembers(yield* filesBelow(directory), [fileName(1), "lock"])
    }))
})

describe("docs/format.md, disks", () => {
  const prefix = "wal/node-0/orders/"

  it.effect("the files of a local log are those that are shown", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const opened = LocalObjectStore.make({ path: root, prefix })
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* opened
        yield* store.create(`${prefix}manifest.json`, encodeText("{}"))
        for (const slot of ["0", "1"]) {
          yield* store.create(`${prefix}segments/0000000001/00000000000${slot}.seg`, encodeText(slot))
        }
      }))
      yield* Effect.scoped(opened)
      assert.sameMembers(yield* filesBelow(root), block("Local log").split("\n"))
    }))

  it.effect("the files of a spool are those that are shown, and its id is that of the journal", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const shown = block("Spool").split("\n")
      const id = yield* Effect.scoped(Effect.gen(function*() {
        const spool = yield* SpoolDirectory.make({ path: root }).open(prefix)
        yield* spool.write([{ epoch: 1, slot: 0, object: encodeText("segment") }])
        assert.sameMembers(yield* filesBelow(root), [...shown, `${shown[1] ?? ""}-journal`])
        return spool.id
      }))
      assert.sameMembers(yield* filesBelow(root), shown)
      const file = new Uint8Array(yield* Effect.promise(() => fs.readFile(join(root, shown[0] ?? ""))))
      assert.strictEqual(valueOf(file, fileRows, "journal id"), id)
      assert.deepStrictEqual(framesIn(file).map(({ body }) => body), ["segment"])
    }))
})
