/**
 * Small histories by chance, as a contrast to `RandomHistory.ts`: what the answers say fits together, and only the times,
 * and what nobody saw, decide whether an order explains it. So they are full of numbers that nobody names.
 */
import { type AppendShape, History } from "../../../src/simulation/History.ts"
import { generator } from "../../../src/walsuite/SuiteRandom.ts"

/** What happens at a moment; those of one operation are in the order of their moments. */
interface Moment {
  readonly at: number
  readonly happens: () => void
}

class Moments {
  readonly history = new History()
  readonly moments: Array<Moment> = []
  readonly random: () => number

  constructor(seed: number) {
    this.random = generator(seed)
  }

  draw(below: number): number {
    return Math.floor(this.random() * below)
  }

  /** An operation around a moment. Begins and ends by chance up to so far from it. */
  around<A>(middle: number, spread: number, begin: () => A, end: (operation: A) => void): void {
    let operation: A | undefined
    this.moments.push({ at: middle - this.random() * spread, happens: () => operation = begin() })
    this.moments.push({ at: middle + this.random() * spread, happens: () => operation === undefined || end(operation) })
  }

  played(): History {
    for (const { happens } of this.moments.toSorted((a, b) => a.at - b.at)) happens()
    return this.history
  }
}

interface Planned {
  readonly ids: ReadonlyArray<number>
  readonly shape: AppendShape
  readonly durable: boolean
}

const shapes: ReadonlyArray<AppendShape> = ["whole", "prefix", "pieces"]

/** Appends around where their records stand in a log that was laid out first, and reads of some of it. */
export const layoutHistory = (seed: number): History => {
  const moments = new Moments(seed)
  const { history } = moments
  let id = 10
  const log: Array<number> = []
  const later: Array<number> = []
  const planned: Array<Planned & { readonly place: number }> = []
  const enough = 13 + moments.draw(5)
  while (id < enough) {
    const ids = Array.from({ length: 1 + moments.draw(moments.draw(2) === 0 ? 1 : 3) }, () => id++)
    const shape = shapes[moments.draw(3)] ?? "whole"
    const durable = moments.draw(5) === 0
    planned.push({ ids, shape, durable, place: log.length })
    if (durable || moments.draw(4) > 0) {
      const kept = durable || shape === "whole" ? ids.length : 1 + moments.draw(ids.length)
      const split = !durable && shape === "pieces" ? moments.draw(kept) : 0
      log.push(...ids.slice(0, kept - split))
      later.push(...ids.slice(kept - split, kept))
    }
    if (moments.draw(2) === 0) log.push(...later.splice(0))
  }
  // Trying all orders takes too long with more records than these.
  log.push(...later)
  for (const { durable, ids, place, shape } of planned) {
    const first = log.indexOf(ids[0] ?? 0) + 1
    moments.around(place + (durable ? 0 : moments.draw(4)), 2, () => {
      const append = history.append("w", ids, shape)
      if (moments.draw(6) === 0 && first > 0) history.accepted(append, first)
      return append
    }, (append) => durable ? history.durable(append, first) : history.unknown(append))
  }
  for (let count = 1 + moments.draw(3); count > 0; count--) {
    const to = 1 + moments.draw(log.length)
    const from = Math.max(1, to - (moments.draw(4) === 0 ? 1 : 0) + (moments.draw(3) === 0 ? 1 : 0))
    const seen = { from, ids: log.slice(from - 1, to), strength: moments.draw(2) === 0 ? "strong" : "weak" } as const
    moments.around(to, 2, () => history.read("r"), (read) => history.seen(read, seen))
  }
  if (moments.draw(3) === 0) {
    const to = 1 + moments.draw(log.length + 1)
    moments.around(to, 2, () => history.ack("w", { cursor: "c", from: to, to }), (ack) => history.acked(ack))
  }
  return moments.played()
}

/** Acks and looks at any values and times, over five records that were durable before. */
export const marksHistory = (seed: number): History => {
  const moments = new Moments(seed)
  const { history } = moments
  history.durable(history.append("w", [1, 2, 3, 4, 5]), 1)
  const opens = moments.draw(2) === 0
  const ends = [0]
  for (let count = 2 + moments.draw(4); count > 0; count--) {
    const seq = 1 + moments.draw(4)
    ends.push(seq)
    const from = moments.draw(3) > 0 ? 1 : Math.max(1, seq - moments.draw(2))
    const answer = moments.draw(6)
    moments.around(
      seq + moments.draw(3),
      1,
      () => history.ack("w", { cursor: "c", from, to: seq }),
      (ack) => answer === 0 ? history.refused(ack) : answer === 1 ? history.unknown(ack) : history.acked(ack)
    )
  }
  for (let count = 1 + moments.draw(3); count > 0; count--) {
    const seq = ends[moments.draw(ends.length)] ?? 0
    const opening = opens && moments.draw(3) === 0
    const process = opening ? `w${count}` : "w"
    moments.around(
      seq + 0.5 + moments.draw(3),
      1,
      () => history.mark(process, "c", { opening }),
      (mark) => history.marked(mark, seq)
    )
  }
  if (moments.draw(4) === 0) {
    const seq = moments.draw(4)
    moments.moments.push({ at: seq, happens: () => history.persisted("w", "c", seq) })
  }
  return moments.played()
}
