/** How far a run is: a bar where a terminal is, a line now and then elsewhere. */
import { nowMillis } from "../../scripts/acceptance/Run.ts"

const width = 24
/** Without a terminal. */
const lineMillis = 10_000

export class Progress {
  private readonly out: NodeJS.WriteStream
  private readonly startedAt = nowMillis()
  private saidAt = nowMillis()
  private isShown = false

  constructor(out: NodeJS.WriteStream) {
    this.out = out
  }

  /** `share` from 0 to 1. */
  show(share: number, what: string): void {
    const seconds = (nowMillis() - this.startedAt) / 1_000
    const left = share > 0.02 ? `, about ${Math.ceil(seconds / share * (1 - share))} s left` : ""
    if (this.out.isTTY) {
      const full = Math.round(share * width)
      const bar = "█".repeat(full) + "░".repeat(width - full)
      this.out.write(`\r\x1b[K${bar} ${what} (${Math.round(seconds)} s${left})`)
      this.isShown = true
    } else if (nowMillis() - this.saidAt >= lineMillis) {
      this.saidAt = nowMillis()
      this.out.write(`${Math.round(share * 100)} % ${what} (${Math.round(seconds)} s${left})\n`)
    }
  }

  /** Makes room for other text. */
  clear(): void {
    if (this.isShown) this.out.write("\r\x1b[K")
    this.isShown = false
  }
}
