/** The wish that an input stops: everything that waits sees it, and all of it shares one deadline. */
import { Deferred, Duration, Effect } from "effect"
import { monotonicNow } from "../internal/Monotonic.ts"

export class StopSignal {
  private readonly asked = Deferred.makeUnsafe<void>()
  private readonly timeoutMillis: number
  private endsAt = Infinity

  constructor(timeout: Duration.Duration) {
    this.timeoutMillis = Duration.toMillis(timeout)
  }

  /** Somebody has asked. */
  get isAsked(): boolean {
    return Deferred.isDoneUnsafe(this.asked)
  }

  /** Completes when somebody asks. */
  get awaitAsked(): Effect.Effect<void> {
    return Deferred.await(this.asked)
  }

  /** Asks; only the first time counts for the deadline. */
  readonly ask: Effect.Effect<void> = Effect.flatMap(monotonicNow, (now) => {
    if (!this.isAsked) this.endsAt = now + this.timeoutMillis
    return Deferred.succeed(this.asked, undefined)
  })

  /** Waits for an effect until the deadline; `onLate` is for when that comes first. */
  within<A, B>(effect: Effect.Effect<A>, onLate: Effect.Effect<B>): Effect.Effect<A | B> {
    return Effect.flatMap(monotonicNow, (now) =>
      Effect.timeoutOrElse(effect, {
        duration: Duration.millis(Math.max(0, this.endsAt - now)),
        orElse: () => onLate
      }))
  }
}
