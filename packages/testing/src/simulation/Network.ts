/**
 * The way between processes and the store: where requests and answers are slow, lost, repeated, late and wrong.
 *
 * **Owns** the fate of each request. **Does not own** the objects (`Bucket.ts`), nor what a client makes of an answer.
 */
import { ObjectStoreError, type Operation, type Reason } from "@effect-wal/core/store/ObjectStoreError"
import type { Outcome } from "./Bucket.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import type { SimProcess } from "./SimProcess.ts"
import { type FaultRates, healthy, type StoreFaults } from "./StoreFaults.ts"
import type { Timeline } from "./Timeline.ts"
import type { Trace } from "./Trace.ts"

/** One request of a client. */
export interface WireRequest<A> {
  readonly process: SimProcess
  readonly operation: Operation
  readonly key: string
  readonly isWrite: boolean
  /** The client's own deadline. */
  readonly deadlineMillis: number
  /** Does it, once for each time it reaches the store. */
  readonly apply: () => Outcome<A>
  /** The client stops looking at what it sends: from now on that must not change. */
  readonly onAbandoned: () => void
  /** A body that is not what was stored, where the answer has one. */
  readonly foreign?: () => A
  /** How a refusal looks on the wire, where a client takes answers apart by itself; absent: it is told the reason. */
  readonly dress?: (reason: Reason, refusal: Refusal) => A | undefined
  /** What is left of an answer that breaks off; absent or `undefined`: the client sees a broken connection. */
  readonly cut?: (answer: A) => A | undefined
  /** An answer in short, for the trace. */
  readonly describe?: (answer: A) => string
  readonly resume: (answer: Outcome<A>, retryAfterMillis?: number) => void
}

/** Who asks what of which object. */
export type AskedRequest = Pick<WireRequest<unknown>, "process" | "operation" | "key">

export interface Refusal {
  /** The request was carried out nevertheless. */
  readonly isApplied: boolean
  readonly retryAfterMillis: number | undefined
}

/** Numbers of a walk. */
export interface NetworkCounts {
  requests: number
  /** Writes that were applied after their client had an answer, or had died. */
  ghosts: number
  /** Creates that reached the store. */
  creates: number
  faults: number
}

type Fate = keyof FaultRates | "none"

const fates: ReadonlyArray<keyof FaultRates> = [
  "lostRequest",
  "lostAnswer",
  "ghost",
  "repeated",
  "refused",
  "refusedApplied",
  "truncated",
  "stalled",
  "foreign"
]

/** Reasons that say that nothing was done; after an applied request another one is taken. */
const notApplied: ReadonlySet<Reason> = new Set([
  "AccessDenied",
  "NoSuchBucket",
  "CredentialsUnavailable",
  "StoreFull",
  "NotSupported"
])

/** How often a refused create is told that the key is taken. */
const falseExists = 0.05

/** A late request comes within this, milliseconds. */
const soonestGhost = 200
const latestGhost = 3_600_000
const longestPage = 1_000
/** When the world heals, what is still on its way comes within this. */
const healMillis = 5_000

export class Network {
  readonly counts: NetworkCounts = { requests: 0, ghosts: 0, creates: 0, faults: 0 }
  private readonly timeline: Timeline
  private readonly random: SeededRandom
  private readonly trace: Trace
  private faults: StoreFaults
  /** Writes that will still come. */
  private readonly late = new Set<() => void>()
  /** The store takes nothing from anybody. */
  isDown = false
  /** Processes that reach nothing. */
  readonly cutOff = new Set<SimProcess>()
  /** Is told of a request right before it reaches the store, each time that it does. */
  readonly onArrival = new Set<(request: AskedRequest) => void>()
  /** What becomes of single requests, whatever the rates of faults are; `undefined` leaves it to them. */
  decideFate: ((request: AskedRequest) => keyof FaultRates | undefined) | undefined

