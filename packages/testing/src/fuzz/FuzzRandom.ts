/**
 * Numbers for fuzzing. Each input of a run has a generator of its own, so that one input can be made again without those
 * before it.
 */
import { Sfc32 } from "../Sfc32.ts"

/** Numbers at which lengths, counts and offsets go wrong. */
export const edgeNumbers: ReadonlyArray<number> = [
  0,
  1,
  2,
  3,
  7,
  8,
  9,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  0x7fff_ffff,
  0x8000_0000,
  0xffff_fffe,
  0xffff_ffff,
  0x1_0000_0000,
  Number.MAX_SAFE_INTEGER - 1,
  Number.MAX_SAFE_INTEGER
]

export class FuzzRandom extends Sfc32 {
  /** The generator of input `index` of the run `seed`; both are whole numbers from 0 to 2^53-1. */
  constructor(seed: number, index: number) {
    super(
      (seed ^ Math.imul(Math.floor(seed / 2 ** 32), 0x85eb_ca6b)) | 0,
      (index ^ Math.imul(Math.floor(index / 2 ** 32), 0xc2b2_ae35)) | 0
    )
  }

  /** A whole number from 0 up to and without `limit`; 0 where `limit` is not above 0. */
  below(limit: number): number {
    return limit <= 0 ? 0 : Math.floor(this.uint32() / 2 ** 32 * limit)
  }

  /** A whole number from `least` to `most`, both inclusive. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  /** One of the list, which is not empty. */
  pick<A>(list: ReadonlyArray<A>): A {
    const index = this.below(list.length)
    for (const one of list.slice(index, index + 1)) return one
    throw new RangeError("nothing to pick from")
  }

  /** A number at which things go wrong, or any small one. */
  edge(): number {
    return this.oneIn(4) ? this.below(1_000) : this.pick(edgeNumbers)
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    for (let index = 0; index < length; index++) bytes[index] = this.uint32() & 0xff
    return bytes
  }

  /** Does one of the alternatives. */
  perform(...alternatives: ReadonlyArray<() => unknown>): void {
    this.pick(alternatives)()
  }
}
