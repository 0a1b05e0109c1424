/**
 * What is remembered of producers: each one's newest calls, so that a repeat is answered instead of appended.
 *
 * Owns: what a sequence means. Does not own: numbers, durability (it is told how far that is).
 *
 * Invariants: what is durable is remembered apart from what is only accepted, so that the table as of the watermark follows
 * from the durable records alone: a crash takes nothing away that a call it lost had pushed out · no more than `max`
 * producers with five durable calls each; accepted ones are bounded by the buffer, of which they keep a part when their
 * segment leaves it for the spool · time is the log's own, `appended_at`.
 */
import { Effect } from "effect"
import type { StoredProducer } from "../format/StoredProducer.ts"
import { ProducerConflict, ProducerSequenceTooOld } from "../WalError.ts"
import type { ProducerCall } from "./ProducerCheck.ts"
import type { Ticket } from "./Segment.ts"
import type { Admitted } from "./SegmenterParts.ts"

/** Durable calls that are remembered of one producer. */
export const callsPerProducer = 5

export interface ProducerLimits {
  /** Producers that are remembered. */
  readonly max: number
  /** How long after its newest call a producer is remembered. */
  readonly ttlMillis: number
}

/** A call that was accepted. */
export interface RememberedCall {
  readonly sequence: number
  readonly first: number
  readonly last: number
  readonly epoch: number
  /** `appended_at` of its records. */
  readonly at: number
  readonly fingerprint: number
  /** Completes when it is durable; absent once it is. */
  readonly ticket?: Ticket
}

/** What tells a call from all others. */
export type ProducerCallName = Pick<ProducerCall, "fingerprint" | "id" | "sequence">

/** Memory that an accepted call takes until it is durable, beside its id. */
const rememberedBytes = 512

/** Memory that the calls of one segment take until it is durable, of the buffer that it has taken. */
export const callBytesOf = (calls: ReadonlyArray<{ readonly id: string }>, bufferBytes: number): number =>
  Math.min(bufferBytes, calls.reduce((sum, { id }) => sum + rememberedBytes + id.length, 0))

/** Sequences, inclusive, of durable calls of which nothing else is known any more. */
type Older = NonNullable<StoredProducer["older"]>

/** The durable calls of one producer that are remembered, ascending, and the newest run of those before. */
interface Durable {
  readonly calls: ReadonlyArray<RememberedCall>
  readonly older: Older | undefined
}

const nothing: Durable = { calls: [], older: undefined }

/** One more call is let go. Of two runs with a gap between them the newer one is kept. */
const withOlder = (older: Older | undefined, sequence: number): Older => {
  if (older === undefined) return [sequence, sequence]
  const [first, last] = older
  if (sequence === last + 1) return [first, sequence]
  if (sequence === first - 1) return [sequence, last]
  return sequence > last ? [sequence, sequence] : older
}

/** The higher of two numbers; the other one where one is missing. */
const higher = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? left ?? right : Math.max(left, right)

interface Accepted {
  readonly id: string
  readonly call: RememberedCall
}

/** The accepted calls of one producer, ascending. */
interface Pending {
  readonly calls: Map<number, RememberedCall>
  newest: number
}

/** What is told durable is cut off the front once this much is. */
const compactAt = 1_024

export class ProducerTable {
  private readonly limits: ProducerLimits
  /** By id, in the order of the newest call. */
  private readonly durable = new Map<string, Durable>()
  private readonly pending = new Map<string, Pending>()
  /** Accepted calls in the order of their records. */
  private accepted: Array<Accepted> = []
  private told = 0
  private repeated = 0

  constructor(limits: ProducerLimits, stored: ReadonlyArray<StoredProducer> = []) {
    this.limits = limits
    for (const { calls, id, older } of stored) {
      if (older !== undefined) this.durable.set(id, { calls: [], older })
      for (const [sequence, first, last, epoch, at, fingerprint] of calls) {
        this.remember(id, { sequence, first, last, epoch, at, fingerprint })
      }
    }
  }

  /** Producers that are remembered, with those whose calls are all on their way. */
  get size(): number {
    let size = this.durable.size
    for (const id of this.pending.keys()) if (!this.durable.has(id)) size++
    return size
  }

  /** Repeats that were answered. */
  get repeats(): number {
    return this.repeated
  }

  /** The answer to a call of so many records that is not new: that of the first time, or a refusal. */
  answer(
    call: ProducerCall,
    count: number,
    nowMillis: number
  ): Effect.Effect<Admitted, ProducerConflict | ProducerSequenceTooOld> | undefined {
    const found = this.find(call, count, nowMillis)
    if (found === undefined) return undefined
    if ("_tag" in found) return Effect.fail(found)
    this.repeated++
    const { epoch, first, last, ticket } = found
    return Effect.succeed({ first, last, epoch, ticket, isRepeat: true })
  }

