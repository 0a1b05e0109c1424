/**
 * One try of a segment's PUT: the request and, where it is slow, one more with the same key and the same bytes.
 *
 * Owns: the two requests. Does not own: what their answer means for the slot, further tries.
 *
 * Invariants: the first definite answer counts, stored or taken; what says neither waits for the other request · no more
 * than two requests are under way · with the answer both are over for this process, whatever the store makes of them:
 * same key and same bytes, created once at most.
 */
import { Effect, Fiber, Option, Result } from "effect"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { LogStats } from "../observe/LogStats.ts"
import type { ObjectStore, Tag } from "../store/ObjectStore.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"
import type { HedgePolicy } from "./HedgePolicy.ts"
import type { Packed } from "./PackSegment.ts"
import { afterPut } from "./PutOutcome.ts"
import type { StampedSegment } from "./Segment.ts"

type Answer = Result.Result<Tag, ObjectStoreError>

export interface HedgedPutParts {
  readonly store: ObjectStore["Service"]
  readonly stats: LogStats
  /** Absent: nothing is sent twice. */
  readonly policy: HedgePolicy | undefined
}

interface Hedging {
  readonly bytes: number
  /** A second request is sent. */
  readonly onSecond: () => void
}

const isDefinite = (answer: Answer): boolean => Result.isSuccess(answer) || afterPut(answer.failure) === "look"

export class HedgedPut {
  private readonly parts: HedgedPutParts

  constructor(parts: HedgedPutParts) {
    this.parts = parts
  }

  /** One try. */
  send({ key }: Pick<StampedSegment, "key">, packed: Packed): Effect.Effect<Answer> {
    const { policy, store } = this.parts
    const request = Effect.result(store.create(key, packed.object, { crc32: packed.crc32 }))
    if (policy === undefined) return request
    // Of two requests one is given up, and may still read what it sends.
    return this.hedged(request, policy, { bytes: packed.object.length, onSecond: () => packed.memory?.keep() })
  }

  private readonly hedged = Effect.fnUntraced(
    function*(this: HedgedPut, request: Effect.Effect<Answer>, policy: HedgePolicy, { bytes, onSecond }: Hedging) {
      policy.sends()
      const startedAt = yield* monotonicNow
      const delayMillis = policy.delayMillis(bytes)
      const answer: Answer = delayMillis === undefined
        ? yield* request
        : yield* this.race(request, policy, { delayMillis, onSecond })
      if (Result.isSuccess(answer)) policy.stored(bytes, (yield* monotonicNow) - startedAt)
      return answer
    }
  )

  private readonly race = Effect.fnUntraced(
    function*(
      this: HedgedPut,
      request: Effect.Effect<Answer>,
      policy: HedgePolicy,
      { delayMillis, onSecond }: { readonly delayMillis: number } & Pick<Hedging, "onSecond">
    ) {
      const first = yield* Effect.forkChild(request, { startImmediately: true })
      const early = yield* Effect.timeoutOption(Fiber.join(first), delayMillis)
      if (Option.isSome(early)) return early.value
      if (!policy.takeOne()) return yield* Fiber.join(first)
      const { stats } = this.parts
      stats.hedges++
      onSecond()
      const second = yield* Effect.forkChild(request, { startImmediately: true })
      const either = (one: Fiber.Fiber<Answer>, other: Fiber.Fiber<Answer>) =>
        Effect.flatMap(Fiber.join(one), (answer) => isDefinite(answer) ? Effect.succeed(answer) : Fiber.join(other))
      const answer = yield* Effect.raceFirst(either(first, second), either(second, first))
      const isSecond = second.pollUnsafe() !== undefined && first.pollUnsafe() === undefined
      if (isSecond && Result.isSuccess(answer)) stats.hedgesWon++
      // The one that was slower has most likely landed first: what stands there has to be looked at.
      if (Result.isFailure(answer) && isDefinite(answer)) policy.tookMore()
      first.interruptUnsafe()
      second.interruptUnsafe()
      return answer
    }
  )
}
