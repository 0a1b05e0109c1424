/**
 * Record batches of readings of sensors, in the bytes of Arrow's IPC format, as a stream of it holds them behind its schema:
 * https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format. The same seed gives the same batches.
 *
 * Columns: `at` timestamp[us], `sensor` int32, `celsius` double (null where a reading failed), `volts` float, `status`
 * int16, `site` utf8, `reading` fixed_size_binary[16].
 */
import { seededChance } from "../../../scripts/acceptance/Run.ts"

/** What is told of a column: its nulls, and its buffers in the order of the format. */
interface Column {
  readonly nulls: number
  readonly buffers: ReadonlyArray<Uint8Array>
}

const alignment = 64
const padded = (bytes: number, to: number): number => Math.ceil(bytes / to) * to

const bytesOf = ({ buffer, byteLength, byteOffset }: ArrayBufferView<ArrayBuffer>): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** A column without nulls has no bitmap. */
const plain = (...values: ReadonlyArray<ArrayBufferView<ArrayBuffer>>): Column => ({
  nulls: 0,
  buffers: [new Uint8Array(0), ...values.map(bytesOf)]
})

const metadataVersion5 = 4
const recordBatchHeader = 3

/**
 * The message's table of FlatBuffers, always of this shape: the message at 16, the batch at 48, then a node of 16 bytes for
 * each column, then a place of 16 bytes for each buffer. Offsets in the text of the format are from where they stand.
 */
const metadataOf = (rows: number, columns: ReadonlyArray<Column>): Uint8Array => {
  const buffers = columns.flatMap((column) => column.buffers)
  const nodesAt = 72
  const buffersAt = nodesAt + 16 * columns.length + 8
  const metadata = new Uint8Array(buffersAt + 16 * buffers.length)
  const view = new DataView(metadata.buffer)
  const shorts = (at: number, values: ReadonlyArray<number>) =>
    values.forEach((value, index) => view.setUint16(at + 2 * index, value, true))
  const longs = (at: number, values: ReadonlyArray<number>) =>
    values.forEach((value, index) => view.setBigInt64(at + 8 * index, BigInt(value), true))
  view.setUint32(0, 16, true)
  // Size of this list, size of the message, then where in it: version, kind of header, header, length of the body.
  shorts(4, [12, 20, 16, 18, 4, 8])
  view.setInt32(16, 16 - 4, true)
  view.setUint32(20, 48 - 20, true)
  view.setInt16(32, metadataVersion5, true)
  view.setUint8(34, recordBatchHeader)
  // The same of the batch: length, nodes, buffers.
  shorts(36, [10, 20, 8, 4, 16])
  view.setInt32(48, 48 - 36, true)
  view.setUint32(52, nodesAt - 4 - 52, true)
  longs(56, [rows])
  view.setUint32(64, buffersAt - 4 - 64, true)
  view.setUint32(nodesAt - 4, columns.length, true)
  columns.forEach(({ nulls }, index) => longs(nodesAt + 16 * index, [rows, nulls]))
  view.setUint32(buffersAt - 4, buffers.length, true)
  let at = 0
  buffers.forEach(({ length }, index) => {
    longs(buffersAt + 16 * index, [at, length])
    at += padded(length, alignment)
  })
  longs(24, [at])
  return metadata
}

/** The encapsulated message: a mark, the length of the table, the table, the buffers. */
const messageOf = (rows: number, columns: ReadonlyArray<Column>): Uint8Array => {
  const metadata = metadataOf(rows, columns)
  const buffers = columns.flatMap((column) => column.buffers)
  const bodyAt = padded(8 + metadata.length, alignment)
  const message = new Uint8Array(buffers.reduce((sum, { length }) => sum + padded(length, alignment), bodyAt))
  const view = new DataView(message.buffer)
  view.setUint32(0, 0xffffffff, true)
  view.setInt32(4, bodyAt - 8, true)
  message.set(metadata, 8)
  let at = bodyAt
  for (const buffer of buffers) {
    message.set(buffer, at)
    at += padded(buffer.length, alignment)
  }
  return message
}

const sensors = 200
const sites = ["north hall", "south hall", "cold store", "yard", "roof"] as const
const siteBytes = sites.map((site) => new TextEncoder().encode(site))

/** Readings one after the other; each sensor's temperature wanders. */
class Readings {
  private readonly chance: () => number
  private readonly celsius: Float64Array
  private micros = Date.UTC(2026, 2, 1, 8) * 1_000

  constructor(seed: number) {
    const chance = seededChance(seed)
    this.chance = chance
    this.celsius = Float64Array.from({ length: sensors }, () => 15 + 10 * chance())
  }

  batch(rows: number): Uint8Array {
    const { chance } = this
    const at = new BigInt64Array(rows)
    const sensor = new Int32Array(rows)
    const celsius = new Float64Array(rows)
    const isRead = new Uint8Array(Math.ceil(rows / 8))
    const volts = new Float32Array(rows)
    const status = new Int16Array(rows)
    const siteEnds = new Int32Array(rows + 1)
    const siteText: Array<number> = []
    const reading = new Uint32Array(4 * rows)
    let nulls = 0
    for (let row = 0; row < rows; row++) {
      this.micros += Math.floor(chance() * 2_000)
      at[row] = BigInt(this.micros)
      const which = Math.floor(chance() * sensors)
      sensor[row] = 40_000 + which
      const now = (this.celsius[which] ?? 0) + 0.2 * (chance() - 0.5)
      this.celsius[which] = now
      if (chance() < 0.02) nulls++
      else {
        // To a hundredth, as such a thing measures.
        celsius[row] = Math.round(now * 100) / 100
        isRead[row >>> 3] = (isRead[row >>> 3] ?? 0) | 1 << (row & 7)
      }
      volts[row] = 3.3 + 0.05 * (chance() - 0.5)
      status[row] = chance() < 0.97 ? 0 : 1 + Math.floor(chance() * 5)
      siteText.push(...siteBytes[which % sites.length] ?? [])
      siteEnds[row + 1] = siteText.length
      for (let word = 0; word < 4; word++) reading[4 * row + word] = Math.floor(chance() * 2 ** 32)
    }
    return messageOf(rows, [
      plain(at),
      plain(sensor),
      { nulls, buffers: [isRead, bytesOf(celsius)] },
      plain(volts),
      plain(status),
      plain(siteEnds, Uint8Array.from(siteText)),
      plain(reading)
    ])
  }
}

const rowsOfBatch = 1_000

/** So many bytes of batches of 1,000 rows, up to one batch more. */
export const arrowBatches = (bytes: number, seed: number): ReadonlyArray<Uint8Array> => {
  const readings = new Readings(seed)
  const batches: Array<Uint8Array> = []
  for (let total = 0; total < bytes;) {
    const batch = readings.batch(rowsOfBatch)
    batches.push(batch)
    total += batch.length
  }
  return batches
}
