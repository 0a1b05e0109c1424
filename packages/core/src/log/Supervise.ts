/** The fibers of a log: one that ends, for whatever reason, ends the log. */
import { Cause, Effect, Exit } from "effect"
import { ObjectStore } from "../store/ObjectStore.ts"
import { WalFailed } from "../WalError.ts"
import type { LogFate } from "../write/LogFate.ts"

export interface Supervised {
  readonly streamId: string
  readonly fate: LogFate
  readonly store: ObjectStore["Service"]
}

/** Starts the fiber; it lives as long as the scope. */
export const supervise = <E>(
  { fate, store, streamId }: Supervised,
  name: string,
  fiber: Effect.Effect<never, E, ObjectStore>
) =>
  fiber.pipe(
    Effect.provideService(ObjectStore, store),
    Effect.onExit((exit) => {
      const died = Exit.isFailure(exit) ? Cause.squash(exit.cause) : "ended"
      const cause = `${name}: ${died instanceof Error ? died.message : String(died)}`
      const ended = fate.end(new WalFailed({ streamId, cause }))
      // Interrupted because the log is over already: that has been told.
      return ended ? Effect.logError(`log ${streamId} stopped: ${name} died`, died) : Effect.void
    }),
    Effect.forkScoped({ startImmediately: true })
  )
