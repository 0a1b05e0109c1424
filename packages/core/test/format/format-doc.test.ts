/** `docs/format.md` says what the code does: headers, chain, codes, limits. Bodies and JSON are in `format-doc-body`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { equalBytes, fromHex, setUint64, toHex, viewOf } from "../../src/format/Bytes.ts"
import { chainAfter, chainSeed } from "../../src/format/ChainHash.ts"
import { emptyCursorSet, maxCursors } from "../../src/format/CursorSet.ts"
import * as Extensions from "../../src/format/Extensions.ts"
import { maxDamage, maxEnds } from "../../src/format/ManifestCodec.ts"
import * as ObjectKey from "../../src/format/ObjectKey.ts"
import { maxProducerIdLength } from "../../src/format/ProducerCalls.ts"
import { encodeEndMarker, encodeSegment, maxMarkerBytes, readHeader } from "../../src/format/SegmentCodec.ts"
import {
  fixedHeaderBytes,
  formatVersion,
  magic,
  maxHeaderBytes,
  type SegmentHeader
} from "../../src/format/SegmentHeader.ts"
import { maxIdLength } from "../../src/LogId.ts"
import { maxLeftSpools, maxOrigins, storedIndexEntries } from "../../src/manifest/Manifest.ts"
import { keptVersions } from "../../src/node/directory/Layout.ts"
import { fileHeaderBytes } from "../../src/node/journal/JournalFile.ts"
import { frameHeaderBytes, maxBodyBytes } from "../../src/node/journal/JournalFrame.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { callsPerProducer } from "../../src/write/ProducerTable.ts"
import { endOfRows, numberOf, type Row, table, valueAt } from "./support/FormatDoc.ts"

const link = { epoch: 2, slot: 9, seq: 40, at: 7.5, chain: "c".repeat(32) }

/** Every field has a value of its own, so that two that are swapped show. */
const header: SegmentHeader = {
  kind: "segment",
  codec: "lz4",
  logId: "0123456789abcdef0123456789abcde0",
  nonce: "0123456789abcdef0123456789abcde1",
  epoch: 0x1_0000_0002,
  slot: 0x2_0000_0003,
  firstSeq: 0x3_0000_0004,
  count: 5,
  rawBytes: 6,
  storedBytes: 7,
  rawCrc: 0xf0000008,
  storedCrc: 0xf0000009,
  firstAt: 10.25,
  lastAt: 11.5,
  watermarkSlot: 0x4_0000_000c,
  watermarkSeq: 0x5_0000_000d,
  chain: "0123456789abcdef0123456789abcde2",
  extensions: [Extensions.encodeCursors(emptyCursorSet), { type: 99, critical: true, bytes: Uint8Array.of(1, 2, 3) }]
}

const extensionBytes = header.extensions.reduce((sum, one) => sum + 6 + one.bytes.length, 0)

const headerValues: Readonly<Record<string, number | string>> = {
  magic: toHex(magic),
  version: formatVersion,
  kind: 1,
  codec: 2,
  "header length": 148 + extensionBytes + 4,
  "log id": header.logId,
  nonce: header.nonce,
  epoch: header.epoch,
  slot: header.slot,
  "first seq": header.firstSeq,
  count: header.count,
  "raw length": header.rawBytes,
  "stored length": header.storedBytes,
  "raw CRC": header.rawCrc,
  "stored CRC": header.storedCrc,
  reserved: 0,
  "first time": header.firstAt,
  "last time": header.lastAt,
  "watermark slot": header.watermarkSlot,
  "watermark seq": header.watermarkSeq,
  chain: header.chain,
  "extension length": extensionBytes
}

const field = (rows: ReadonlyArray<Row>, column: string): ReadonlyArray<string> => rows.map((row) => row[column] ?? "")

