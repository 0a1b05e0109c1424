/**
 * Records that were answered when they were only accepted, and what a crash may take of them: one run at the end, and not
 * more than the log itself had said is at risk.
 */
import type { Ledger } from "./Ledger.ts"
import type { Run } from "./Run.ts"

interface Accepted {
  readonly ordinals: ReadonlyArray<number>
  readonly firstSeq: number
}

/** What a status says, as far as it matters here. */
interface Seen {
  readonly lastAccepted: number
  readonly atRisk: number
}

export class AtRisk {
  private readonly run: Run
  private readonly ledger: Ledger
  /** Records that were accepted, and those of them that a crash took. */
  accepted = 0
  lost = 0
  /** Largest loss of one crash, and what was at most at risk then. */
  largestLoss = { lost: 0, atRisk: 0 }
  /** Largest value of the gauge. */
  largestGauge = 0
  crashesWithLoss = 0
  crashes = 0
  private open: Array<Accepted> = []
  private highest = 0
  private seen: Seen = { lastAccepted: 0, atRisk: 0 }

  constructor(run: Run, ledger: Ledger) {
    this.run = run
    this.ledger = ledger
  }

  /** The append of these was answered as accepted. */
  accept(ordinals: ReadonlyArray<number>, firstSeq: number): void {
    this.open.push({ ordinals, firstSeq })
    this.accepted += ordinals.length
    this.highest = Math.max(this.highest, firstSeq + ordinals.length - 1)
  }

  /** A status of the running log. */
  saw(status: Readonly<Record<string, unknown>>): void {
    const { at_risk: gauge } = status
    const atRisk = typeof gauge === "object" && gauge !== null && "records" in gauge
      ? Number(gauge.records)
      : Number.NaN
    const lastAccepted = Number(status["last_accepted"])
    if (lastAccepted < this.seen.lastAccepted) return
    this.seen = { lastAccepted, atRisk }
    this.largestGauge = Math.max(this.largestGauge, atRisk)
  }

  /** The log is open again and ends at this number: what was accepted up to there is kept, the rest is lost for good. */
  reopened(end: number): void {
    const atRisk = this.seen.atRisk + Math.max(0, this.highest - this.seen.lastAccepted)
    const lost = Math.max(0, this.highest - end)
    this.run.promise(lost <= atRisk, `${lost} accepted records are lost, at most ${atRisk} were at risk`)
    for (const { firstSeq, ordinals } of this.open) {
      const kept = Math.max(0, Math.min(ordinals.length, end - firstSeq + 1))
      this.ledger.keep(ordinals.slice(0, kept), firstSeq)
      this.ledger.forget(ordinals.slice(kept), "was found lost after a crash, behind others that were lost")
      this.lost += ordinals.length - kept
    }
    if (this.highest > 0) this.crashes++
    if (lost > 0) this.crashesWithLoss++
    if (lost > this.largestLoss.lost) this.largestLoss = { lost, atRisk }
    this.open = []
    this.highest = 0
    this.seen = { lastAccepted: end, atRisk: 0 }
  }
}