  /** This very call was accepted before, as far as anything is known of it. */
  has(call: ProducerCallName, count: number, nowMillis: number): boolean {
    const found = this.find(call, count, nowMillis)
    if (found === undefined || !("_tag" in found)) return found !== undefined
    const [first, last] = this.durable.get(call.id)?.older ?? [1, 0]
    return found._tag === "ProducerSequenceTooOld" && first <= call.sequence && call.sequence <= last
  }

  private find(
    call: ProducerCallName,
    count: number,
    nowMillis: number
  ): RememberedCall | ProducerConflict | ProducerSequenceTooOld | undefined {
    const { fingerprint, id, sequence } = call
    const pending = this.pending.get(id)
    const durable = this.durable.get(id)?.calls ?? []
    const stored = pending === undefined && this.isExpired(durable, nowMillis) ? [] : durable
    // What a spool gives back late is accepted below what is durable.
    const newest = higher(pending?.newest, stored.at(-1)?.sequence)
    if (newest === undefined || sequence > newest) return undefined
    const known = pending?.calls.get(sequence) ?? stored.find((one) => one.sequence === sequence)
    if (known === undefined) return new ProducerSequenceTooOld({ id, sequence, newest })
    const isSame = known.fingerprint === fingerprint && known.last - known.first + 1 === count
    return isSame ? known : new ProducerConflict({ id, sequence, first: known.first, last: known.last })
  }

  /** A new call was accepted. */
  accept(id: string, call: RememberedCall): void {
    if (this.isExpired(this.durable.get(id)?.calls ?? [], call.at)) this.durable.delete(id)
    const pending = this.pending.get(id) ?? { calls: new Map<number, RememberedCall>(), newest: call.sequence }
    pending.calls.set(call.sequence, call)
    pending.newest = Math.max(pending.newest, call.sequence)
    this.pending.set(id, pending)
    this.accepted.push({ id, call })
  }

  /** Everything up to this number is durable. Answers what of the buffer was kept for the calls among it. */
  durableThrough(seq: number): number {
    let keptBytes = 0
    for (;;) {
      const next = this.accepted[this.told]
      if (next === undefined || next.call.last > seq) break
      this.told++
      const pending = this.pending.get(next.id)
      pending?.calls.delete(next.call.sequence)
      if (pending?.calls.size === 0) this.pending.delete(next.id)
      const { ticket, ...call } = next.call
      this.remember(next.id, call)
      if (ticket?.keptBytes === undefined) continue
      keptBytes += ticket.keptBytes
      ticket.keptBytes = 0
    }
    if (this.told >= compactAt || this.told === this.accepted.length) {
      this.accepted = this.accepted.slice(this.told)
      this.told = 0
    }
    return keptBytes
  }

  /** A durable call, after all that are known; what a spool gives back late has a lower sequence than what came meanwhile. */
  remember(id: string, call: RememberedCall): void {
    const before = this.durable.get(id) ?? nothing
    const kept = this.isExpired(before.calls, call.at) ? nothing : before
    this.durable.delete(id)
    const calls = [...kept.calls.filter((one) => one.sequence !== call.sequence), call]
    calls.sort((left, right) => left.sequence - right.sequence)
    const older = calls.splice(0, calls.length - callsPerProducer)
      .reduce<Older | undefined>((run, { sequence }) => withOlder(run, sequence), kept.older)
    this.durable.set(id, { calls, older })
    for (const [oldest, { calls }] of this.durable) {
      if (this.durable.size <= this.limits.max && !this.isExpired(calls, call.at)) break
      this.durable.delete(oldest)
    }
  }

  /** What is remembered of durable calls, for the manifest. */
  stored(nowMillis: number): ReadonlyArray<StoredProducer> {
    const producers: Array<StoredProducer> = []
    for (const [id, { calls, older }] of this.durable) {
      if (this.isExpired(calls, nowMillis)) continue
      producers.push({
        id,
        calls: calls.map(({ at, epoch, fingerprint, first, last, sequence }) =>
          [sequence, first, last, epoch, at, fingerprint] as const
        ),
        ...(older === undefined ? {} : { older })
      })
    }
    return producers
  }

  private isExpired(calls: ReadonlyArray<RememberedCall>, nowMillis: number): boolean {
    const newest = calls.at(-1)
    return newest !== undefined && newest.at + this.limits.ttlMillis < nowMillis
  }
}
