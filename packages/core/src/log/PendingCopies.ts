/**
 * Spooled slots of ended epochs that were appended again, until their copies are durable.
 *
 * Owns: how far each spool is done with, and from where it must be kept. Does not own: appending, dropping.
 *
 * Invariants: the slots of a spool come in its order · none is let go before something stored says that it is done: the
 * header of its copy or of a later one, or the manifest. A start that found it gone and not done would take it for lost.
 */
import { compareBoundaries } from "../format/Boundary.ts"
import type { OriginMarks, SpoolPlace } from "../format/Extensions.ts"
import type { SlotName } from "../format/ObjectKey.ts"

interface Pending {
  /** The slots that are done once this is durable. */
  readonly from: SlotName
  readonly to: SlotName
  readonly lastSeq: number
  /** No segment holds a copy: no header says that these slots are done. */
  readonly isBlank: boolean
}

export class PendingCopies {
  private readonly durableSeq: () => number
  private readonly stored: () => OriginMarks
  private readonly bySpool = new Map<string, Array<Pending>>()
  private done: OriginMarks = {}
  /** No more will be added. */
  isComplete = false

  /** `durableSeq` is the watermark, `stored` what the manifest says about spools. */
  constructor(durableSeq: () => number, stored: () => OriginMarks) {
    this.durableSeq = durableSeq
    this.stored = stored
  }

  /** The slot is done once `lastSeq` is durable; `isBlank`: nothing of it was appended again. */
  add(place: SpoolPlace, lastSeq: number, isBlank = false): void {
    const { epoch, slot, spool } = place
    const pending = this.bySpool.get(spool) ?? []
    this.bySpool.set(spool, pending)
    // The header of the next copy speaks for the blank ones before it.
    const before = pending.at(-1)?.isBlank === true ? pending.pop() : undefined
    pending.push({ from: before?.from ?? { epoch, slot }, to: { epoch, slot }, lastSeq, isBlank })
  }

  /** By spool the last slot that is done with. */
  get marks(): OriginMarks {
    const marks = { ...this.settled() }
    for (const [spool, [first]] of this.bySpool) {
      if (first !== undefined && first.lastSeq <= this.durableSeq()) marks[spool] = first.to
    }
    return marks
  }

  /**
   * As `marks`; and what this epoch has stored of its own spool, up to the durable slot, once all that it had to append again
   * is done with.
   */
  marksWith(own: string | undefined, durable: SlotName): OriginMarks {
    const { marks } = this
    if (own === undefined || durable.slot === 0 || !this.isComplete || this.lastSeq !== undefined) return marks
    return { ...marks, [own]: { epoch: durable.epoch, slot: durable.slot - 1 } }
  }

  /** The last number of all that wait; `undefined` where none does. */
  get lastSeq(): number | undefined {
    this.settled()
    const last = [...this.bySpool.values()].flatMap((pending) => pending.at(-1)?.lastSeq ?? [])
    return last.length === 0 ? undefined : Math.max(...last)
  }

  /** Some slots are done with by the manifest only. */
  get needsManifest(): boolean {
    return [...this.bySpool.values()].some((pending) => pending.at(-1)?.isBlank === true)
  }

  /** The first of a spool that is not done with. */
  first(spool: string): SlotName | undefined {
    this.settled()
    return this.bySpool.get(spool)?.[0]?.from
  }

  /** Where a spool must be kept from; all of it as long as more copies may come. */
  keepFrom(spool: string): SlotName | undefined {
    return this.isComplete ? this.first(spool) : { epoch: 0, slot: 0 }
  }

  private settled(): OriginMarks {
    const durable = this.durableSeq()
    const stored = this.stored()
    for (const [spool, pending] of this.bySpool) {
      const isDone = ({ isBlank, lastSeq, to }: Pending) => {
        const mark = stored[spool]
        return lastSeq <= durable && (!isBlank || mark !== undefined && compareBoundaries(to, mark) <= 0)
      }
      for (let first = pending[0]; first !== undefined && isDone(first); first = pending[0]) {
        this.done = { ...this.done, [spool]: first.to }
        pending.shift()
      }
    }
    return this.done
  }
}
