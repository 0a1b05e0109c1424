/** Waiting for the segment of a ticket. */
import { Deferred, Effect } from "effect"
import type { WalEnd } from "../WalError.ts"
import type { Settled, Ticket } from "../write/Segment.ts"
import type { LogEngine } from "./LogEngine.ts"

type WaitedFor = Pick<LogEngine, "fate" | "watermark">

/**
 * Waits until it is durable or spooled. One that was sealed while the log was ending is known to nobody any more: it fails
 * with the reason why the log is over.
 */
export const awaitTicket = (engine: WaitedFor, ticket: Ticket): Effect.Effect<Settled, WalEnd> =>
  Effect.suspend(() => {
    const ended = engine.fate.ended
    return ended === undefined || Deferred.isDoneUnsafe(ticket.settled)
      ? Deferred.await(ticket.settled)
      : Effect.fail(ended)
  })

/** Waits until it, and all before it, are durable; being spooled is half the way. */
export const awaitDurable = (engine: WaitedFor, ticket: Ticket): Effect.Effect<void, WalEnd> =>
  Effect.flatMap(awaitTicket(engine, ticket), (settled) =>
    settled === "durable" || ticket.spooledSeq === undefined
      ? Effect.void
      : engine.watermark.beyond(ticket.spooledSeq - 1))
