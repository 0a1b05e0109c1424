/**
 * sfc32 (Chris Doty-Humphrey, PractRand, https://pracrand.sourceforge.net/RNG_engines.txt): 128 bits of state, 32-bit
 * integer steps only, so the same seed gives the same numbers on every machine, for ever.
 */

const golden = 0x9e3779b9
/** Steps after seeding, until the state no longer shows the seed. */
const warmUp = 12

export class Sfc32 {
  private a: number
  private b: number
  private c = golden
  private counter = 1

  /** Two 32-bit integers. */
  constructor(a: number, b: number) {
    this.a = a
    this.b = b
    for (let step = 0; step < warmUp; step++) this.uint32()
  }

  /** 0 to 2^32-1. */
  uint32(): number {
    const sum = (this.a + this.b + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}
