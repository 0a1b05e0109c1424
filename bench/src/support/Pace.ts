/** A load of so much a second. */
import { nowMillis, pause } from "../../../scripts/acceptance/Run.ts"

export class Pace {
  private readonly perMillis: number
  private readonly startedAt = nowMillis()
  private taken = 0

  /** `perSecond`: bytes, records or whatever is counted. It starts now. */
  constructor(perSecond: number) {
    this.perMillis = perSecond / 1_000
  }

  /** Milliseconds until so many more are due; 0 for what is late. */
  waitFor(amount: number): number {
    const dueAt = this.startedAt + this.taken / this.perMillis
    this.taken += amount
    return Math.max(0, dueAt - nowMillis())
  }

  /** Completes when so many more are due. */
  async take(amount: number): Promise<void> {
    const millis = this.waitFor(amount)
    if (millis > 0) await pause(millis)
  }
}
