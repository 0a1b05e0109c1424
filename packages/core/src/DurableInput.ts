/**
 * A source whose elements are in the log before they are handled, and committed after.
 *
 * ```ts
 * const input = DurableInput.typed(orders, incoming, { onDurable: acknowledge })
 * yield* input.run(ship, { concurrency: 8, retry: Schedule.exponential("100 millis"), deadLetter: park })
 * ```
 *
 * Elements go through four states: taken from the source; _accepted_ by the log, which gives them their numbers; _durable_,
 * and acknowledged to the source; _handled_ and committed. What was not yet committed is handled again by the next run,
 * before anything new. What a crash does depends on the state, and on `handle`:
 *
 * | a crash finds an element | `after-durable`                        | `after-accepted`                                     |
 * | ------------------------ | -------------------------------------- | ---------------------------------------------------- |
 * | taken, not accepted      | not handled; the source has it still   | the same                                             |
 * | accepted, not durable    | not handled; the source has it still   | perhaps handled; the source has it still             |
 * | durable, not acknowledged| in the log, and in the source: twice   | the same                                             |
 * | acknowledged             | handled at least once                  | the same                                             |
 * | handled, not committed   | handled again                          | the same                                             |
 *
 * A source that cannot give an element again, as a socket, loses what it has "still": a handler with `after-accepted` may
 * then have seen what no log holds. A source that gives elements again doubles them, unless `producer` names them. The
 * cursor is stored as the log's options say (`cursor.interval`, `cursor.maxEntries`, and at close): a crash repeats what
 * was handled since. A handler has to bear repetition; `isReplay` says where one is possible.
 *
 * A log that is switched off (`enabled: false`) keeps nothing: elements come from memory, and are acknowledged to the
 * source once they are handled. What a stop or a failure leaves unhandled only the source can give again.
 *
 * The log seals for whoever waits, and an input waits for each chunk: with `linger` at `flushInterval` it costs no more
 * requests than a log that nobody waits for.
 */
import { Deferred, Effect, Stream } from "effect"
import { type InputError, makeDeliveries, type OpenDelivery } from "./input/Deliveries.ts"
import { type Handler, type HandlerOptions, type InputReport, runInput } from "./input/Handling.ts"
import { type InputLog, ofRecords, type Unreadable } from "./input/InputLog.ts"
import { type InputOptions, type InputSpec, specOf } from "./input/InputOptions.ts"
import { StopSignal } from "./input/StopSignal.ts"
import type { RecordDecodeError } from "./TypedRecord.ts"
import type { TypedWalService } from "./TypedWal.ts"
import type { ReadError } from "./WalError.ts"
import type { AppendRecord, LostRange } from "./WalRecord.ts"
import type { WalService } from "./WalService.ts"

export { InputNotAlone } from "./DurableInputError.ts"
export type { Delivery, OpenDelivery } from "./input/Deliveries.ts"
export type { Handler, HandlerOptions, InputReport } from "./input/Handling.ts"
export type { Unreadable } from "./input/InputLog.ts"
export type { HandleMode, InputOptions } from "./input/InputOptions.ts"
export type { RefusedElement } from "./input/Offer.ts"

/** What every input can fail with, beside its source, its hooks and its handler. */
export type DurableInputError = InputError | ReadError

/** A source on a log. It does nothing until it is run, and one run at a time may use a cursor. */
export interface DurableInput<A, E, R> {
  /**
   * Handles every element: first those in the log that the cursor has not passed, then those of the source as they come. It
   * ends when the source has ended and all is committed.
   *
   * Interrupting it stops it gracefully, as `stopWhen` does: nothing more is taken from the source, what was taken becomes
   * durable and is acknowledged, handlers that run may finish and are committed, and all else stays in the log for the next
   * run. What is not finished after `stopTimeout` is interrupted, and comes again too.
   * What the source has in its own hands then, in a buffer or an effect of its own, goes with it: a source that cannot give
   * that again is better ended than stopped.
   *
   * It fails with what the source fails with, after all before that is handled; at once with what ends the log; and, where
   * no `deadLetter` is given, as a handler did that failed for good.
   */
  readonly run: {
    <E2, R2, E3, R3, R4 = never>(
      handler: Handler<A, E2, R2>,
      options: HandlerOptions<A, E2, R4, E3, R3> & Required<Pick<HandlerOptions<A, E2, R4, E3, R3>, "deadLetter">>
    ): Effect.Effect<InputReport, E | E3, R | R2 | R3 | R4>
    <E2, R2, R3 = never, R4 = never>(
      handler: Handler<A, E2, R2>,
      options?: Omit<HandlerOptions<A, E2, R4, never, R3>, "deadLetter">
    ): Effect.Effect<InputReport, E | E2, R | R2 | R3 | R4>
  }
  /**
   * The same elements as a stream, for a pipeline of one's own: each has to be committed, in any order, once its output is
   * safe. A stream that is left before its end stops the source as `run` does.
   */
  readonly deliveries: Stream.Stream<OpenDelivery<A>, E, R>
}

