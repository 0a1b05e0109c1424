/** What one writer was told to be done of one cursor that always exists, to count the ranges above its mark. */
export class AckedAhead {
  private readonly done = new Set<number>()

  acked(from: number, to: number): void {
    for (let seq = from; seq <= to; seq++) this.done.add(seq)
  }

  /** How many ranges lie above the mark and do not touch it. */
  rangesAbove(mark: number): number {
    let ranges = 0
    for (const seq of this.done) {
      if (seq <= mark) this.done.delete(seq)
      else if (!this.done.has(seq - 1)) ranges++
    }
    return ranges
  }
}
