/**
 * A run of an input: a handler for each delivery, so many at a time, with retries and a place for what is given up.
 *
 * Owns: handlers, and how a run ends. Does not own: the order of the log, and the cursor.
 */
import { Cause, Clock, Deferred, Duration, Effect, Exit, Fiber, Option, Pull, Schedule, Stream } from "effect"
import type { Delivery, InputError, OpenDelivery } from "./Deliveries.ts"
import { makeDeliveries } from "./Deliveries.ts"
import { type InputMeters, inputMeters } from "./InputMetrics.ts"
import { checkNumbers, type InputSpec } from "./InputOptions.ts"
import { StopSignal } from "./StopSignal.ts"

/** `E` is what the handler fails with. */
export interface HandlerOptions<A, E, R = never, E2 = never, R2 = never> {
  /**
   * Handlers that run at the same time. With 1, the default, elements are handled one after the other; with more, in no
   * order. One that takes long holds back the cursor, not the others.
   */
  readonly concurrency?: number
  /** Whether and when a handler that failed runs again. A defect is not retried. Default: never. */
  readonly retry?: Schedule.Schedule<unknown, E, never, R>
  /**
   * Where an element goes whose handler has failed for good, or died: once this has succeeded, the element is committed.
   * Default: the run stops, and fails as the handler did; the element comes again with the next run.
   */
  readonly deadLetter?: (delivery: Delivery<A>, cause: Cause.Cause<E>) => Effect.Effect<unknown, E2, R2>
  /** Stops the run when it completes. */
  readonly stopWhen?: Effect.Effect<unknown, never, R2>
}

/** A handler; its effect is done when the element is, with all output that depends on it. */
export type Handler<A, E, R> = (value: A, delivery: Delivery<A>) => Effect.Effect<unknown, E, R>

/** What a run did. */
export interface InputReport {
  /** Elements whose handler has succeeded. */
  readonly handled: number
  /** Elements that `deadLetter` has taken. */
  readonly deadLettered: number
}

/** How the handling of one element ended: done, given up because the run stops, or failed for good. */
type Outcome<E> = "done" | "stopped" | Cause.Cause<E>

interface Handling<A, E, E2, R> {
  readonly handler: Handler<A, E, R>
  readonly options: HandlerOptions<A, E, R, E2, R>
  readonly stop: StopSignal
  readonly meters: InputMeters
}

/** How long the schedule waits after a failure; `undefined` where it ends, and for a defect. */
const waitAfter = <E, R>(
  step: (now: number, error: E) => Pull.Pull<readonly [unknown, Duration.Duration], never, unknown, R>,
  cause: Cause.Cause<E>
) =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => Effect.undefined,
    onSome: (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => step(now, error)).pipe(
        Effect.map(([, wait]): Duration.Duration | undefined => wait),
        Pull.catchDone(() => Effect.undefined)
      )
  })

const logRetry = (seq: number, attempt: number, wait: Duration.Duration, cause: Cause.Cause<unknown>) => {
  const message = `record ${seq}: try ${attempt} failed, again in ${Duration.format(wait)}`
  // An outage of what handlers depend on is one warning a record, not one a try.
  return attempt === 1 ? Effect.logWarning(message, cause) : Effect.logDebug(message, cause)
}

/** Runs the handler until it succeeds, the schedule ends or the run stops. */
const attempts = Effect.fnUntraced(function*<A, E, E2, R>(
  { handler, meters, options, stop }: Handling<A, E, E2, R>,
  { isReplay, seq, value }: Delivery<A>
): Effect.fn.Return<Outcome<E>, never, R> {
  const step = options.retry === undefined ? undefined : yield* Schedule.toStep(options.retry)
  for (let attempt = 1;; attempt++) {
    // One that throws instead of giving an effect has died like any other.
    const exit = yield* Effect.exit(Effect.suspend(() => handler(value, { seq, value, isReplay })))
    if (Exit.isSuccess(exit)) return "done"
    const wait = step === undefined ? undefined : yield* waitAfter(step, exit.cause)
    if (wait === undefined) return exit.cause
    yield* logRetry(seq, attempt, wait, exit.cause)
    yield* Effect.raceFirst(Effect.sleep(wait), stop.awaitAsked)
    if (stop.isAsked) return "stopped"
    meters.retried()
  }
})

