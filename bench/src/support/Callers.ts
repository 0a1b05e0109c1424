/** Callers that come again once they are answered: how many records that makes, how long they wait, what it costs. */
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import { quantile } from "../Stats.ts"

export interface Load {
  readonly callers: number
  /** Records of a call. */
  readonly batch: number
}

/** What one round came to. */
export interface Served {
  readonly recordsPerSecond: number
  /** Milliseconds that each call has waited. */
  readonly waits: ReadonlyArray<number>
  /** Milliseconds that 99 of 100 calls have waited at most. */
  readonly p99Millis: number
  /** Microseconds of this process's processors for a record. */
  readonly cpuMicros: number
}

/** The calls of a round. */
class Calls {
  readonly startedAt = nowMillis()
  private readonly load: Load
  private readonly endsAt: number
  private readonly cpu = process.cpuUsage()
  private readonly waits: Array<number> = []

  constructor(load: Load, millis: number) {
    this.load = load
    this.endsAt = this.startedAt + millis
  }

  isOver(atMillis: number): boolean {
    return atMillis >= this.endsAt
  }

  /** A call that began then is answered now; the next one begins. */
  answered(begunAt: number): number {
    const now = nowMillis()
    this.waits.push(now - begunAt)
    return now
  }

  get served(): Served {
    const { system, user } = process.cpuUsage(this.cpu)
    const records = this.waits.length * this.load.batch
    return {
      recordsPerSecond: records / (nowMillis() - this.startedAt) * 1_000,
      waits: this.waits,
      p99Millis: quantile(this.waits, 0.99),
      cpuMicros: (system + user) / records
    }
  }
}

/** Callers of a promise. */
export const serve = async (load: Load, millis: number, call: () => Promise<unknown>): Promise<Served> => {
  const calls = new Calls(load, millis)
  const caller = async () => {
    for (let at = calls.startedAt; !calls.isOver(at);) {
      await call()
      at = calls.answered(at)
    }
  }
  await Promise.all(Array.from({ length: load.callers }, caller))
  return calls.served
}

/** The same with fibers. */
export const serveEffect = Effect.fnUntraced(
  function*<E, R>(load: Load, millis: number, call: Effect.Effect<unknown, E, R>) {
    const calls = new Calls(load, millis)
    const caller = Effect.gen(function*() {
      for (let at = calls.startedAt; !calls.isOver(at);) {
        yield* call
        at = calls.answered(at)
      }
    })
    yield* Effect.all(Array.from({ length: load.callers }, () => caller), { concurrency: "unbounded", discard: true })
    return calls.served
  }
)
