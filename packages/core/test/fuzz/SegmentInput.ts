/** Objects to be read as segments: right ones, and such as lie with right checksums. */
import { type FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { mutateBytes, setNumber, spliced } from "@effect-wal/testing/fuzz/MutateBytes"
import { mutateJson, nodeOf, renderJson } from "@effect-wal/testing/fuzz/MutateJson"
import { compressFrameSync, decompressFrameSync } from "lz4-napi"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { encodeText, viewOf } from "../../src/format/Bytes.ts"
import * as Extensions from "../../src/format/Extensions.ts"
import { OpenColumns } from "../../src/format/OpenColumns.ts"
import { encodeBody } from "../../src/format/SegmentBody.ts"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import {
  type Extension,
  fixedHeaderBytes,
  maxHeaderBytes,
  type SegmentHeader,
  type StoredCodec
} from "../../src/format/SegmentHeader.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { boundary, segmentHeader } from "../format/Samples.ts"

/** The reader's limit: no body is unpacked to more. */
export const maxSegmentBytes = 1_048_576

const texts: ReadonlyArray<string> = ["", "k", "key", "\u{1f600}", "a\u0000b", "\uFEFF", "\uFFFD", "x".repeat(40)]
const numbers: ReadonlyArray<number> = [0, -0, 1.5, -1, 1_700_000_000_000, 9e15, Number.MAX_VALUE, 5e-324]

const columnsIn = (random: FuzzRandom): OpenColumns => {
  const columns = new OpenColumns()
  const count = random.oneIn(8) ? random.between(9, 60) : random.below(9)
  const optional = random.below(16)
  const has = (bit: number) => (optional & bit) !== 0 && random.oneIn(2)
  let at = random.oneIn(8) ? -random.below(1_000) : 1_700_000_000_000
  for (let left = count; left > 0;) {
    const call = random.oneIn(3) ? Math.min(left, random.between(1, 4)) : 0
    if (call > 0) {
      columns.openCall({
        id: `p-${random.below(3)}`,
        sequence: random.edge(),
        count: call,
        fingerprint: random.uint32()
      })
    }
    for (let nth = Math.max(1, call); nth > 0; nth--, left--) {
      at += random.oneIn(2) ? random.below(5) : 0
      const length = random.oneIn(10) ? random.below(2_000) : random.below(24)
      columns.push({
        payload: random.oneIn(2) ? random.bytes(length) : new Uint8Array(length).fill(random.below(256)),
        ...(has(1) ? { key: random.pick(texts) } : {}),
        ...(has(2) ? { headers: { [random.pick(texts)]: random.pick(texts) } } : {}),
        ...(has(4) ? { contentType: random.pick(texts) } : {}),
        ...(has(8) ? { timestamp: random.pick(numbers) } : {})
      }, at)
    }
  }
  return columns
}

/** Zeros that pack to nearly nothing: what a reader must not unpack because the frame says so. */
const bombBytes = 8_388_608
const bombs = new Map<StoredCodec, Uint8Array>()

const pack = (codec: StoredCodec, body: Uint8Array): Uint8Array =>
  codec === "none" ? body : codec === "zstd" ? zstdCompressSync(body) : compressFrameSync(Buffer.from(body))

const bomb = (codec: StoredCodec): Uint8Array => {
  const known = bombs.get(codec) ?? pack(codec, new Uint8Array(bombBytes))
  bombs.set(codec, known)
  return known
}

/** Damage at the outside of a frame: flags, sizes, block headers, and what stands behind it. */
const mutateFrame = (random: FuzzRandom, codec: StoredCodec, frame: Uint8Array): Uint8Array => {
  const copy = frame.slice()
  random.perform(
    () => setNumber(copy, 4, 1, random.below(256)),
    () => setNumber(copy, 5, random.pick([1, 2, 4, 8]), random.edge()),
    () => setNumber(copy, codec === "zstd" ? random.between(5, 16) : random.between(6, 15), 3, random.edge()),
    () => setNumber(copy, random.below(copy.length), 1, random.below(256))
  )
  return random.oneIn(6) ? spliced(copy, copy.length, copy.length, frame) : copy
}

/** A frame that says that it unpacks to `rawBytes`, whatever is in it; lz4 frames of our writer say nothing. */
const claim = (codec: StoredCodec, frame: Uint8Array, rawBytes: number): Uint8Array => {
  const copy = frame.slice()
  const descriptor = copy[4] ?? 0
  const width = [descriptor & 0x20 ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0
  // A width of 2 stands for 256 more.
  if (codec === "zstd") {
    setNumber(copy, descriptor & 0x20 ? 5 : 6, width, Math.max(0, rawBytes - (width === 2 ? 256 : 0)))
  }
  return copy
}

const rawLengths = [
  0,
  1,
  255,
  256,
  511,
  65_535,
  65_536,
  131_072,
  262_144,
  262_145,
  maxSegmentBytes,
  maxSegmentBytes + 1
]

const jsonOf = (random: FuzzRandom, type: number, value: unknown): Extension => {
  const node = nodeOf(value)
  if (random.oneIn(3)) mutateJson(random, node)
  return { type, critical: random.oneIn(20), bytes: encodeText(renderJson(node)) }
}

const extensionsIn = (random: FuzzRandom, hasCalls: boolean): ReadonlyArray<Extension> => {
  const place = { epoch: random.edge(), slot: random.edge() }
  const all: ReadonlyArray<() => Extension> = [
    () => jsonOf(random, Extensions.cursorsExtension, { revision: { epoch: 3, n: 1 }, marks: { default: 7, b: 9 } }),
    () => jsonOf(random, Extensions.trimExtension, boundary(2, 3, 30)),
    () => jsonOf(random, Extensions.linkExtension, boundary(3, 0, 170)),
    () => jsonOf(random, Extensions.ownerExtension, { epoch: random.edge(), host: random.pick(texts) }),
    () => jsonOf(random, Extensions.callSpanExtension, { first: 1, last: random.edge() }),
    () => jsonOf(random, Extensions.originsExtension, { marks: { ["a".repeat(32)]: place }, copy: true }),
    () => ({ type: random.pick([0, 8, 16, 0x7fff]), critical: random.oneIn(4), bytes: random.bytes(random.below(20)) }),
    () => ({ type: 16, critical: false, bytes: random.bytes(random.below(maxHeaderBytes)) })
  ]
  const some = all.filter(() => random.oneIn(4)).map((make) => make())
  return hasCalls ? [...some, Extensions.encodeCallsMark()] : some
}

/** A header whose fields lie. */
const lie = (random: FuzzRandom, header: SegmentHeader): SegmentHeader => ({
  ...header,
  ...random.pick<() => Partial<SegmentHeader>>([
    () => ({ count: random.oneIn(2) ? header.count + random.pick([-1, 1]) : random.edge() }),
    () => ({ rawBytes: random.oneIn(2) ? header.rawBytes + random.pick([-1, 1]) : random.pick(rawLengths) }),
    () => ({ storedBytes: random.edge() }),
    () => ({ firstSeq: random.edge() }),
    () => ({ epoch: random.edge(), slot: random.edge() }),
    () => ({ watermarkSlot: random.edge(), watermarkSeq: random.edge() }),
    () => ({ firstAt: random.pick([Number.NaN, Number.POSITIVE_INFINITY, -1]), lastAt: random.pick([Number.NaN, -0]) }),
    () => ({ codec: random.pick(["none", "zstd", "lz4"]) }),
    () => ({ kind: "end-marker" })
  ])()
})

/** Damage to the columns where they stand: the mask, lengths, times, counts of calls. */
const mutateColumns = (random: FuzzRandom, body: Uint8Array, count: number): Uint8Array => {
  const copy = body.slice()
  random.perform(
    () => setNumber(copy, 0, 4, random.oneIn(4) ? random.edge() : random.below(32)),
    () => setNumber(copy, 4 + 4 * random.below(count), 4, random.edge()),
    () => setNumber(copy, 4 + 4 * count + 8 * random.below(count) + 6, 2, random.pick([0, 0x7ff0, 0xfff0, 0x7ff8])),
    () => setNumber(copy, 4 + 12 * count + random.below(copy.length), random.pick([1, 4]), random.edge()),
    () => setNumber(copy, copy.length - 1 - random.below(40), 8, random.edge())
  )
  return random.oneIn(3) ? mutateBytes(random, copy, 1) : copy
}

const unpackedCrc = (codec: number, stored: Uint8Array): number | undefined => {
  try {
    const raw = codec === 1
      ? zstdDecompressSync(stored, { maxOutputLength: maxSegmentBytes })
      : codec === 2
      ? decompressFrameSync(Buffer.from(stored))
      : stored
    return nodeDigest.crc32(raw)
  } catch {
    return undefined
  }
}

/** Makes the checksums of an object right, where it is long enough to have any. */
export const sealObject = (object: Uint8Array): Uint8Array => {
  if (object.length < fixedHeaderBytes + 4) return object
  const sealed = object.slice()
  const view = viewOf(sealed)
  const total = view.getUint32(12, true)
  if (total < fixedHeaderBytes + 4 || total > sealed.length) return object
  const stored = sealed.subarray(total)
  view.setUint32(88, nodeDigest.crc32(stored), true)
  const raw = unpackedCrc(view.getUint8(11), stored)
  if (raw !== undefined) view.setUint32(84, raw, true)
  view.setUint32(total - 4, nodeDigest.crc32(sealed.subarray(0, total - 4)), true)
  return sealed
}

/** Where fields of the header start, for damage that hits one of them whole. */
const fieldOffsets = [8, 10, 11, 12, 48, 56, 64, 72, 76, 80, 84, 88, 92, 96, 104, 112, 120, 128, 144, 148, 150]

const mutateObject = (random: FuzzRandom, object: Uint8Array): Uint8Array => {
  if (random.oneIn(2)) return mutateBytes(random, object)
  const copy = object.slice()
  setNumber(copy, random.pick(fieldOffsets), random.pick([1, 2, 4, 8]), random.edge())
  return copy
}

/** One object, damaged in none, one or several of its layers. */
export const makeSegment = (random: FuzzRandom): Uint8Array => {
  const columns = columnsIn(random)
  const whole = encodeBody(columns)
  const raw = random.oneIn(2) ? mutateColumns(random, whole, columns.count) : whole
  const codec = random.pick<StoredCodec>(["none", "none", "zstd", "lz4"])
  const packed = codec !== "none" && random.oneIn(20) ? bomb(codec) : pack(codec, raw)
  const rawBytes = codec !== "none" && random.oneIn(8) ? random.pick(rawLengths) : raw.length
  const claimed = rawBytes === raw.length ? packed : claim(codec, packed, rawBytes)
  const stored = codec !== "none" && random.oneIn(3) ? mutateFrame(random, codec, claimed) : claimed
  const honest = segmentHeader({
    codec,
    count: columns.count,
    rawBytes,
    storedBytes: stored.length,
    rawCrc: nodeDigest.crc32(raw),
    storedCrc: nodeDigest.crc32(stored),
    firstAt: columns.times[0] ?? 0,
    lastAt: columns.times.at(-1) ?? 0,
    extensions: extensionsIn(random, columns.calls !== undefined)
  })
  const object = encodeSegment(random.oneIn(3) ? lie(random, honest) : honest, stored, nodeDigest)
  if (!random.oneIn(3)) return object
  const damaged = mutateObject(random, object)
  return random.oneIn(8) ? damaged : sealObject(damaged)
}
