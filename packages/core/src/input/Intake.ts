/**
 * The way in: pulls the source when there is room, appends what comes, and acknowledges it once it is durable.
 *
 * Owns: the source, the order of acknowledgements. Does not own: handling, and the cursor.
 */
import { Array, Cause, Effect, Exit, Fiber, Pull, Queue, Stream } from "effect"
import type { AppendError, CursorError, WalEnd } from "../WalError.ts"
import type { SequenceNumber } from "../WalRecord.ts"
import type { Appended } from "../WalService.ts"
import type { Readable } from "./InputLog.ts"
import type { InputMeters } from "./InputMetrics.ts"
import type { InputSpec } from "./InputOptions.ts"
import { offerOne, offerTogether } from "./Offer.ts"
import type { Room } from "./Room.ts"
import type { StopSignal } from "./StopSignal.ts"

/** Elements that are acknowledged together. */
export interface Batch<A> {
  readonly elements: Array.NonEmptyReadonlyArray<A>
  /** The highest number of them; 0 where the log has taken none of them. */
  readonly last: SequenceNumber
  /** The highest number of an element and those before it here. */
  readonly reached: (index: number) => SequenceNumber
  readonly durable: Effect.Effect<unknown, WalEnd>
}

export interface IntakeParts<A extends B, B, E, R> {
  readonly spec: InputSpec<A, B, E, R>
  readonly room: Room
  readonly stop: StopSignal
  readonly meters: InputMeters
  /** Told of each element that the log has accepted now, in order; not of repeats. */
  readonly onAccepted: (element: Readable<A>) => Effect.Effect<void, E>
  /** Called for each batch in order, once it is durable: acknowledges it. */
  readonly settle: (batch: Batch<A>) => Effect.Effect<void, E | CursorError, R>
}

/** Appends elements that have room, and tells of each. */
const appendAll = Effect.fnUntraced(function*<A extends B, B, E, R>(
  { meters, onAccepted, spec }: IntakeParts<A, B, E, R>,
  elements: Array.NonEmptyReadonlyArray<A>
) {
  let newest: Appended | undefined
  let isWhole = true
  const take = Effect.fnUntraced(function*(appended: Appended, accepted: Array.NonEmptyReadonlyArray<A>) {
    // A repeat has lower numbers than what came before it here, and may be durable long before that.
    if (newest === undefined || appended.last > newest.last) newest = appended
    if (appended.isRepeat === true) return
    meters.appended(accepted.length)
    for (const [index, value] of accepted.entries()) yield* onAccepted({ seq: appended.first + index, value })
  })
  const canBeOne = spec.producer === undefined && elements.length > 1
  const together = canBeOne ? yield* offerTogether(spec, elements) : "apart"
  const reached: globalThis.Array<SequenceNumber> = []
  if (together !== "apart") yield* take(together, elements)
  else {
    for (const element of elements) {
      const taken = yield* offerOne(spec, meters, element)
      if (taken === "earlier") isWhole = false
      else if (taken !== "refused") yield* take(taken, [element])
      reached.push(newest?.last ?? 0)
    }
  }
  const durable = newest === undefined ? Effect.void : newest.durable
  // What was appended before, nobody knows where, is durable when all is that is accepted by now.
  return {
    elements,
    last: newest?.last ?? 0,
    reached: (index) => together === "apart" ? reached[index] ?? 0 : together.first + index,
    durable: isWhole ? durable : spec.log.flush
  } satisfies Batch<A>
})

/** One chunk of the source; a stop ends the wait for it, but not a chunk that is there already. */
const nextChunk = <A, E, R>(
  pull: Pull.Pull<Array.NonEmptyReadonlyArray<A>, E, unknown, R>,
  { room, stop }: Pick<IntakeParts<A, A, E, R>, "room" | "stop">
) =>
  Effect.gen(function*() {
    const pulling = yield* Effect.forkChild(Effect.andThen(room.available, pull), { startImmediately: true })
    yield* Effect.raceFirst(Fiber.await(pulling), stop.awaitAsked)
    yield* Fiber.interrupt(pulling)
    return yield* Fiber.await(pulling)
  })

/** Takes the source to its end, or until a stop. Fails with what the source fails with. */
const takeAll = <A extends B, B, E, R>(
  parts: IntakeParts<A, B, E, R>,
  accept: (elements: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<void, never, R>
) =>
  Effect.scoped(Effect.gen(function*() {
    const { spec, stop } = parts
    const pull = yield* Stream.toPull(spec.source)
    while (!stop.isAsked) {
      const chunk = yield* nextChunk(pull, parts)
      if (Exit.isSuccess(chunk)) yield* accept(chunk.value)
      else if (stop.isAsked && Cause.hasInterruptsOnly(chunk.cause)) return
      else return yield* Effect.asVoid(Pull.doneExitFromCause(chunk.cause))
    }
  }))

/**
 * Runs until the source has ended and all that came is settled; its result is how the source ended. Failures of the log and
 * of acknowledgements go to `onFailure`, and then it never ends.
 */
export const runIntake = Effect.fnUntraced(function*<A extends B, B, E, R>(
  parts: IntakeParts<A, B, E, R>,
  onFailure: (cause: Cause.Cause<E | AppendError | CursorError>) => Effect.Effect<unknown>
) {
  const { room, settle, spec, stop } = parts
  const orHang = <X, E2 extends E | AppendError | CursorError, R2>(effect: Effect.Effect<X, E2, R2>) =>
    Effect.catchCause(effect, (cause) => Effect.andThen(onFailure(cause), Effect.never))
  const batches = yield* Queue.unbounded<Batch<A>, Cause.Done>()
  const settling = yield* Stream.fromQueue(batches).pipe(
    Stream.runForEach((batch) => Effect.andThen(batch.durable, settle(batch))),
    orHang,
    Effect.forkChild
  )
  const accept = Effect.fnUntraced(function*(elements: Array.NonEmptyReadonlyArray<A>) {
    let rest: ReadonlyArray<A> = elements
    while (Array.isReadonlyArrayNonEmpty(rest)) {
      // What is in hand when a stop comes is accepted: no source has to give it again.
      yield* Effect.raceFirst(room.available, stop.awaitAsked)
      const { bytes, count } = room.fitting(rest, spec.sizeOf)
      const batch = yield* appendAll(parts, [rest[0], ...rest.slice(1, count)])
      room.hold({ last: batch.last, count, bytes })
      parts.meters.pending(room.pending)
      Queue.offerUnsafe(batches, batch)
      rest = rest.slice(count)
    }
  }, orHang)
  const ended = yield* Effect.exit(takeAll(parts, accept))
  yield* Queue.end(batches)
  yield* Fiber.join(settling)
  return ended
})
