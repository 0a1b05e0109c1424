/**
 * Randomness of a simulation: one seed, one sequence, on every machine.
 *
 * sfc32 (Chris Doty-Humphrey, PractRand, https://pracrand.sourceforge.net/RNG_engines.txt): 128 bits of state, 32-bit
 * integer steps only, so a run is the same wherever it is repeated.
 */

const range = 4_294_967_296
/** Steps after seeding, until the state no longer shows the seed. */
const warmUp = 12

export class SeededRandom {
  private a: number
  private b: number
  private c: number
  private counter = 1

  /** Any safe integer. */
  constructor(seed: number) {
    this.a = seed >>> 0
    this.b = Math.floor(seed / range) >>> 0
    this.c = 0x9e3779b9
    for (let step = 0; step < warmUp; step++) this.next()
  }

  /** At least 0, below 1. */
  next(): number {
    const sum = (this.a + this.b + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0
    return (sum >>> 0) / range
  }

  /** An integer of at least 0, below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  /** An integer from `from` to `to`, inclusive. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1)
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of them; they are not none. */
  pick<A>(items: readonly [A, ...ReadonlyArray<A>]): A {
    return items[this.below(items.length)] ?? items[0]
  }

  /** One of them, or `undefined` of none. */
  pickAny<A>(items: ReadonlyArray<A>): A | undefined {
    return items[this.below(items.length)]
  }

  /** Evenly distributed over orders of magnitude, from `from` to `to`; both are above 0. */
  logarithmic(from: number, to: number): number {
    return from * (to / from) ** this.next()
  }

  /** 32 hexadecimal digits. */
  hex128(): string {
    let text = ""
    for (let part = 0; part < 4; part++) text += this.below(range).toString(16).padStart(8, "0")
    return text
  }
}
