/** The signals of the operating system, as effects. */
import { Effect, Queue } from "effect"
import { constants } from "node:os"

const ending = ["SIGTERM", "SIGINT"] as const

/**
 * Completes with the name of the first SIGTERM or SIGINT. A second one ends the process at once, with 128 and its number,
 * as a shell would report it: whoever asks twice does not want to wait for a drain.
 */
export const stopSignal: Effect.Effect<string> = Effect.callback<string>((resume) => {
  let asked = false
  const listeners = ending.map((signal) => {
    const listener = () => {
      if (asked) process.exit(128 + constants.signals[signal])
      asked = true
      resume(Effect.succeed(signal))
    }
    process.on(signal, listener)
    return { signal, listener }
  })
  // Whoever stops waiting gives the signals back.
  return Effect.sync(() => {
    for (const { listener, signal } of listeners) process.off(signal, listener)
  })
})

/**
 * Completes with `SIGHUP` when the terminal is closed. Further ones do nothing: the kernel and a shell both send one.
 */
export const hangUp: Effect.Effect<string> = Effect.callback<string>((resume) => {
  const listener = () => resume(Effect.succeed("SIGHUP"))
  process.on("SIGHUP", listener)
  return Effect.sync(() => process.off("SIGHUP", listener))
})

/**
 * Runs the effect at every SIGHUP, one run after the other, until it is interrupted; signals that come during a run
 * make one more run. Without a listener the signal would end the process, so there is no moment without one.
 */
export const onHangUp = <E, R>(effect: Effect.Effect<void, E, R>): Effect.Effect<never, E, R> =>
  Effect.scoped(Effect.gen(function*() {
    const heard = yield* Queue.sliding<void>(1)
    const listener = () => Queue.offerUnsafe(heard, undefined)
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("SIGHUP", listener)),
      () => Effect.sync(() => process.off("SIGHUP", listener))
    )
    return yield* Queue.take(heard).pipe(Effect.andThen(effect), Effect.forever)
  }))
