/**
 * A file of a journal: its name, and the header that it starts with.
 *
 * ```
 *   0  8  magic
 *   8  2  version
 *  10  2  reserved
 *  12  4  length of this header, 128
 *  16 16  journal id
 *  32  8  number of this file
 *  40  8  number of the file before; 0: none
 *  48  8  its good length: what lies behind it never existed
 *  56  8  its slots
 *  64  8  those of them that are not passive
 *  72 16  its lowest epoch and slot
 *  88 16  its highest epoch and slot
 * 104  8  when this file was made, epoch milliseconds
 * 112 12  reserved
 * 124  4  CRC-32 of the header
 * ```
 *
 * All integers are little-endian. A file gets its final name once its header is durable, so each file with such a name has
 * a valid header; and a file is closed for good before the one after it is made, so what is said about it stays true.
 */
import type { DigestService } from "../../codec/Digest.ts"
import { equalBytes, fromHex, getUint64, setUint64, toHex, viewOf } from "../../format/Bytes.ts"
import type { SlotName } from "../../format/ObjectKey.ts"

/** First bytes of a file. */
export const fileMagic = Uint8Array.of(0x89, 0x45, 0x57, 0x4a, 0x0d, 0x0a, 0x1a, 0x0a)

/** The version that this program writes, and the newest that it reads. */
export const journalVersion = 1

/** Where the first frame starts. */
export const fileHeaderBytes = 128

const crcOffset = 124

/** What the frames of one file are, in short. */
export interface FileSummary {
  /** Different slots. */
  readonly slots: number
  /** Different slots whose frame is not passive. */
  readonly holding: number
  /** Both are absent in a file without frames. */
  readonly lowest: SlotName | undefined
  readonly highest: SlotName | undefined
}

export const emptySummary: FileSummary = { slots: 0, holding: 0, lowest: undefined, highest: undefined }

/** What a file says about the one before it. */
export interface PreviousFile extends FileSummary {
  readonly number: number
  readonly goodBytes: number
}

export interface FileHeader {
  readonly id: string
  readonly number: number
  readonly previous: PreviousFile | undefined
  readonly createdAtMillis: number
}

/** Why bytes are no header. */
export type FileHeaderProblem = { readonly _tag: "Damaged" } | { readonly _tag: "TooNew"; readonly version: number }

const namePattern = /^([0-9]{10})\.journal$/

/** The highest number that a name has digits for. */
export const maxFileNumber = 9_999_999_999

/** The name of a file. */
export const fileName = (number: number): string => `${String(number).padStart(10, "0")}.journal`

/** The number that a name stands for; `undefined` for a name that is not ours. */
export const fileNumberOf = (name: string): number | undefined => {
  const match = namePattern.exec(name)
  return match === null ? undefined : Number(match[1])
}

/** What is behind the name of a file that is being made. */
export const temporarySuffix = ".tmp"

const setName = (view: DataView, offset: number, name: SlotName | undefined) => {
  setUint64(view, offset, name?.epoch ?? 0)
  setUint64(view, offset + 8, name?.slot ?? 0)
}

export const encodeFileHeader = (header: FileHeader, digest: DigestService): Uint8Array => {
  const bytes = new Uint8Array(fileHeaderBytes)
  const view = viewOf(bytes)
  bytes.set(fileMagic, 0)
  view.setUint16(8, journalVersion, true)
  view.setUint32(12, fileHeaderBytes, true)
  bytes.set(fromHex(header.id), 16)
  setUint64(view, 32, header.number)
  const { previous } = header
  if (previous !== undefined) {
    setUint64(view, 40, previous.number)
    setUint64(view, 48, previous.goodBytes)
    setUint64(view, 56, previous.slots)
    setUint64(view, 64, previous.holding)
    setName(view, 72, previous.lowest)
    setName(view, 88, previous.highest)
  }
  setUint64(view, 104, Math.max(0, header.createdAtMillis))
  view.setUint32(crcOffset, digest.crc32(bytes.subarray(0, crcOffset)), true)
  return bytes
}

const nameAt = (fields: ReadonlyArray<number>, index: number): SlotName => ({
  epoch: fields[index] ?? 0,
  slot: fields[index + 1] ?? 0
})

const previousOf = (fields: ReadonlyArray<number>): PreviousFile | undefined => {
  const [, number = 0, goodBytes = 0, slots = 0, holding = 0] = fields
  if (number === 0) return undefined
  return {
    number,
    goodBytes,
    slots,
    holding,
    lowest: slots === 0 ? undefined : nameAt(fields, 5),
    highest: slots === 0 ? undefined : nameAt(fields, 7)
  }
}

/** Reads the header from the start of a file. */
export const decodeFileHeader = (bytes: Uint8Array, digest: DigestService): FileHeader | FileHeaderProblem => {
  if (bytes.length < fileHeaderBytes || !equalBytes(bytes.subarray(0, 8), fileMagic)) return { _tag: "Damaged" }
  const view = viewOf(bytes)
  if (view.getUint32(crcOffset, true) !== digest.crc32(bytes.subarray(0, crcOffset))) return { _tag: "Damaged" }
  const version = view.getUint16(8, true)
  if (version > journalVersion) return { _tag: "TooNew", version }
  const fields = [32, 40, 48, 56, 64, 72, 80, 88, 96, 104].map((offset) => getUint64(view, offset) ?? -1)
  const [number = -1] = fields
  if (fields.includes(-1) || number < 1) return { _tag: "Damaged" }
  return {
    id: toHex(bytes.subarray(16, 32)),
    number,
    previous: previousOf(fields),
    createdAtMillis: fields[9] ?? 0
  }
}