  constructor(timeline: Timeline, random: SeededRandom, faults: StoreFaults, trace: Trace) {
    this.timeline = timeline
    this.random = random
    this.faults = faults
    this.trace = trace
  }

  get listing(): StoreFaults["listing"] {
    return this.faults.listing
  }

  /** From here on a listing has as many objects a page as a store gives at most. */
  listLongPages(): void {
    this.faults = { ...this.faults, listing: { ...this.faults.listing, pageSize: longestPage } }
  }

  /** The median of one way. */
  get latencyMillis(): number {
    return this.faults.latencyMillis
  }

  /** Single keys of a removal that fail inside its 200. */
  get removalFails(): boolean {
    return this.random.chance(this.faults.removalFailures)
  }

  /** Nothing goes wrong from now on; what is late comes soon. */
  heal(): void {
    this.faults = healthy(this.faults)
    this.decideFate = undefined
    this.isDown = false
    this.cutOff.clear()
    for (const arrive of this.late) this.timeline.after(this.random.next() * healMillis, arrive)
    this.late.clear()
  }

  send<A>(request: WireRequest<A>): void {
    this.counts.requests++
    const fate = this.draw(request)
    if (fate !== "none") this.counts.faults++
    this.trace.add(`p${request.process.id} ${request.operation} ${request.key}${fate === "none" ? "" : ` [${fate}]`}`)
    const call = new Call(request, this.timeline, this.trace)
    const there = this.way(request.process)
    const back = this.way(request.process)
    switch (fate) {
      case "none":
        return this.deliver(call, there, back)
      case "lostRequest":
        return this.break(call)
      case "lostAnswer":
        return this.loseAnswer(call, there)
      case "truncated":
        return request.cut === undefined
          ? this.loseAnswer(call, there)
          : this.deliver(call, there, back, request.cut)
      case "stalled":
        this.timeline.after(there, () => this.arrive(call))
        return call.answerAfter(request.deadlineMillis, { reason: "TimedOut" })
      case "ghost":
        this.break(call)
        return request.isWrite ? this.arriveLate(call) : undefined
      case "repeated":
        this.deliver(call, there, back)
        return request.isWrite ? this.arriveLate(call) : undefined
      case "refused":
        return this.refuse(call, there + back, false)
      case "refusedApplied":
        this.timeline.after(there, () => this.arrive(call))
        return this.refuse(call, there + back, true)
      case "foreign":
        return call.answerAfter(there + back, { value: request.foreign?.() })
    }
  }

  private draw<A>(request: WireRequest<A>): Fate {
    if (this.isDown || this.cutOff.has(request.process)) return "lostRequest"
    const decided = this.decideFate?.(request)
    if (decided !== undefined) return decided
    let left = this.random.next()
    for (const fate of fates) {
      left -= this.faults.rates[fate]
      if (left < 0) return fate === "foreign" && request.foreign === undefined ? "none" : fate
    }
    return "none"
  }

  /** Milliseconds of one way. */
  private way(process: SimProcess): number {
    const { latencyMillis, slow } = this.faults
    const usual = latencyMillis * process.distance * (0.5 + this.random.next())
    return slow > 0 && this.random.chance(slow) ? usual * this.random.logarithmic(1, 100) : usual
  }

  private deliver<A>(call: Call<A>, there: number, back: number, change?: (answer: A) => A | undefined): void {
    this.timeline.after(there, () => {
      const outcome = this.arrive(call)
      const changed = change !== undefined && "value" in outcome ? { value: change(outcome.value) } : outcome
      this.timeline.after(back, () => call.answer(changed))
    })
    // A client that does not hear in time gives up; the request may still be on its way.
    if (there + back > call.request.deadlineMillis) {
      call.answerAfter(call.request.deadlineMillis, { reason: "TimedOut" })
    }
  }

  private loseAnswer<A>(call: Call<A>, there: number): void {
    this.timeline.after(there, () => this.arrive(call))
    this.break(call, there)
  }

