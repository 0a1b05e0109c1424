/**
 * The elements of an input in the order of the log, each with its commit: first what the cursor has not passed, then what
 * comes, with no hole between.
 *
 * After durability they are read back from the log, so how far handling is behind takes no memory. After acceptance they
 * come from memory, as many as there is room for.
 */
import { Cause, Deferred, Effect, type Exit, Fiber, Queue, Stream } from "effect"
import type { SeqRange } from "../cursor/AckRanges.ts"
import { InputNotAlone } from "../DurableInputError.ts"
import type { AppendError, ConfigError, CursorError } from "../WalError.ts"
import type { SequenceNumber } from "../WalRecord.ts"
import { HandledAcks } from "./HandledAcks.ts"
import { type InputLog, isUnreadable, rangeOf, type Readable, type Unreadable } from "./InputLog.ts"
import { inputMeters } from "./InputMetrics.ts"
import { checkNumbers, type InputSpec } from "./InputOptions.ts"
import { type IntakeParts, runIntake } from "./Intake.ts"
import { Progress } from "./Progress.ts"
import { Room } from "./Room.ts"
import type { StopSignal } from "./StopSignal.ts"

/** What a handler gets to know beside the element itself. */
export interface Delivery<A> {
  readonly seq: SequenceNumber
  readonly value: A
  /** It was in the log when the input started, so an earlier run may have handled it. */
  readonly isReplay: boolean
}

/** A delivery that its receiver commits. */
export interface OpenDelivery<A> extends Delivery<A> {
  /**
   * The element is done, in any order: the cursor moves over what is contiguous, and durable. Waits for neither. Every
   * delivery has to be committed, or the cursor stays below it.
   */
  readonly commit: Effect.Effect<void, CursorError>
}

/** What the log and the calls of an input can fail with, beside source, hooks and reading. */
export type InputError = AppendError | CursorError | ConfigError | InputNotAlone

/** What a run of an input is made of. */
interface Flow<A, E, R> {
  readonly spec: Pick<InputSpec<A, A, E | InputError, R>, "cursor" | "log" | "onUnreadable">
  readonly progress: Progress
  /** The highest number when it started. */
  readonly startSeq: SequenceNumber
  /** Completes with how the source ended, once all that came from it is durable and acknowledged. */
  readonly drained: Effect.Effect<Exit.Exit<void, E | InputError>>
}

/** Everything up to the durable end, then live until all is durable that the source gave, then the rest. */
const fromLog = <A, E, R>({ drained, progress, spec: { cursor, log, onUnreadable } }: Flow<A, E, R>) =>
  Stream.suspend(() => {
    const policy = { skipsUnreadable: onUnreadable !== undefined }
    let seen: SequenceNumber | undefined
    const live = log.replay({ cursor, until: "live" }, policy).pipe(
      Stream.interruptWhen(drained),
      Stream.mapArray((elements) => {
        seen = elements.reduce((highest, element) => Math.max(highest, rangeOf(element).to), seen ?? 0)
        return elements
      })
    )
    // Not by the cursor: a lost range that was cut off on its way here has moved it already.
    const rest = Stream.suspend(() =>
      log.read({ from: (seen ?? progress.committed) + 1, until: "durable-end" }, policy)
    )
    return Stream.concat(live, rest)
  })

/** What is in the log when the input starts; then what the log accepts, from memory. */
const fromMemory = <A, E, R>(
  { spec: { cursor, log, onUnreadable }, startSeq }: Flow<A, E, R>,
  accepted: Queue.Dequeue<Readable<A>, Cause.Done>
): Stream.Stream<Readable<A> | Unreadable, E | InputError, R> =>
  log.replay({ cursor, until: "durable-end" }, { skipsUnreadable: onUnreadable !== undefined }).pipe(
    Stream.takeWhile((element) => rangeOf(element).from <= startSeq),
    Stream.concat(Stream.fromQueue(accepted))
  )

