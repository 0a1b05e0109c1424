/**
 * Acknowledgements to the source of a log that keeps nothing: only the source could give an element again, so it is
 * acknowledged once it is handled, not once it is durable.
 *
 * Owns: what waits for its handlers, and that the source hears of it in its order, one call at a time.
 */
import { Array, Effect, Semaphore } from "effect"
import type { Batch } from "./Intake.ts"

export interface HandledAcksParts<A, E> {
  readonly acknowledge: (elements: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<unknown, E>
  /** The elements of a batch are acknowledged, those before it too. */
  readonly onAcknowledged: (last: number) => void
}

export class HandledAcks<A, E> {
  private readonly parts: HandledAcksParts<A, E>
  private readonly waiting: globalThis.Array<Batch<A>> = []
  private readonly turns = Semaphore.makeUnsafe(1)
  private handled = 0
  /** Of the first batch that waits, so many are acknowledged already. */
  private begun = 0

  constructor(parts: HandledAcksParts<A, E>) {
    this.parts = parts
  }

  /** Elements that are not acknowledged. */
  get pending(): number {
    return this.waiting.reduce((sum, { elements }) => sum + elements.length, -this.begun)
  }

  /** Acknowledges the batch when it is handled, at once where it is. */
  hold(batch: Batch<A>): Effect.Effect<void, E> {
    return Effect.suspend(() => {
      this.waiting.push(batch)
      return this.advance
    })
  }

  /** Everything up to this number is handled. */
  handledThrough(seq: number): Effect.Effect<void, E> {
    return Effect.suspend(() => {
      this.handled = Math.max(this.handled, seq)
      return this.advance
    })
  }

  /** Acknowledges also what is handled of a batch that is not handled to its end. What is handled later still is. */
  get finish(): Effect.Effect<void, E> {
    return Effect.andThen(this.advance, this.turns.withPermit(Effect.suspend(() => this.acknowledgePart())))
  }

  private get advance(): Effect.Effect<void, E> {
    return this.turns.withPermit(Effect.suspend(() => this.acknowledgeWhole()))
  }

  private acknowledgeWhole(): Effect.Effect<void, E> {
    const [first] = this.waiting
    if (first === undefined || first.last > this.handled) return Effect.void
    return Effect.flatMap(this.acknowledge(first.elements.slice(this.begun)), () => {
      this.waiting.shift()
      this.begun = 0
      this.parts.onAcknowledged(first.last)
      return this.acknowledgeWhole()
    })
  }

  private acknowledgePart(): Effect.Effect<void, E> {
    const [first] = this.waiting
    const done = first?.elements.filter((_, index) => first.reached(index) <= this.handled) ?? []
    return Effect.map(this.acknowledge(done.slice(this.begun)), () => {
      this.begun = done.length
    })
  }

  private acknowledge(elements: ReadonlyArray<A>): Effect.Effect<unknown, E> {
    return Array.isReadonlyArrayNonEmpty(elements) ? this.parts.acknowledge(elements) : Effect.void
  }
}
