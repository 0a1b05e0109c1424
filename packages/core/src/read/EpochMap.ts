/** The epochs of an open log: recorded ends, and the live one that grows. */
import type { Boundary } from "../format/Boundary.ts"
import type { EpochSpan } from "./LogView.ts"

export class EpochMap {
  private readonly ended: ReadonlyArray<Boundary>
  private readonly live: number
  private readonly liveEnd: () => number

  constructor(ended: ReadonlyArray<Boundary>, live: number, liveEnd: () => number) {
    this.ended = ended
    this.live = live
    this.liveEnd = liveEnd
  }

  /** Epochs that hold something, ascending, the live one last. */
  get spans(): ReadonlyArray<EpochSpan> {
    return [...this.ended.map((end) => ({ epoch: end.epoch, end: end.slot })), {
      epoch: this.live,
      end: this.liveEnd()
    }]
  }

  /** The recorded end of an epoch; `undefined` for the live one and for what is not known. */
  endOf(epoch: number): number | undefined {
    return this.ended.find((end) => end.epoch === epoch)?.slot
  }

  get epochs(): ReadonlyArray<number> {
    return [...this.ended.map((end) => end.epoch), this.live]
  }

  /** Recorded ends, ascending. */
  get ends(): ReadonlyArray<Boundary> {
    return this.ended
  }
}
