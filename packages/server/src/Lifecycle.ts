/**
 * Where the process stands between its start and its end.
 *
 * `serving` → `leaving` (told to stop: not ready, but still taking requests while load balancers notice) → `draining`
 * (appends are refused, live readers end) . It never goes back.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import { RequestProblem } from "./RequestProblem.ts"

export type Phase = "serving" | "leaving" | "draining"

export class Lifecycle extends Context.Service<Lifecycle, {
  /** The phase now; plain, because every request asks. */
  readonly phase: () => Phase
  /** From `serving` to `leaving`. */
  readonly leave: Effect.Effect<void>
  /** To `draining`. */
  readonly drain: Effect.Effect<void>
  /** Completes when `draining` begins. */
  readonly draining: Effect.Effect<void>
  /** Why nothing is appended in the phase `draining`; `undefined` before. */
  readonly refusal: () => RequestProblem | undefined
}>()("@effect-wal/server/Lifecycle") {
  static readonly layer = Layer.sync(Lifecycle, () => {
    let phase: Phase = "serving"
    const begun = Deferred.makeUnsafe<void>()
    return Lifecycle.of({
      phase: () => phase,
      leave: Effect.sync(() => {
        if (phase === "serving") phase = "leaving"
      }),
      drain: Effect.suspend(() => {
        phase = "draining"
        return Deferred.succeed(begun, undefined)
      }),
      draining: Deferred.await(begun),
      refusal: () =>
        phase === "draining"
          ? new RequestProblem({ code: "draining", message: "the server is shutting down; nothing was appended" })
          : undefined
    })
  })
}
