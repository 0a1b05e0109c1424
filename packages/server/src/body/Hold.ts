/**
 * What requests in flight hold of the server's memory, each and all together: their bodies and the records in them, or the
 * pages that are their answers.
 */
import { Effect } from "effect"
import { RequestProblem } from "../RequestProblem.ts"

/** What all requests hold together. */
export interface Budget {
  heldBytes: number
  readonly limitBytes: number
}

/** What a record takes beside its bytes in the body: a view, the object around it, a few fields. */
const recordOverheadBytes = 256

/** What a header of a record takes beside its bytes in the body: its place in a table, and two texts. */
const headerOverheadBytes = 80

/** The refusal of what would not fit beside all that is held already. */
export const overloaded = new RequestProblem({
  code: "overloaded",
  message: "requests in flight hold too much memory; nothing was appended"
})

/** The account of one request. */
export class Hold {
  private readonly budget: Budget
  private bytes = 0
  private claimed = 0

  constructor(budget: Budget) {
    this.budget = budget
  }

  /**
   * All requests together hold more than they may, and this is not the only one: a request that is alone is never refused
   * for its size here, or no repeat of it would ever be taken.
   */
  get isCrowded(): boolean {
    const { heldBytes, limitBytes } = this.budget
    return heldBytes > limitBytes && heldBytes !== this.bytes
  }

  /** So many bytes more: of a body as it is sent or as it is unpacked, of a page. */
  take(bytes: number): void {
    this.bytes += bytes
    this.budget.heldBytes += bytes
  }

  /** Accounts for the records of the request and for their headers, all so far. */
  readonly claim = (records: number, headers = 0): Effect.Effect<void, RequestProblem> =>
    Effect.suspend(() => {
      const more = Math.max(0, records * recordOverheadBytes + headers * headerOverheadBytes - this.claimed)
      this.claimed += more
      this.take(more)
      return this.isCrowded ? Effect.fail(overloaded) : Effect.void
    })

  /** Gives all of it back. */
  release(): void {
    this.budget.heldBytes -= this.bytes
    this.bytes = 0
  }
}
