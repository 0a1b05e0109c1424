/** Damage to bytes that knows nothing of their meaning: bits, numbers, pieces. */
import { joinBytes } from "../JoinBytes.ts"
import type { FuzzRandom } from "./FuzzRandom.ts"

/** No mutation makes bytes longer than this. */
const maxBytes = 65_536

/** The bytes with `insert` in place of those from `from` to `to`, exclusive. */
export const spliced = (bytes: Uint8Array, from: number, to: number, insert: Uint8Array): Uint8Array =>
  joinBytes([bytes.subarray(0, from), insert, bytes.subarray(to)])

interface Piece {
  readonly from: number
  readonly to: number
}

const pieceOf = (random: FuzzRandom, bytes: Uint8Array): Piece => {
  const from = random.below(bytes.length)
  const longest = random.oneIn(4) ? bytes.length : 16
  return { from, to: Math.min(bytes.length, from + 1 + random.below(longest)) }
}

/** Writes `value` (0 to 2^53-1) as an unsigned little-endian number of 1, 2, 4 or 8 bytes, as far as there is room. */
export const setNumber = (bytes: Uint8Array, offset: number, width: number, value: number): void => {
  let rest = value
  for (let index = 0; index < width && offset + index < bytes.length; index++) {
    bytes[offset + index] = rest % 256
    rest = Math.floor(rest / 256)
  }
}

type Mutation = (random: FuzzRandom, bytes: Uint8Array) => Uint8Array

const changed = (change: (random: FuzzRandom, bytes: Uint8Array) => void): Mutation => (random, bytes) => {
  const copy = bytes.slice()
  change(random, copy)
  return copy
}

const mutations: ReadonlyArray<Mutation> = [
  changed((random, bytes) => {
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  }),
  changed((random, bytes) => {
    bytes[random.below(bytes.length)] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)])
  }),
  changed((random, bytes) => setNumber(bytes, random.below(bytes.length), random.pick([1, 2, 4, 8]), random.edge())),
  (random, bytes) => bytes.slice(0, random.below(bytes.length + 1)),
  (random, bytes) => {
    const at = random.below(bytes.length + 1)
    return spliced(bytes, at, at, random.bytes(random.between(1, 16)))
  },
  (random, bytes) => {
    const { from, to } = pieceOf(random, bytes)
    return spliced(bytes, from, to, new Uint8Array(0))
  },
  (random, bytes) => {
    const { from, to } = pieceOf(random, bytes)
    return spliced(bytes, to, to, bytes.subarray(from, to))
  },
  (random, bytes) => {
    const { from, to } = pieceOf(random, bytes)
    const at = random.below(bytes.length)
    return spliced(bytes, at, Math.min(bytes.length, at + to - from), bytes.subarray(from, to))
  },
  changed((random, bytes) => {
    const { from, to } = pieceOf(random, bytes)
    bytes.fill(random.pick([0, 0xff, 0x20]), from, to)
  })
]

/** The bytes after `times` mutations, each of a random kind; never longer than 64 KiB unless they were before. */
export const mutateBytes = (random: FuzzRandom, bytes: Uint8Array, times = random.between(1, 4)): Uint8Array => {
  let mutated = bytes
  for (let time = 0; time < times; time++) {
    const next = random.pick(mutations)(random, mutated)
    if (next.length <= Math.max(maxBytes, bytes.length)) mutated = next
  }
  return mutated
}
