/** How the server gets its logs: `StoreLayer.ts` opens real ones, tests may open others. */
import type { WalOpenError } from "@effect-wal/core/WalError"
import type { WalService } from "@effect-wal/core/WalService"
import { Context } from "effect"
import type { Effect, Scope } from "effect"

export class LogOpener extends Context.Service<LogOpener, {
  /** Opens the log of a configured stream; it is closed with the scope. */
  readonly open: (streamId: string) => Effect.Effect<WalService, WalOpenError, Scope.Scope>
}>()("@effect-wal/server/LogOpener") {}
