/** The cursor calls of a log: they change memory at once, the store later. */
import { Effect } from "effect"
import type { Cursors } from "../cursor/Cursors.ts"
import { defaultCursor } from "../format/CursorSet.ts"
import { InvalidCursor, type WalEnd } from "../WalError.ts"
import type { WalService } from "../WalService.ts"
import type { LogFate } from "../write/LogFate.ts"

export interface CursorParts {
  readonly fate: LogFate
  readonly cursors: Cursors
  /** Of the monotonic clock. */
  readonly nowMillis: () => number
  /** A call has been taken. */
  readonly onChange: () => void
}

export const makeCursorMethods = (parts: CursorParts): Pick<WalService, "ack" | "commit" | "removeCursor"> => {
  const { cursors, fate } = parts
  const change = <E>(attempt: (nowMillis: number) => E | undefined): Effect.Effect<void, E | WalEnd> =>
    Effect.suspend((): Effect.Effect<void, E | WalEnd> => {
      if (fate.ended !== undefined) return Effect.fail(fate.ended)
      const error = attempt(parts.nowMillis())
      if (error !== undefined) return Effect.fail(error)
      parts.onChange()
      return Effect.void
    })
  return {
    ack: (done, options) => {
      const range = typeof done === "number" ? { from: done, to: done } : done
      return change((now) => cursors.ack(options?.cursor ?? defaultCursor, range, now))
    },
    commit: (seq, options) => change((now) => cursors.commit(options?.cursor ?? defaultCursor, seq, now)),
    removeCursor: (cursor) => change((now) => cursors.remove(cursor, now))
  }
}

/** Fails `InvalidCursor` for what is no sequence number to trim to. */
export const checkTrim = (seq: number): Effect.Effect<void, InvalidCursor> =>
  Number.isSafeInteger(seq) && seq >= 0
    ? Effect.void
    : Effect.fail(new InvalidCursor({ cursor: "trim", value: String(seq), rule: "must be a whole number from 0" }))
