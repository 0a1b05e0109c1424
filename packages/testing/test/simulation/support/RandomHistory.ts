/** Small histories by chance: a log that is right, seen by clients, with some of its answers falsified. */
import {
  type Ack,
  type Append,
  type AppendShape,
  History,
  type Mark,
  type Read
} from "../../../src/simulation/History.ts"
import { generator } from "../../../src/walsuite/SuiteRandom.ts"

interface Pending {
  /** One more of its effects; nothing where it has none left or cannot now. */
  readonly effect: () => void
  /** Its answer, or nothing where it cannot be answered yet. `true` when it is over. */
  readonly end: () => boolean
}

export interface RandomOptions {
  readonly seed: number
  readonly operations: number
  /** The probability that an answer is falsified. */
  readonly falsified: number
  /** Five records are durable from the start, and all that follows is about marks. */
  readonly marks: boolean
}

class Clients {
  readonly history = new History()
  private readonly random: () => number
  private readonly falsified: number
  private readonly log: Array<number> = []
  private readonly done = new Map<string, Set<number>>()
  private readonly used = new Set<string>()
  private readonly opening = new Set<string>()
  private readonly marks: boolean
  private id = 10
  private stored = 0
  private called = 0

  constructor({ falsified, marks, seed }: RandomOptions) {
    this.random = generator(seed)
    this.falsified = falsified
    this.marks = marks
    if (!marks) return
    for (let count = 0; count < 5; count++) this.log.push(this.id++)
    this.history.durable(this.history.append("w1", this.log.slice()), 1)
  }

  draw(below: number): number {
    return Math.floor(this.random() * below)
  }

  chance(probability: number): boolean {
    return this.random() < probability
  }

  private process(): string {
    const process = this.chance(0.5) ? "w1" : "w2"
    // While a log is being opened nobody can use it; the third one never opens its own.
    return this.opening.has(process) ? "w3" : process
  }

  /** The number, or by chance one beside it. */
  private told(number: number): number {
    return this.chance(this.falsified) ? Math.max(0, number + 1 - this.draw(3)) : number
  }

  begin(): Pending {
    const kind = this.marks ? 7 + this.draw(3) : this.draw(10)
    if (kind < 4) return this.append()
    if (kind < 7) return this.read()
    if (kind < 8) return this.ack()
    return kind < 9 ? this.look() : this.persisted()
  }

  private append(): Pending {
    const shapes: ReadonlyArray<AppendShape> = ["whole", "prefix", "prefix", "pieces"]
    const ids = Array.from({ length: 1 + (this.chance(0.5) ? this.draw(3) : 0) }, () => this.id++)
    const append: Append = this.history.append(this.process(), ids, shapes[this.draw(4)])
    const fate = this.draw(10)
    const durable = fate < 5
    const wanted = durable ? ids.length : fate < 9 ? this.draw(ids.length + 1) : 0
    const added: Array<number> = []
    const effect = () => {
      const count = append.shape === "whole" ? (wanted > 0 ? ids.length : 0) : wanted
      const together = append.shape !== "pieces" || durable
      if (added.length >= count) return
      if (added.length > 0 && together && added.at(-1) !== this.log.length) {
        // Others came in between: what is left of an unknown one is lost, a durable one is kept together below.
        return
      }
      const times = append.shape === "whole" || durable ? count : 1
      for (let time = 0; time < times; time++) {
        this.log.push(ids[added.length] ?? 0)
        added.push(this.log.length)
      }
      if (append.shape !== "pieces" && this.chance(0.3)) this.history.accepted(append, this.told(added[0] ?? 0))
    }
    const end = () => {
      if (durable && added.length < ids.length) return false
      if (durable) this.history.durable(append, this.told(added[0] ?? 0))
      else if (fate === 9) this.history.refused(append)
      else if (this.chance(0.5)) this.history.unknown(append)
      else return false
      return true
    }
    return { effect, end }
  }

  private read(): Pending {
    const read: Read = this.history.read(this.process())
    const from = 1 + this.draw(3)
    const strong = this.chance(0.6)
    let seen: ReadonlyArray<number> | undefined
    const effect = () => {
      const all = this.log.slice(from - 1)
      if (!strong && this.chance(0.5)) all.length = this.draw(all.length + 1)
      seen ??= all
    }
    const end = () => {
      if (seen === undefined) return false
      const ids = seen.slice()
      if (this.chance(this.falsified)) ids.splice(this.draw(ids.length + 1), 1)
      if (this.chance(this.falsified)) ids.push(10 + this.draw(this.id - 10))
      this.history.seen(read, {
        from: this.chance(this.falsified / 2) ? 1 + this.draw(3) : from,
        ids,
        strength: strong ? "strong" : "weak"
      })
      return true
    }
    return { effect, end }
  }

  private numbersOf(process: string): Set<number> {
    const known = this.done.get(process) ?? new Set<number>()
    this.done.set(process, known)
    return known
  }

  private ack(): Pending {
    const process = this.process()
    this.used.add(process)
    const to = this.told(this.draw(this.log.length + 1))
    const from = this.chance(0.5) ? 1 : Math.max(1, to - this.draw(2))
    const ack: Ack = this.history.ack(process, { cursor: "c", from, to })
    this.called = Math.max(this.called, to)
    let effective = false
    const effect = () => {
      if (to > this.log.length) return
      for (let seq = from; seq <= to; seq++) this.numbersOf(process).add(seq)
      effective = true
    }
    const end = () => {
      if (this.chance(0.2)) this.history.unknown(ack)
      else if (effective || this.chance(this.falsified)) this.history.acked(ack)
      else return false
      return true
    }
    return { effect, end }
  }

  private look(): Pending {
    const process = this.process()
    const opening = process !== "w3" && !this.used.has(process) && this.chance(0.7)
    this.used.add(process)
    if (opening) this.opening.add(process)
    const mark: Mark = this.history.mark(process, "c", { opening })
    let seen: number | undefined
    const effect = () => {
      if (seen !== undefined) return
      const done = this.numbersOf(process)
      if (opening) {
        const base = Math.min(this.log.length, this.stored + this.draw(Math.max(0, this.called - this.stored) + 1))
        for (let seq = 1; seq <= base; seq++) done.add(seq)
      }
      seen = 0
      while (done.has(seen + 1)) seen++
    }
    const end = () => {
      if (seen === undefined) return false
      if (opening) {
        this.opening.delete(process)
        this.stored = Math.max(this.stored, seen)
      }
      this.history.marked(mark, this.told(seen))
      return true
    }
    return { effect, end }
  }

  private persisted(): Pending {
    const process = this.process()
    const done = this.numbersOf(process)
    let mark = 0
    while (done.has(mark + 1)) mark++
    this.stored = Math.max(this.stored, mark)
    this.history.persisted(process, "c", this.told(mark))
    return { effect: () => undefined, end: () => true }
  }
}

/** The same history for the same options. */
export const randomHistory = (options: RandomOptions): History => {
  const clients = new Clients(options)
  const pending: Array<Pending> = []
  let left = options.operations
  for (let turn = 0; turn < options.operations * 8; turn++) {
    if (left > 0 && clients.chance(0.35)) {
      left--
      pending.push(clients.begin())
    }
    const place = clients.draw(pending.length)
    const one = pending[place]
    if (one === undefined) continue
    if (clients.chance(0.5)) one.effect()
    else if (one.end()) pending.splice(place, 1)
  }
  return clients.history
}