const over = <A extends B, B, E, R>(
  spec: InputSpec<A, B, E | DurableInputError, R>
): DurableInput<B, E | DurableInputError, R> => {
  type Fails = E | DurableInputError
  function run<E2, R2, E3, R3, R4>(
    handler: Handler<B, E2, R2>,
    options: HandlerOptions<B, E2, R4, E3, R3> & Required<Pick<HandlerOptions<B, E2, R4, E3, R3>, "deadLetter">>
  ): Effect.Effect<InputReport, Fails | E3, R | R2 | R3 | R4>
  function run<E2, R2, R3, R4>(
    handler: Handler<B, E2, R2>,
    options?: Omit<HandlerOptions<B, E2, R4, never, R3>, "deadLetter">
  ): Effect.Effect<InputReport, Fails | E2, R | R2 | R3 | R4>
  function run<E2, R2, E3, R3, R4>(
    handler: Handler<B, E2, R2>,
    options: HandlerOptions<B, E2, R4, E3, R3> = {}
  ): Effect.Effect<InputReport, Fails | E2 | E3, R | R2 | R3 | R4> {
    return runInput<A, B, Fails, R | R2 | R3 | R4, E2, E3>(spec, handler, options)
  }
  return {
    run,
    deliveries: Stream.suspend(() =>
      makeDeliveries<A, B, Fails, R>(spec, { stop: new StopSignal(spec.stopTimeout), failure: Deferred.makeUnsafe() })
    )
  }
}

/**
 * An input of records. What the source's elements carry beside a record is for the hooks, as a handle of its message. The
 * payload that a handler gets is a view: copy it to keep it longer than the handling.
 */
export const make = <
  A extends AppendRecord,
  E,
  R,
  E1 = never,
  R1 = never,
  E2 = never,
  R2 = never,
  E3 = never,
  R3 = never
>(
  wal: WalService,
  source: Stream.Stream<A, E, R>,
  options: InputOptions<A, LostRange, E1, R1, E2, R2, E3, R3> = {}
): DurableInput<AppendRecord, E | E1 | E2 | E3 | DurableInputError, R | R1 | R2 | R3> => {
  const { onDurable, onRefused, onUnreadable } = options
  return over(specOf<A, AppendRecord, E | E1 | E2 | E3 | DurableInputError, R | R1 | R2 | R3>({
    log: ofRecords(wal),
    source,
    sizeOf: ({ payload }) => payload.length,
    onDurable,
    onRefused,
    // In a log of records nothing else is unreadable.
    onUnreadable: onUnreadable &&
      ((unreadable) => unreadable._tag === "LostRange" ? onUnreadable(unreadable) : Effect.void)
  }, options))
}

/** A log of values, as an input sees it. */
const ofValues = <A, RD, RE>(
  log: TypedWalService<A, RD, RE>
): InputLog<A, ReadError | RecordDecodeError, RD | RE> => ({
  commit: log.commit,
  ended: log.ended,
  flush: log.flush,
  status: log.status,
  append: log.append,
  replay: (options, { skipsUnreadable }) =>
    skipsUnreadable ? log.replay({ ...options, onDamage: "skip", onDecodeError: "skip" }) : log.replay(options),
  read: (options, { skipsUnreadable }) =>
    skipsUnreadable ? log.read({ ...options, onDamage: "skip", onDecodeError: "skip" }) : log.read(options)
})

/** An input of values of a Schema. What the source's elements carry beside a value is for the hooks. */
export const typed = <
  A extends B,
  B,
  RD,
  RE,
  E,
  R,
  E1 = never,
  R1 = never,
  E2 = never,
  R2 = never,
  E3 = never,
  R3 = never
>(
  log: TypedWalService<B, RD, RE>,
  source: Stream.Stream<A, E, R>,
  options: InputOptions<A, Unreadable, E1, R1, E2, R2, E3, R3> = {}
): DurableInput<B, E | E1 | E2 | E3 | DurableInputError | RecordDecodeError, R | R1 | R2 | R3 | RD | RE> =>
  over(specOf<A, B, E | E1 | E2 | E3 | DurableInputError | RecordDecodeError, R | R1 | R2 | R3 | RD | RE>({
    log: ofValues(log),
    source,
    sizeOf: () => 0,
    onDurable: options.onDurable,
    onRefused: options.onRefused,
    onUnreadable: options.onUnreadable
  }, options))
