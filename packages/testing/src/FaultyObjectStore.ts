/**
 * A store that misbehaves on command, around any other: what a test cannot make a real store do at will.
 *
 * Faults: refuse before or after applying, hold a request until a gate opens (before or after it is applied), never
 * answer; and `crash`, after which this handle's requests neither apply nor answer, as those of a process that was killed.
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { ObjectStoreError, type Operation, type Reason } from "@effect-wal/core/store/ObjectStoreError"
import { Deferred, Effect } from "effect"

/** A request before it is applied. */
export interface FaultyRequest {
  readonly operation: Operation
  /** The key; for `list` the prefix, for `remove` the first key. */
  readonly key: string
  /** How many requests of this operation came before it, through this handle. */
  readonly nth: number
}

/** What becomes of a request instead of a plain answer. */
export type Fault =
  /** Answers the reason; applied first or not. */
  | { readonly _tag: "Fail"; readonly reason: Reason; readonly applied?: boolean; readonly retryAfterMillis?: number }
  /** Waits for the gate, then applies. */
  | { readonly _tag: "HoldBefore"; readonly gate: Deferred.Deferred<void> }
  /** Applies, then waits for the gate before answering. */
  | { readonly _tag: "HoldAfter"; readonly gate: Deferred.Deferred<void> }
  /** Answers the reason now and applies once the gate opens: a late request. */
  | { readonly _tag: "Ghost"; readonly reason: Reason; readonly gate: Deferred.Deferred<void> }
  /** Never answers; applied first or not. */
  | { readonly _tag: "Silence"; readonly applied?: boolean }

/** A store with faults, and what makes them. */
export interface FaultyHandles {
  readonly store: ObjectStore["Service"]
  /** Asked for every request; the first rule that answers a fault decides. Answer: takes the rule away. */
  readonly rule: (rule: (request: FaultyRequest) => Fault | undefined) => () => void
  /** From now on no request of this handle applies or answers. */
  readonly crash: () => void
  /** Every request so far, refused ones too. */
  readonly requests: ReadonlyArray<FaultyRequest>
}

const failure = (request: FaultyRequest, fault: Fault & { readonly reason: Reason }) =>
  new ObjectStoreError({
    operation: request.operation,
    key: request.key,
    reason: fault.reason,
    detail: "as the test asked",
    ...("retryAfterMillis" in fault && fault.retryAfterMillis !== undefined
      ? { retryAfterMillis: fault.retryAfterMillis }
      : {})
  })

/** Wraps a store. Each handle has its own rules and its own crash, so that several stand for several processes. */
export const make = (inner: ObjectStore["Service"]): FaultyHandles => {
  const rules: Array<(request: FaultyRequest) => Fault | undefined> = []
  const requests: Array<FaultyRequest> = []
  const counts: Record<Operation, number> = { get: 0, create: 0, replace: 0, list: 0, remove: 0 }
  let crashed = false

  const faultOf = (request: FaultyRequest): Fault | undefined => {
    for (const rule of rules) {
      const fault = rule(request)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  /** Its answer, a refusal too, comes to nobody once the handle has crashed. */
  const answered = <A>(effect: Effect.Effect<A, ObjectStoreError>): Effect.Effect<A, ObjectStoreError> =>
    Effect.flatMap(Effect.exit(effect), (exit) => crashed ? Effect.never : exit)

  const apply = <A>(effect: Effect.Effect<A, ObjectStoreError>): Effect.Effect<A, ObjectStoreError> =>
    Effect.suspend(() => crashed ? Effect.never : answered(effect))

  const run = <A>(
    operation: Operation,
    key: string,
    effect: Effect.Effect<A, ObjectStoreError>
  ): Effect.Effect<A, ObjectStoreError> =>
    Effect.suspend(() => {
      if (crashed) return Effect.never
      const request: FaultyRequest = { operation, key, nth: counts[operation]++ }
      requests.push(request)
      const fault = faultOf(request)
      const applied = apply(effect)
      if (fault === undefined) return applied
      switch (fault._tag) {
        case "Fail":
          return fault.applied === true
            ? Effect.andThen(Effect.exit(applied), Effect.fail(failure(request, fault)))
            : Effect.fail(failure(request, fault))
        case "HoldBefore":
          return Effect.andThen(Deferred.await(fault.gate), applied)
        case "HoldAfter":
          return answered(
            Effect.flatMap(Effect.exit(applied), (exit) => Effect.andThen(Deferred.await(fault.gate), exit))
          )
        case "Ghost":
          return Deferred.await(fault.gate).pipe(
            Effect.andThen(Effect.exit(effect)),
            Effect.forkDetach({ startImmediately: true }),
            Effect.andThen(Effect.fail(failure(request, fault)))
          )
        case "Silence":
          return fault.applied === true ? Effect.andThen(Effect.exit(applied), Effect.never) : Effect.never
      }
    })

  return {
    requests,
    rule: (rule) => {
      rules.push(rule)
      return () => {
        const at = rules.indexOf(rule)
        if (at >= 0) rules.splice(at, 1)
      }
    },
    crash: () => {
      crashed = true
    },
    store: ObjectStore.of({
      ...inner,
      get: (key, options) => run("get", key, inner.get(key, options)),
      create: (key, body, options) => run("create", key, Effect.suspend(() => inner.create(key, body, options))),
      replace: (key, body, tag, options) => run("replace", key, inner.replace(key, body, tag, options)),
      list: (request) => run("list", request.prefix, inner.list(request)),
      remove: (keys) => run("remove", keys[0] ?? "", inner.remove(keys))
    })
  }
}
