/** The sink of a log. */
import { Effect, Sink } from "effect"
import type { WalEnd } from "../WalError.ts"
import type { AppendRecord } from "../WalRecord.ts"
import type { Appended, WalService } from "../WalService.ts"

/** Appends a chunk a call, and waits for the last one; `check` fails where the log is over, for who appends nothing. */
export const makeSink = (append: WalService["append"], check: Effect.Effect<void, WalEnd>): WalService["sink"] =>
  Sink.unwrap(Effect.sync(() => {
    let newest: Appended | undefined
    return Sink.forEachArray((records: ReadonlyArray<AppendRecord>) =>
      Effect.map(append(records), (appended) => {
        newest = appended
      })
    ).pipe(Sink.mapEffect(() => Effect.suspend(() => Effect.as(newest?.durable ?? check, newest?.last ?? 0))))
  }))