/** Makes deliveries of elements; what is unreadable goes to its hook. */
const deliver = <A, E, R>(
  { progress, spec: { onUnreadable }, startSeq }: Flow<A, E, R>,
  elements: Stream.Stream<Readable<A> | Unreadable, E | InputError, R>
): Stream.Stream<OpenDelivery<A>, E | InputError, R> => {
  // A chunk at a time: most hold nothing unreadable, and cost no more than a loop.
  const deliverAll = Effect.fnUntraced(function*(chunk: ReadonlyArray<Readable<A> | Unreadable>) {
    const deliveries: Array<OpenDelivery<A>> = []
    for (const element of chunk) {
      const commit = progress.done(rangeOf(element))
      if (!isUnreadable(element)) {
        deliveries.push({ seq: element.seq, value: element.value, isReplay: element.seq <= startSeq, commit })
        continue
      }
      if (onUnreadable !== undefined) yield* onUnreadable(element)
      yield* commit
    }
    return deliveries
  })
  return elements.pipe(Stream.chunks, Stream.mapEffect(deliverAll), Stream.flattenIterable)
}

/** Tells of the numbers that somebody else has got in between: the elements of others never come from memory. */
const gapCheck = <E>(startSeq: SequenceNumber, onGap: (range: SeqRange) => Effect.Effect<void, E>) => {
  let next = startSeq + 1
  return (seq: SequenceNumber) =>
    Effect.suspend(() => {
      const from = next
      next = seq + 1
      return seq === from ? Effect.void : onGap({ from, to: seq - 1 })
    })
}

/** A repeat of what an earlier run took and did not commit: its element is nowhere, so the log takes it anew. */
const takeAgain = <A, E, R>(log: InputLog<A, E, R>, { from, to }: SeqRange): InputLog<A, E, R> => ({
  ...log,
  append: (elements, options) =>
    Effect.flatMap(
      log.append(elements, options),
      (appended) =>
        appended.isRepeat === true && appended.last >= from && appended.last <= to
          ? log.append(elements)
          : Effect.succeed(appended)
    )
})

/** What ends a run, from inside and from outside. */
export interface RunEnds<E> {
  readonly stop: StopSignal
  /** Fails at once with what ends the log, also where nobody pulls the deliveries. */
  readonly failure: Deferred.Deferred<never, E>
}

/** The deliveries of a new run. They end after the last element of the source, or soon after a stop. */
export const makeDeliveries = <A extends B, B, E, R>(
  spec: InputSpec<A, B, E | InputError, R>,
  ends: RunEnds<E | InputError>
): Stream.Stream<OpenDelivery<B>, E | InputError, R> =>
  Stream.unwrap(Effect.gen(function*() {
    const { failure, stop } = ends
    const { cursor, log, maxPending, maxPendingBytes } = spec
    yield* checkNumbers({ maxPending, maxPendingBytes })
    // A lower commit than the mark changes nothing, and a cursor that is new is there from now on.
    yield* log.commit(0, { cursor })
    const before = yield* log.status
    const mark = before.cursors[cursor]?.mark ?? 0
    // A log that is switched off keeps nothing that could be read back.
    const isKept = before.logId !== ""
    const isMemory = spec.handle === "after-accepted" || !isKept
    const startSeq = isMemory ? yield* log.flush : before.lastAccepted
    const meters = yield* inputMeters({ stream: before.streamId, cursor })
    yield* Effect.addFinalizer(() => Effect.sync(meters.ended))
    const room = new Room(spec)
    const release = (seq: SequenceNumber) => {
      room.releaseThrough(seq)
      meters.pending(room.pending)
    }
    const acks = isKept ? undefined : yield* makeAcks(spec, release)
    const progress = new Progress({
      mark: isKept ? mark : startSeq,
      settled: isKept && isMemory ? startSeq : Infinity,
      commit: (seq) => log.commit(seq, { cursor }),
      onCommitted: (seq) => {
        if (acks !== undefined) return orFail(acks.handledThrough(seq), failure)
        return isMemory ? Effect.sync(() => release(seq)) : Effect.void
      }
    })
    const accepted = yield* Queue.unbounded<Readable<B>, Cause.Done>()
    const checkGap = gapCheck<InputError>(startSeq, (range) =>
      spec.handle === "after-accepted"
        ? Effect.fail(new InputNotAlone({ log: before.streamId, expected: range.from, found: range.to + 1 }))
        : progress.done(range))
    const parts: IntakeParts<A, B, E | InputError, R> = {
      spec: isKept ? spec : { ...spec, log: takeAgain(log, { from: mark + 1, to: startSeq }) },
      room,
      stop,
      meters,
      onAccepted: isMemory
        ? (element) => Effect.andThen(checkGap(element.seq), Queue.offer(accepted, element))
        : () => Effect.void,
      settle: acks === undefined
        ? settleDurable(spec, isMemory ? progress : undefined, release)
        : (batch) => acks.hold(batch)
    }
    const intake = yield* runIntake(parts, (cause) => Deferred.failCause(failure, cause)).pipe(
      Effect.ensuring(Queue.end(accepted)),
      Effect.forkScoped
    )
    yield* log.ended.pipe(Effect.flatMap((end) => Deferred.fail(failure, end)), Effect.forkScoped)
    const failed = Deferred.await(failure)
    const drained = Fiber.join(intake)
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        intake.pollUnsafe() === undefined
          ? endIntake(stop, Effect.raceFirst(drained, Effect.exit(failed)), room)
          : Effect.void,
        acks === undefined ? Effect.void : endAcks(ends, acks)
      )
    )
    const flow: Flow<B, E, R> = { spec, progress, startSeq, drained }
    const end = Stream.fromEffectDrain(Effect.flatten(drained))
    return deliver(flow, isMemory ? fromMemory(flow, accepted) : fromLog(flow)).pipe(
      Stream.concat(end),
      Stream.interruptWhen(Effect.raceFirst(failed, stop.awaitAsked))
    )
  }))

