/**
 * Directories of a journal: right ones, and such as lie with right checksums.
 *
 * An input is a row of files, each a length of the name in 1 byte, the name, a length of the content in 4 bytes, the
 * content; before them 1 byte that says how the directory is opened. Any bytes can be read as such a row.
 */
import type { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { mutateBytes } from "@effect-wal/testing/fuzz/MutateBytes"
import { joinBytes } from "@effect-wal/testing/JoinBytes"
import { encodeText, viewOf } from "../../src/format/Bytes.ts"
import { encodeFileHeader, type FileHeader, fileHeaderBytes, fileName } from "../../src/node/journal/JournalFile.ts"
import { bindFrames, encodeFrameHeader, type FrameHeader } from "../../src/node/journal/JournalFrame.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"

export interface FoundFile {
  readonly name: string
  readonly content: Uint8Array
}

const packed = (kind: number, files: ReadonlyArray<FoundFile>): Uint8Array =>
  joinBytes([
    Uint8Array.of(kind),
    ...files.flatMap(({ content, name }) => {
      const length = new Uint8Array(4)
      viewOf(length).setUint32(0, content.length, true)
      return [Uint8Array.of(name.length), encodeText(name), length, content]
    })
  ])

/** The files of an input, each name once; what is cut counts as far as it goes. */
export const filesOf = (input: Uint8Array): ReadonlyArray<FoundFile> => {
  const files = new Map<string, Uint8Array>()
  for (let at = 1; at < input.length;) {
    const nameEnd = at + 1 + (input[at] ?? 0)
    const name = new TextDecoder("latin1").decode(input.subarray(at + 1, nameEnd))
    if (nameEnd + 4 > input.length) break
    const end = nameEnd + 4 + viewOf(input).getUint32(nameEnd, true)
    // Only what a directory can hold.
    if (/^[\w.~-]{1,40}$/.test(name) && name !== "." && name !== "..") files.set(name, input.slice(nameEnd + 4, end))
    at = end
  }
  return [...files].map(([name, content]) => ({ name, content }))
}

interface Frame {
  readonly header: FrameHeader
  readonly body: Uint8Array
}

interface Chain {
  readonly id: string
  epoch: number
  slot: number
}

const frameIn = (random: FuzzRandom, chain: Chain): Frame => {
  const body = random.bytes(random.oneIn(10) ? random.below(600) : random.below(24))
  if (random.oneIn(8)) {
    chain.epoch++
    chain.slot = 0
  }
  const place = random.oneIn(12) ? { epoch: random.edge(), slot: random.edge() } : { ...chain }
  chain.slot += random.oneIn(10) ? 2 : 1
  const header = {
    epoch: place.epoch,
    slot: place.slot,
    bodyBytes: body.length,
    bodyCrc: nodeDigest.crc32(body),
    writtenAtMillis: 1_700_000_000_000,
    syncedThrough: 0,
    passive: random.oneIn(6)
  }
  return { header, body }
}

/** What a frame says, with a checksum that is right all the same. */
const lie = (random: FuzzRandom, header: FrameHeader, offset: number): FrameHeader => ({
  ...header,
  ...random.pick<() => Partial<FrameHeader>>([
    () => ({ bodyBytes: random.oneIn(2) ? header.bodyBytes + random.between(1, 200) : random.edge() % 0x1_0000_0000 }),
    () => ({ bodyCrc: random.uint32() }),
    () => ({ syncedThrough: random.below(offset + 1) }),
    () => ({ syncedThrough: offset + random.below(200) }),
    () => ({ writtenAtMillis: random.edge() })
  ])()
})

/** The frames of one file, the way to its end: some synced, some not, some that lie or stand inside another one. */
const framesIn = (random: FuzzRandom, chain: Chain, number: number, frames: Array<Frame>): Uint8Array => {
  const binding = bindFrames(nodeDigest, chain.id, number)
  const parts: Array<Uint8Array> = []
  let offset = fileHeaderBytes
  let synced = fileHeaderBytes
  for (const { body, header } of frames) {
    const honest = { ...header, syncedThrough: random.oneIn(3) ? synced : fileHeaderBytes }
    const written = random.oneIn(10) ? lie(random, honest, offset) : honest
    parts.push(encodeFrameHeader(binding, written, offset), body)
    offset += 56 + body.length
    if (random.oneIn(2)) synced = offset
    if (random.oneIn(15)) {
      const junk = random.oneIn(2) ? random.bytes(random.between(1, 80)) : new Uint8Array(random.between(1, 700))
      parts.push(junk)
      offset += junk.length
    }
  }
  return joinBytes(parts)
}

const summaryOf = (frames: ReadonlyArray<Frame>) => {
  const names = frames.map(({ header }) => header).sort((a, b) => a.epoch - b.epoch || a.slot - b.slot)
  const different = names.filter((one, index) =>
    one.epoch !== names[index + 1]?.epoch || one.slot !== names[index + 1]?.slot
  )
  return {
    slots: different.length,
    holding: different.filter(({ passive }) => !passive).length,
    lowest: different[0],
    highest: different.at(-1)
  }
}

const previousIn = (random: FuzzRandom, previous: FileHeader["previous"]): FileHeader["previous"] =>
  previous === undefined || !random.oneIn(8) ? previous : {
    ...previous,
    ...random.pick<() => Partial<NonNullable<FileHeader["previous"]>>>([
      () => ({ goodBytes: random.oneIn(2) ? random.below(previous.goodBytes + 200) : random.edge() }),
      () => ({ number: random.edge() }),
      () => ({ slots: random.edge(), holding: random.edge() }),
      () => ({ lowest: { epoch: random.edge(), slot: random.edge() } }),
      () => ({ highest: { epoch: random.edge(), slot: random.edge() } })
    ])()
  }

const shuffled = (random: FuzzRandom, frames: Array<Frame>): Array<Frame> => {
  const at = random.below(frames.length)
  const frame = frames[at]
  if (frame === undefined) return frames
  random.perform(
    () => frames.splice(at, 1),
    () => frames.splice(random.below(frames.length), 0, frame),
    () => frames.reverse(),
    () => frames.push(frame)
  )
  return frames
}

const otherNames = ["0000000000.journal", "0000000009.journal", "0000000002.journal.tmp", "x.journal", "lock", "other"]

const damaged = (random: FuzzRandom, content: Uint8Array): Uint8Array => {
  const copy = random.oneIn(3) ? content.slice(0, random.below(content.length + 1)) : mutateBytes(random, content)
  if (copy.length < fileHeaderBytes || random.oneIn(2)) return copy
  // The file's own header stays right.
  const sealed = copy.slice()
  viewOf(sealed).setUint32(124, nodeDigest.crc32(sealed.subarray(0, 124)), true)
  return sealed
}

/** One directory of up to four files. */
export const makeDirectory = (random: FuzzRandom): Uint8Array => {
  const chain: Chain = { id: "e".repeat(32), epoch: 1, slot: 0 }
  const files: Array<FoundFile> = []
  let previous: FileHeader["previous"] = undefined
  let number = random.oneIn(400) ? random.pick([9_999_999_997, 9_999_999_998, 9_999_999_999]) : 1
  for (let left = random.between(1, 3); left > 0; left--) {
    const frames = Array.from({ length: random.below(6) }, () => frameIn(random, chain))
    const placed = random.oneIn(6) ? shuffled(random, frames) : frames
    const id = random.oneIn(40) ? "f".repeat(32) : chain.id
    const header = { id, number, previous: previousIn(random, previous), createdAtMillis: 1_700_000_000_000 }
    const content = joinBytes([encodeFileHeader(header, nodeDigest), framesIn(random, chain, number, placed)])
    const name = random.oneIn(30) ? random.pick(otherNames) : fileName(number)
    if (!random.oneIn(25)) files.push({ name, content: random.oneIn(4) ? damaged(random, content) : content })
    if (frames.length > 0) previous = { number, goodBytes: content.length, ...summaryOf(placed) }
    number += random.oneIn(8) ? 2 : 1
  }
  if (random.oneIn(12)) files.push({ name: random.pick(otherNames), content: random.bytes(random.below(200)) })
  return packed(random.below(16), files)
}