/** The sum of a run. */
interface Tally<E> {
  handled: number
  deadLettered: number
  failure: Cause.Cause<E> | undefined
}

/** One delivery, to its commit. A failure for good stops the run, so that the others can finish. */
const handleOne = Effect.fnUntraced(function*<A, E, E2, R>(
  handling: Handling<A, E, E2, R>,
  tally: Tally<E | E2>,
  delivery: OpenDelivery<A>
) {
  const { meters, options: { deadLetter }, stop } = handling
  const fail = (cause: Cause.Cause<E | E2>) =>
    Effect.suspend(() => {
      tally.failure ??= cause
      return Effect.andThen(Effect.logError(`record ${delivery.seq} failed, the input stops`, cause), stop.ask)
    })
  // What lies in the same chunk as an element that made the run stop stays in the log.
  if (stop.isAsked) return
  const outcome = yield* attempts(handling, delivery)
  if (outcome === "stopped") return
  if (outcome === "done") {
    tally.handled++
    meters.handled()
    return yield* delivery.commit
  }
  if (deadLetter === undefined || Cause.hasInterruptsOnly(outcome)) return yield* fail(outcome)
  const { isReplay, seq, value } = delivery
  const kept = yield* Effect.exit(Effect.suspend(() => deadLetter({ seq, value, isReplay }, outcome)))
  if (Exit.isFailure(kept)) return yield* fail(kept.cause)
  tally.deadLettered++
  meters.deadLettered()
  yield* Effect.logWarning(`record ${seq} is given up, and kept as a dead letter`, outcome)
  yield* delivery.commit
})

/** Interrupting it stops it as `stopWhen` does, and waits for that. */
export const runInput = Effect.fnUntraced(function*<A extends B, B, E, R, E2, E3>(
  spec: InputSpec<A, B, E | InputError, R>,
  handler: Handler<B, E2, R>,
  options: HandlerOptions<B, E2, R, E3, R>
): Effect.fn.Return<InputReport, E | E2 | E3 | InputError, R> {
  const { concurrency = 1 } = options
  yield* checkNumbers({ concurrency })
  const { streamId } = yield* spec.log.status
  const meters = yield* inputMeters({ stream: streamId, cursor: spec.cursor })
  const stop = new StopSignal(spec.stopTimeout)
  const tally: Tally<E2 | E3> = { handled: 0, deadLettered: 0, failure: undefined }
  const handling: Handling<B, E2, E3, R> = { handler, options, stop, meters }
  const failure = yield* Deferred.make<never, E | InputError>()
  const work = yield* makeDeliveries(spec, { stop, failure }).pipe(
    Stream.mapEffect((delivery) => handleOne(handling, tally, delivery), { concurrency, unordered: true }),
    Stream.runDrain,
    // A log that is over ends handlers too: whoever has it now handles their elements.
    Effect.raceFirst(Deferred.await(failure)),
    Effect.forkChild
  )
  const late = Effect.andThen(
    Effect.logWarning(`the input on cursor ${spec.cursor} of log ${streamId} stops before all its handlers have ended`),
    Fiber.interrupt(work)
  )
  const finish = stop.within(Effect.asVoid(Fiber.await(work)), late)
  if (options.stopWhen !== undefined) {
    yield* Effect.andThen(options.stopWhen, stop.ask).pipe(
      // A wish to stop that can never come any more would go unnoticed.
      Effect.catchCause((cause) => Deferred.failCause(failure, cause)),
      Effect.forkChild
    )
  }
  yield* Effect.raceFirst(Fiber.await(work), Effect.andThen(stop.awaitAsked, finish)).pipe(
    Effect.onInterrupt(() => Effect.andThen(stop.ask, finish))
  )
  const exit = yield* Fiber.await(work)
  if (tally.failure !== undefined) return yield* Effect.failCause(tally.failure)
  if (Exit.isFailure(exit) && !(stop.isAsked && Cause.hasInterruptsOnly(exit.cause))) {
    return yield* Effect.failCause(exit.cause)
  }
  yield* Effect.logInfo(
    `the input on cursor ${spec.cursor} of log ${streamId} ended: ${tally.handled} handled, ${tally.deadLettered} dead letters`
  )
  return { handled: tally.handled, deadLettered: tally.deadLettered }
})
