/**
 * Virtual time: what happens later, in order. Events of one instant happen in the order in which they were planned.
 */

interface Event {
  readonly atMillis: number
  readonly order: number
  readonly happen: () => void
  isCancelled: boolean
}

/** Takes a planned event back; one that has happened is not undone. */
export type Cancel = () => void

const isBefore = (left: Event, right: Event): boolean =>
  left.atMillis < right.atMillis || (left.atMillis === right.atMillis && left.order < right.order)

export class Timeline {
  private readonly heap: Array<Event> = []
  private planned = 0
  /** Milliseconds since the start of the simulation. */
  nowMillis = 0

  /** Plans something, now at the earliest. */
  at(atMillis: number, happen: () => void): Cancel {
    const event = { atMillis: Math.max(atMillis, this.nowMillis), order: this.planned++, happen, isCancelled: false }
    this.push(event)
    return () => {
      event.isCancelled = true
    }
  }

  after(millis: number, happen: () => void): Cancel {
    return this.at(this.nowMillis + millis, happen)
  }

  /** Lets the next event happen, if there is one up to this time (inclusive); otherwise it is that time now. */
  advance(untilMillis: number): boolean {
    for (;;) {
      const next = this.heap[0]
      if (next === undefined || next.atMillis > untilMillis) {
        this.nowMillis = Math.max(this.nowMillis, untilMillis)
        return false
      }
      this.pop()
      if (next.isCancelled) continue
      this.nowMillis = next.atMillis
      next.happen()
      return true
    }
  }

  private push(event: Event): void {
    const { heap } = this
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !isBefore(event, above)) break
      heap[at] = above
      at = parent
    }
    heap[at] = event
  }

  private pop(): void {
    const { heap } = this
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      let smallest = heap[child]
      if (smallest === undefined) break
      const right = heap[child + 1]
      if (right !== undefined && isBefore(right, smallest)) {
        smallest = right
        child++
      }
      if (!isBefore(smallest, last)) break
      heap[at] = smallest
      at = child
    }
    heap[at] = last
  }
}
