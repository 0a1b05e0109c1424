/** What requests in flight hold of the server's memory, each and all together: their bodies, and the records in them. */
import { Effect } from "effect"
import { RequestProblem } from "../RequestProblem.ts"

/** What all requests hold together. */
export interface Budget {
  heldBytes: number
  readonly limitBytes: number
}

/** What a record takes beside its bytes in the body: a view, the object around it, a few fields. */
const recordOverheadBytes = 256

/** The refusal of what would not fit beside all that is held already. */
export const overloaded = new RequestProblem({
  code: "overloaded",
  message: "requests in flight hold too much memory; nothing was appended"
})

/** The account of one request. */
export class Hold {
  private readonly budget: Budget
  private bytes = 0
  private records = 0

  constructor(budget: Budget) {
    this.budget = budget
  }

  /** All requests together hold more than they may. */
  get isBeyond(): boolean {
    return this.budget.heldBytes > this.budget.limitBytes
  }

  /** So many bytes more, of the body as it is sent or as it is unpacked. */
  take(bytes: number): void {
    this.bytes += bytes
    this.budget.heldBytes += bytes
  }

  /** Accounts for the records of the request, all so far. A request that is the only one is never refused for them. */
  readonly claim = (records: number): Effect.Effect<void, RequestProblem> =>
    Effect.suspend(() => {
      const more = Math.max(0, records - this.records)
      this.records += more
      this.take(more * recordOverheadBytes)
      const isAlone = this.budget.heldBytes === this.bytes
      return this.isBeyond && !isAlone ? Effect.fail(overloaded) : Effect.void
    })

  /** Gives all of it back. */
  release(): void {
    this.budget.heldBytes -= this.bytes
    this.bytes = 0
  }
}
