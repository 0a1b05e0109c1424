/**
 * The cursor calls of a log: marks move in memory at once, and in the store later. Which cursors there are is different: a
 * cursor that is made or removed is so in the store once the call is done, so that a crash does not bring back the mark of
 * one that was removed, or delete what one that was made still needs.
 */
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
  /** Stores the cursors as they are now. */
  readonly store: Effect.Effect<void, WalEnd>
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
  /** As `change`, of a cursor that may be a new one, or one whose first call was given up before it was stored. */
  const changeOf = <E>(name: string, attempt: (nowMillis: number) => E | undefined): Effect.Effect<void, E | WalEnd> =>
    Effect.suspend(() => {
      const isNew = !cursors.isStored(name)
      return isNew ? Effect.andThen(change(attempt), parts.store) : change(attempt)
    })
  return {
    ack: (done, options) => {
      const range = typeof done === "number" ? { from: done, to: done } : done
      const name = options?.cursor ?? defaultCursor
      return changeOf(name, (now) => cursors.ack(name, range, now))
    },
    commit: (seq, options) => {
      const name = options?.cursor ?? defaultCursor
      return changeOf(name, (now) => cursors.commit(name, seq, now))
    },
    removeCursor: (cursor) => Effect.andThen(change((now) => cursors.remove(cursor, now)), parts.store)
  }
}

/** Fails `InvalidCursor` for what is no sequence number to trim to. */
export const checkTrim = (seq: number): Effect.Effect<void, InvalidCursor> =>
  Number.isSafeInteger(seq) && seq >= 0
    ? Effect.void
    : Effect.fail(new InvalidCursor({ cursor: "trim", value: String(seq), rule: "must be a whole number from 0" }))