describe("docs/format.md", () => {
  it("the header table is the header, field by field, without a gap", () => {
    const object = encodeSegment(header, new Uint8Array(7), nodeDigest)
    const rows = table("Object header")
    assert.strictEqual(endOfRows(rows), fixedHeaderBytes)
    assert.deepStrictEqual(
      Object.fromEntries(rows.map((row) => [row["field"], valueAt(object, row)])),
      headerValues
    )
    const total = 148 + extensionBytes + 4
    assert.strictEqual(object.length, total + 7)
    assert.strictEqual(viewOf(object).getUint32(total - 4, true), nodeDigest.crc32(object.subarray(0, total - 4)))
    const shown = rows.map((row) => row["meaning"] ?? "")
    assert.strictEqual(shown[0], [...magic].map((byte) => byte.toString(16).padStart(2, "0")).join(" "))
    assert.strictEqual(numberOf(shown[1]), formatVersion)
  })

  it("the extension table is an extension, and its types are those of the code", () => {
    const object = encodeSegment(header, new Uint8Array(7), nodeDigest)
    const first = header.extensions[0]?.bytes ?? new Uint8Array(0)
    const rows = table("Extension")
    const [type, length, body] = rows
    assert.strictEqual(valueAt(object.subarray(148), type ?? {}), 1)
    assert.strictEqual(valueAt(object.subarray(148), length ?? {}), first.length)
    const bodyAt = 148 + numberOf(body?.["offset"])
    assert.isTrue(equalBytes(object.subarray(bodyAt, bodyAt + first.length), first))
    const second = object.subarray(bodyAt + first.length)
    assert.strictEqual(valueAt(second, type ?? {}), 0x8000 + 99)
    const encoded = [
      Extensions.encodeCursors(emptyCursorSet),
      Extensions.encodeTrim(link),
      Extensions.encodeLink(link),
      Extensions.encodeOwner({ epoch: 3, host: "h" }),
      Extensions.encodeCallsMark(),
      Extensions.encodeCallSpan({ first: 1, last: 2 }),
      Extensions.encodeOrigins({ marks: {}, copy: false })
    ]
    const types = table("Extension", 1)
    assert.deepStrictEqual(field(types, "type").map(Number), encoded.map((one) => one.type))
    assert.deepStrictEqual(field(types, "critical"), encoded.map((one) => one.critical ? "yes" : "no"))
    assert.deepStrictEqual(
      field(types, "name"),
      [
        [1, "cursors"],
        [2, "trim"],
        [3, "link"],
        [4, "owner"],
        [5, "calls"],
        [6, "callSpan"],
        [7, "origins"]
      ].map(([number, name]) => {
        assert.strictEqual(Reflect.get(Extensions, `${name}Extension`), number)
        return String(name).replace("callS", "call-s")
      })
    )
    const critical = types.filter((row) => row["critical"] === "yes").map((row) => numberOf(row["type"]))
    assert.deepStrictEqual([...Extensions.knownCriticalExtensions], critical)
  })

  it.effect("codes and versions are known to the reader, and the next ones are refused by name", () =>
    Effect.gen(function*() {
      const plain = { ...header, extensions: [] }
      const patched = (offset: number, bytes: number, value: number) => {
        const object = encodeSegment(plain, new Uint8Array(0), nodeDigest)
        const view = viewOf(object)
        if (bytes === 1) view.setUint8(offset, value)
        else view.setUint16(offset, value, true)
        view.setUint32(148, nodeDigest.crc32(object.subarray(0, 148)), true)
        return Effect.result(readHeader("k", object, nodeDigest))
      }
      const rows = table("Object header")
      const codes = table("Codes")
      for (const name of ["kind", "codec"] as const) {
        const at = numberOf(rows.find((row) => row["field"] === name)?.["offset"])
        const known = codes.filter((row) => row["field"] === name)
        for (const row of known) {
          const read = yield* patched(at, 1, numberOf(row["code"]))
          assert.strictEqual(Result.isSuccess(read) ? read.success.header[name] : undefined, row["name"])
        }
        const next = yield* patched(at, 1, Math.max(...known.map((row) => numberOf(row["code"]))) + 1)
        assert.strictEqual(Result.isFailure(next) ? next.failure._tag : undefined, "SegmentTooNew")
      }
      const newer = yield* patched(8, 2, formatVersion + 1)
      assert.strictEqual(Result.isFailure(newer) ? newer.failure._tag : undefined, "SegmentTooNew")
      const none = yield* patched(8, 2, 0)
      assert.strictEqual(Result.isFailure(none) ? none.failure._tag : undefined, "SegmentCorrupt")
    }))

  it("the chain table is what the hash is over", () => {
    const rows = table("Chain hash")
    const input = new Uint8Array(endOfRows(rows))
    const view = viewOf(input)
    for (const row of rows) {
      const value = headerValues[row["field"] ?? ""]
      const at = numberOf(row["offset"])
      if (typeof value === "string") input.set(fromHex(value), at)
      else if (value === undefined) assert.fail(`no such field: ${row["field"]}`)
      else if (row["type"] === "u64") setUint64(view, at, value)
      else if (row["type"] === "u32") view.setUint32(at, value, true)
      else view.setFloat64(at, value, true)
    }
    assert.strictEqual(input.length, 68)
    assert.strictEqual(
      toHex(nodeDigest.sha256([input]).subarray(0, 16)),
      chainAfter(header.chain, header, nodeDigest)
    )
    const seed = nodeDigest.sha256([new TextEncoder().encode("effect-wal chain 1"), fromHex(header.logId)])
    assert.strictEqual(toHex(seed.subarray(0, 16)), chainSeed(header.logId, nodeDigest))
  })

  it.effect("an end marker is what the page says, whoever puts it", () =>
    Effect.gen(function*() {
      const place = { logId: header.logId, nonce: header.nonce, epoch: 4, slot: 5 }
      const object = encodeEndMarker({ ...place, owner: { epoch: 6, host: "ä".repeat(400) } }, nodeDigest)
      assert.isAtMost(object.length, maxMarkerBytes)
      const { header: marker, headerBytes } = yield* readHeader("k", object, nodeDigest)
      assert.strictEqual(headerBytes, object.length)
      assert.deepStrictEqual(Extensions.ownerOf(marker), { epoch: 6, host: "ä".repeat(255) })
      const values = Object.fromEntries(table("Object header").map((row) => [row["field"], valueAt(object, row)]))
      const { chain, epoch, kind, nonce, slot, "log id": logId } = values
      assert.deepStrictEqual([kind, logId, nonce, epoch, slot, chain], [
        2,
        place.logId,
        place.nonce,
        4,
        5,
        "0".repeat(32)
      ])
      const numbers = ["first seq", "count", "raw length", "stored length", "raw CRC", "stored CRC", "first time"]
      for (const name of [...numbers, "last time", "watermark slot", "watermark seq"]) {
        assert.strictEqual(values[name], 0, name)
      }
    }))

  it("keys and limits are those of the code", () => {
    const nonce = "0123456789abcdef0123456789abcdef"
    assert.deepStrictEqual(field(table("Keys"), "key"), [
      ObjectKey.manifestKey(""),
      ObjectKey.slotKey("", 3, 17),
      `epochs/0000000128-${nonce}.json`,
      ObjectKey.probeKey("", nonce, "one"),
      `repair/${nonce}/manifest.json`
    ])
    assert.deepStrictEqual(field(table("Limits"), "value").map(numberOf), [
      fixedHeaderBytes,
      maxHeaderBytes,
      maxMarkerBytes,
      maxEnds,
      storedIndexEntries,
      maxCursors,
      maxIdLength,
      maxProducerIdLength,
      callsPerProducer,
      keptVersions,
      maxOrigins,
      maxLeftSpools,
      maxDamage,
      fileHeaderBytes,
      frameHeaderBytes,
      maxBodyBytes
    ])
  })
})
