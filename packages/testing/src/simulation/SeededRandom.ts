/** Randomness of a simulation: one seed, one sequence, on every machine. */
import { Sfc32 } from "../Sfc32.ts"

const range = 4_294_967_296

export class SeededRandom {
  private readonly source: Sfc32

  /** Any safe integer. */
  constructor(seed: number) {
    this.source = new Sfc32(seed >>> 0, Math.floor(seed / range) >>> 0)
  }

  /** At least 0, below 1. */
  next(): number {
    return this.source.uint32() / range
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
