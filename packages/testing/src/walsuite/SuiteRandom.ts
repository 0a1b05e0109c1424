/** Chance with a seed, so that a failure can be run again. */

/** Numbers from 0 (inclusive) to 1 (exclusive), the same ones for the same seed: Mulberry32. */
export const generator = (seed: number): () => number => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The same elements in an order that the seed decides. */
export const shuffled = <A>(elements: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const random = generator(seed)
  return elements.map((element) => ({ element, rank: random() })).sort((left, right) => left.rank - right.rank)
    .map(({ element }) => element)
}

/** Bytes that do not compress. */
export const noise = (bytes: number, seed: number): Uint8Array => {
  const random = generator(seed)
  return Uint8Array.from({ length: bytes }, () => Math.floor(random() * 256))
}
