/** How the server gets its logs: `StoreLayer.ts` opens real ones, tests may open others. */
import type { WalOpenError } from "@effect-wal/core/WalError"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import type { WalService } from "@effect-wal/core/WalService"
import { Context } from "effect"
import type { Effect, Scope } from "effect"

/** What a stream is opened with. */
export interface StreamSetup {
  readonly options: WalOptions
  readonly store: "s3" | "directory" | "local"
}

/** Opens the logs of the server by the ids of their streams. */
export class LogOpener extends Context.Service<LogOpener, {
  /** Opens the log of a configured stream; it is closed with the scope. */
  readonly open: (streamId: string) => Effect.Effect<WalService, WalOpenError, Scope.Scope>
  /** For people to see beside what the log does; absent where an opener has nothing to tell. */
  readonly setup?: (streamId: string) => StreamSetup | undefined
}>()("@effect-wal/server/LogOpener") {}
