/**
 * Ends waits that have lasted too long. All of them may last equally long, so they end in the order in which they began:
 * one fiber sleeps until the oldest is due, where a timer for each would cost more than the wait.
 */
import { Clock, Duration, Effect, Fiber } from "effect"
import { elapsedMillis } from "../ElapsedTime.ts"

/** A wait that is under way. */
export interface Wait {
  /** By `elapsedMillis`. */
  readonly dueMillis: number
  /** Called once, where the wait is not ended before. */
  readonly late: () => void
}

export interface AckDeadlines {
  readonly begin: (late: () => void) => Wait
  readonly end: (wait: Wait) => void
}

/** Deadlines of one length, until the scope ends. */
export const makeAckDeadlines = Effect.fnUntraced(function*(limit: Duration.Duration) {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const context = yield* Effect.context()
  const waits = new Set<Wait>()
  let isWatched = false

  const oldest = (): Wait | undefined => waits.values().next().value

  /** Tells all that are due, and answers the one that is due next. */
  const tellDue = (): Wait | undefined => {
    for (;;) {
      const wait = oldest()
      if (wait === undefined || wait.dueMillis > elapsedMillis(clock)) return wait
      waits.delete(wait)
      wait.late()
    }
  }

  const watch = Effect.gen(function*() {
    for (let next = tellDue(); next !== undefined; next = tellDue()) {
      yield* Effect.sleep(next.dueMillis - elapsedMillis(clock))
    }
    isWatched = false
  })

  const begin = (late: () => void): Wait => {
    const wait = { dueMillis: elapsedMillis(clock) + Duration.toMillis(limit), late }
    waits.add(wait)
    if (!isWatched) {
      isWatched = true
      Fiber.runIn(Effect.runForkWith(context)(watch), scope)
    }
    return wait
  }

  const deadlines: AckDeadlines = { begin, end: (wait) => waits.delete(wait) }
  return deadlines
})
