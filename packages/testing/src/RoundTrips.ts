/**
 * Counts how many requests follow each other: a store that answers all requests under way together, and only once the
 * program does nothing but wait for them. Each such answer is one round trip, however many requests it has.
 *
 * Meant for a clock that stands still (`TestClock`): who waits for time then waits for ever, and that is told.
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { Deferred, Effect, Fiber } from "effect"

/** Turns of all fibers without a new request after which nothing but the store is waited for. */
const quietTurns = 50

/** Counts the round trips of what is done on a store: requests that are under way together are one. */
export class RoundTrips {
  private readonly gates: Array<Deferred.Deferred<void>> = []
  private arrived = 0
  private isCounting = false

  /** The store with its requests held, while something is counted, until they are answered together. */
  hold(inner: ObjectStore["Service"]): ObjectStore["Service"] {
    const held = <A>(request: Effect.Effect<A, ObjectStoreError>) =>
      Effect.suspend(() => {
        if (!this.isCounting) return request
        const gate = Deferred.makeUnsafe<void>()
        this.arrived++
        this.gates.push(gate)
        return Effect.andThen(Deferred.await(gate), request)
      })
    return ObjectStore.of({
      ...inner,
      get: (key, request) => held(inner.get(key, request)),
      create: (key, body, options) => held(inner.create(key, body, options)),
      replace: (key, body, tag, options) => held(inner.replace(key, body, tag, options)),
      list: (request) => held(inner.list(request)),
      remove: (keys) => held(inner.remove(keys)),
      advice: (prefix) => held(inner.advice(prefix))
    })
  }

  /** How many round trips it takes. Dies where it waits for something that is no answer of the store. */
  count<A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> {
    return Effect.gen({ self: this }, function*() {
      this.isCounting = true
      const fiber = yield* Effect.forkChild(work, { startImmediately: true })
      for (let count = 0;; count++) {
        yield* this.quiet()
        if (fiber.pollUnsafe() !== undefined) return yield* Effect.as(Fiber.join(fiber), count)
        if (this.gates.length === 0) return yield* Effect.die(new Error("it waits, and not for the store"))
        this.answer()
      }
    }).pipe(Effect.ensuring(Effect.sync(() => {
      this.isCounting = false
      this.answer()
    })))
  }

  private answer(): void {
    for (const gate of this.gates.splice(0)) Deferred.doneUnsafe(gate, Effect.void)
  }

  private readonly quiet = Effect.fnUntraced(function*(this: RoundTrips) {
    let before = -1
    while (before !== this.arrived) {
      before = this.arrived
      for (let waited = 0; waited < quietTurns; waited++) yield* Effect.yieldNow
    }
  })
}