/** Acknowledges what is durable. What comes from memory, as `progress` tells, takes room until it is committed too. */
const settleDurable = <A extends B, B, E, R>(
  { onDurable }: InputSpec<A, B, E, R>,
  progress: Progress | undefined,
  release: (seq: SequenceNumber) => void
): IntakeParts<A, B, E | CursorError, R>["settle"] =>
({ elements, last }) =>
  Effect.suspend(() => onDurable?.(elements) ?? Effect.void).pipe(
    Effect.andThen(progress?.settle(last) ?? Effect.void),
    // Repeats may all lie below the cursor already.
    Effect.andThen(Effect.sync(() => release(progress?.committed ?? last)))
  )

/** Acknowledgements that run in whatever commits. */
const makeAcks = <A extends B, B, E, R>({ onDurable }: InputSpec<A, B, E, R>, release: (seq: SequenceNumber) => void) =>
  Effect.map(Effect.context<R>(), (context) =>
    new HandledAcks<A, E>({
      acknowledge: (elements) => Effect.provideContext(onDurable?.(elements) ?? Effect.void, context),
      onAcknowledged: release
    }))

/** A failure ends the run; whoever was to be told of it goes on. */
const orFail = <E>(effect: Effect.Effect<void, E>, failure: Deferred.Deferred<never, E>): Effect.Effect<void> =>
  Effect.catchCause(
    effect,
    (cause) => Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Deferred.failCause(failure, cause)
  )

const sayUnacknowledged = (count: number) =>
  Effect.logWarning(`the input stops with ${count} elements that are not acknowledged to their source`)

/** Nothing more is taken; what was accepted becomes durable and is acknowledged, as far as the time allows. */
const endIntake = (stop: StopSignal, settled: Effect.Effect<unknown>, room: Room) =>
  Effect.andThen(stop.ask, stop.within(settled, Effect.suspend(() => sayUnacknowledged(room.pending))))

/** Nothing more is handled. What is not acknowledged now is nowhere but in the source. */
const endAcks = <A, E>({ failure, stop }: RunEnds<E>, acks: HandledAcks<A, E>) =>
  Effect.gen(function*() {
    if (acks.pending === 0 || Deferred.isDoneUnsafe(failure)) return
    yield* stop.ask
    yield* stop.within(orFail(acks.finish, failure), Effect.void)
    if (acks.pending > 0) yield* sayUnacknowledged(acks.pending)
  })
