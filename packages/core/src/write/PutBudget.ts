/**
 * What PUTs a log may send: pure decisions on how many it has sent of late.
 *
 * A token bucket: it fills by the budget, holds what one second brings (one PUT at least), and each PUT takes one out. What
 * is not held back, such as full segments, takes too, and can leave a debt of as much.
 *
 * Invariants: who waits for `allowedAt` each time sends, in any time, no more than the budget of that time and of one
 * second, or one PUT where that is less · after a rest as long as two seconds, or as two PUTs take, a burst is free again.
 */

/** Of one PUT: sums of fractions do not come out exactly. */
const rounding = 1e-9

export class PutBudget {
  private readonly perMilli: number
  private readonly most: number
  /** PUTs that may be sent at once, as of `atMillis`; below 0 the debt. */
  private saved: number
  private atMillis: number

  /** Times are milliseconds of one clock that never goes back. */
  constructor({ nowMillis, putsPerSecond }: { readonly putsPerSecond: number; readonly nowMillis: number }) {
    this.perMilli = putsPerSecond / 1_000
    this.most = Math.max(1, putsPerSecond)
    this.saved = this.most
    this.atMillis = nowMillis
  }

  /** So many PUTs were sent, or are on their way. */
  take(puts: number, nowMillis: number): void {
    this.fill(nowMillis)
    this.saved = Math.max(-this.most, this.saved - puts)
  }

  /** From when on one PUT more is within the budget; `nowMillis` where it is now. */
  allowedAt(nowMillis: number): number {
    this.fill(nowMillis)
    return this.saved >= 1 - rounding ? nowMillis : nowMillis + (1 - this.saved) / this.perMilli
  }

  private fill(nowMillis: number): void {
    this.saved = Math.min(this.most, this.saved + (nowMillis - this.atMillis) * this.perMilli)
    this.atMillis = nowMillis
  }
}
