/**
 * Small pictures of pages: a browser writes three bytes a pixel and packs for speed. A page has few colours, so the 256
 * most frequent ones, at one byte a pixel, are as good: what is left are shades at the edges of letters.
 */
import { Buffer } from "node:buffer"
import { constants, crc32, deflateSync, inflateSync } from "node:zlib"

interface Chunk {
  readonly type: string
  readonly data: Buffer
}

const signatureBytes = 8

const chunksOf = (png: Buffer): ReadonlyArray<Chunk> => {
  const chunks: Array<Chunk> = []
  for (let at = signatureBytes; at < png.length;) {
    const length = png.readUInt32BE(at)
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return chunks
}

const encode = ({ data, type }: Chunk): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([head, body, sum])
}

/** Bytes of a pixel in the colour types of screenshots: with and without transparency. */
const channels: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

/** The lines as they were before their filter. */
const unfilter = (lines: Buffer, lineBytes: number, pixelBytes: number): Buffer => {
  const height = lines.length / (lineBytes + 1)
  const pixels = Buffer.alloc(height * lineBytes)
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (lineBytes + 1)] ?? 0
    for (let x = 0; x < lineBytes; x++) {
      const raw = lines[y * (lineBytes + 1) + 1 + x] ?? 0
      const left = x < pixelBytes ? 0 : pixels[y * lineBytes + x - pixelBytes] ?? 0
      const up = y === 0 ? 0 : pixels[(y - 1) * lineBytes + x] ?? 0
      const corner = y === 0 || x < pixelBytes ? 0 : pixels[(y - 1) * lineBytes + x - pixelBytes] ?? 0
      pixels[y * lineBytes + x] = raw + predict(filter, left, up, corner)
    }
  }
  return pixels
}

const predict = (filter: number, left: number, up: number, corner: number): number => {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  const toLeft = Math.abs(up - corner)
  const toUp = Math.abs(left - corner)
  const toCorner = Math.abs(left + up - 2 * corner)
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner
}

const mostColours = 256

const red = (colour: number): number => colour >> 16
const green = (colour: number): number => colour >> 8 & 0xff
const blue = (colour: number): number => colour & 0xff

const distance = (left: number, right: number): number =>
  Math.abs(red(left) - red(right)) + Math.abs(green(left) - green(right)) + Math.abs(blue(left) - blue(right))

/** The colours of the palette, and the place in it of every colour that there is. */
const paletteOf = (colours: Uint32Array) => {
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const palette = [...counts].toSorted(([, left], [, right]) => right - left).slice(0, mostColours).map(([colour]) =>
    colour
  )
  const places = new Map(palette.map((colour, place) => [colour, place]))
  for (const colour of counts.keys()) {
    if (places.has(colour)) continue
    let nearest = 0
    for (let place = 1; place < palette.length; place++) {
      if (distance(colour, palette[place] ?? 0) < distance(colour, palette[nearest] ?? 0)) nearest = place
    }
    places.set(colour, nearest)
  }
  return { palette, places }
}

/** The same picture in fewer bytes; it has no see-through parts. */
export const packPng = (png: Buffer): Buffer => {
  const chunks = chunksOf(png)
  const header = Buffer.from(chunks.find(({ type }) => type === "IHDR")?.data ?? Buffer.alloc(13))
  const pixelBytes = channels[header[9] ?? 0] ?? 4
  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  const lines = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data)))
  const pixels = unfilter(lines, width * pixelBytes, pixelBytes)
  const colours = Uint32Array.from({ length: width * height }, (_, index) => pixels.readUIntBE(index * pixelBytes, 3))
  const { palette, places } = paletteOf(colours)
  const indexed = Buffer.alloc((width + 1) * height)
  for (const [index, colour] of colours.entries()) {
    indexed[Math.floor(index / width) * (width + 1) + 1 + index % width] = places.get(colour) ?? 0
  }
  // Eight bits of a palette.
  header[8] = 8
  header[9] = 3
  const packed = [
    { type: "IHDR", data: header },
    { type: "PLTE", data: Buffer.from(palette.flatMap((colour) => [red(colour), green(colour), blue(colour)])) },
    { type: "IDAT", data: deflateSync(indexed, { level: constants.Z_BEST_COMPRESSION, memLevel: 9 }) },
    { type: "IEND", data: Buffer.alloc(0) }
  ]
  return Buffer.concat([png.subarray(0, signatureBytes), ...packed.map(encode)])
}
