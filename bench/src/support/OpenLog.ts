/** A log on a given store, as a program has it, for as long as a benchmark works with it. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal, type WalMakeOptions } from "@effect-wal/core/Wal"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, References } from "effect"

/** What a log needs but its store: whatever its options say of ids is added. */
export type LogOptions = Omit<WalMakeOptions, "nodeId" | "streamId">

/** Opens the log for the life of the scope. Nothing is logged. */
export const openLog = (store: ObjectStore["Service"], options: LogOptions) =>
  Wal.make({ nodeId: "node", streamId: "log", ...options }).pipe(
    Effect.provideService(ObjectStore, store),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** Opens the log, uses it, closes it. Nothing is logged. */
export const withLog = <A>(
  store: ObjectStore["Service"],
  options: LogOptions,
  use: (wal: WalService) => Effect.Effect<A, unknown>
): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(openLog(store, options), use)).pipe(
      Effect.provideService(References.MinimumLogLevel, "None")
    )
  )