  private arrive<A>(call: Call<A>): Outcome<A> {
    if (call.request.isWrite && call.isOver) this.counts.ghosts++
    if (call.request.operation === "create") this.counts.creates++
    for (const arrives of this.onArrival) arrives(call.request)
    return call.apply()
  }

  private arriveLate<A>(call: Call<A>): void {
    const arrive = () => {
      this.late.delete(arrive)
      this.arrive(call)
    }
    this.late.add(arrive)
    this.timeline.after(this.random.logarithmic(soonestGhost, latestGhost), () => {
      if (this.late.has(arrive)) arrive()
    })
  }

  /** The client sees a broken connection soon after, or nothing until its deadline. */
  private break<A>(call: Call<A>, after = 0): void {
    const { deadlineMillis } = call.request
    if (this.random.chance(0.5)) {
      call.answerAfter(Math.min(after + this.way(call.request.process), deadlineMillis), { reason: "Unavailable" })
    } else call.answerAfter(deadlineMillis, { reason: "TimedOut" })
  }

  private refuse<A>(call: Call<A>, after: number, isApplied: boolean): void {
    const { key, operation } = call.request
    // A store that has just lost a race with itself says that a free key is taken.
    const isFalse = operation === "create" && key.endsWith(".seg") && this.random.chance(falseExists)
    const drawn = isFalse ? "AlreadyExists" : this.random.pickAny(this.faults.refusals) ?? "Unavailable"
    const reason = isApplied && notApplied.has(drawn) ? "Unavailable" : drawn
    const retryAfter = reason === "Throttled" && this.random.chance(0.5)
      ? this.random.logarithmic(10, 5_000)
      : undefined
    const { deadlineMillis, describe, dress } = call.request
    const dressed = dress?.(reason, { isApplied, retryAfterMillis: retryAfter })
    if (dressed !== undefined) call.note(`refused: ${describe?.(dressed) ?? reason}`)
    const outcome = dress === undefined ? { reason } : { value: dressed }
    call.answerAfter(Math.min(after, deadlineMillis), outcome, retryAfter)
  }
}

/** A request under way, answered once. */
class Call<A> {
  readonly request: WireRequest<A>
  private readonly timeline: Timeline
  private readonly trace: Trace
  private isAnswered = false

  constructor(request: WireRequest<A>, timeline: Timeline, trace: Trace) {
    this.request = request
    this.timeline = timeline
    this.trace = trace
  }

  /** Its client has an answer, or is no more. */
  get isOver(): boolean {
    return this.isAnswered || this.request.process.state === "dead"
  }

  apply(): Outcome<A> {
    const outcome = this.request.apply()
    const what = "reason" in outcome ? outcome.reason : this.request.describe?.(outcome.value) ?? "ok"
    this.note(`applied: ${what}${this.isOver ? " (ghost)" : ""}`)
    return outcome
  }

  note(what: string): void {
    const { key, operation, process } = this.request
    this.trace.add(`p${process.id} ${operation} ${key} ${what}`)
  }

  answerAfter(millis: number, outcome: Outcome<A | undefined>, retryAfterMillis?: number): void {
    this.timeline.after(millis, () => this.answer(outcome, retryAfterMillis))
  }

  answer(outcome: Outcome<A | undefined>, retryAfterMillis?: number): void {
    if (this.isAnswered) return
    this.isAnswered = true
    this.request.onAbandoned()
    const { process, resume } = this.request
    const answer: Outcome<A> = "reason" in outcome
      ? outcome
      : outcome.value === undefined
      ? { reason: "Unavailable" }
      : { value: outcome.value }
    process.deliver(() => resume(answer, retryAfterMillis))
  }
}

/** The error of the core for an outcome that is no success. */
export const errorOf = (
  operation: Operation,
  key: string,
  reason: Reason,
  retryAfterMillis?: number
): ObjectStoreError =>
  new ObjectStoreError({
    operation,
    key,
    reason,
    detail: "by the simulation",
    ...(retryAfterMillis === undefined ? {} : { retryAfterMillis })
  })
