/** A log on this machine's disk, as a program has it. */
import * as LocalLog from "@effect-wal/core/node/LocalLog"
import type { WalLocalOptions } from "@effect-wal/core/Wal"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, References } from "effect"

/** What a local log may be told: its ids and its directory are added. */
export type LocalOptions = Omit<WalLocalOptions, "nodeId" | "path" | "streamId">

/** Opens the log in that directory for the life of the scope. Nothing is logged. */
export const openLocalLog = (path: string, options: LocalOptions = {}) =>
  LocalLog.make({ nodeId: "node", streamId: "log", path, ...options }).pipe(
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** Opens the log, uses it, closes it. Nothing is logged. */
export const withLocalLog = <A>(path: string, use: (wal: WalService) => Promise<A>): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(openLocalLog(path), (wal) => Effect.promise(() => use(wal)))).pipe(
      Effect.provideService(References.MinimumLogLevel, "None")
    )
  )

/** Drops everything that is durable: a long run must not fill the disk. */
export const emptyLog = Effect.fnUntraced(function*(wal: WalService) {
  yield* wal.trim((yield* wal.status).durable)
})
