/**
 * The streams of this server and how each of them is doing.
 *
 * Owns: opening every configured stream, in the background and again with back-off where the error may pass; the state
 * of each; closing all of them in time. Does not own: what a request does with a log, and when the process ends.
 *
 * Invariants: one stream's failure never touches another; an error that does not pass (fenced, damaged, wrong store)
 * stays as it is until a person acts.
 */
import { errorTable } from "@effect-wal/core/ErrorTable"
import { WalFailed, type WalOpenError } from "@effect-wal/core/WalError"
import type { CloseReport, WalService } from "@effect-wal/core/WalService"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Random, Scope } from "effect"
import type { Duration } from "effect"
import { LogOpener } from "./LogOpener.ts"
import { LogStream } from "./observe/LogStream.ts"
import { RequestProblem } from "./RequestProblem.ts"
import { Settings } from "./Settings.ts"

/** Where one stream stands. */
export type StreamState =
  /** Not open yet; `last` is the error of the last try, where there was one. */
  | { readonly _tag: "Opening"; readonly last?: WalOpenError }
  | { readonly _tag: "Open"; readonly log: WalService }
  /** Will not be opened again by itself. */
  | { readonly _tag: "Refused"; readonly error: WalOpenError | WalFailed }

export interface StreamEntry {
  readonly id: string
  readonly state: StreamState
}

/** When a try to open is called slow: an operator who has mistyped an address looks at the log long before it gives up. */
const slowOpeningMillis = 5_000

/** How long the end of the scope waits for openings to stop; whoever closes all has waited longer already. */
const stopOpeningMillis = 100

/**
 * First and largest pause between two tries to open a stream. Trying a lock costs nothing, and its holder, in a rolling
 * restart the server before this one, is gone within seconds.
 */
const openBackOff = { firstMillis: 500, largestMillis: 30_000, largestLockedMillis: 2_000 }

interface MutableEntry {
  readonly id: string
  state: StreamState
}

/** What is known of a log that did not close in time. */
const overdueReport = Effect.fnUntraced(function*(log: WalService) {
  const status = yield* log.status
  const report: CloseReport = {
    streamId: status.streamId,
    durable: status.durable,
    lost: status.lastAccepted > status.spooled ? { from: status.spooled + 1, to: status.lastAccepted } : null,
    spooled: status.spooled > status.durable ? { from: status.durable + 1, to: status.spooled } : null,
    manifestWritten: false
  }
  return report
})

/** Opens the stream of `entry`, again and again while that can help, and answers the log, or nothing. */
const openWithRetry = Effect.fnUntraced(function*(entry: MutableEntry, scope: Scope.Scope) {
  const opener = yield* LogOpener
  let pauseMillis = openBackOff.firstMillis
  for (;;) {
    const attempt = yield* Scope.fork(scope)
    const slow = Effect.logWarning(
      `stream ${entry.id} is still being opened after ${slowOpeningMillis / 1000}s: is its store there and reachable?`
    )
    const watcher = yield* Effect.forkChild(Effect.delay(slow, slowOpeningMillis))
    const result = yield* Effect.exit(Scope.provide(opener.open(entry.id), attempt))
    yield* Fiber.interrupt(watcher)
    if (Exit.isSuccess(result)) {
      entry.state = { _tag: "Open", log: result.value }
      return result.value
    }
    yield* Scope.close(attempt, result)
    const failure = result.cause.reasons.find(Cause.isFailReason)
    if (failure === undefined) {
      if (Cause.hasInterruptsOnly(result.cause)) return yield* Effect.interrupt
      entry.state = { _tag: "Refused", error: new WalFailed({ streamId: entry.id, cause: Cause.pretty(result.cause) }) }
      yield* Effect.logError(`opening stream ${entry.id} died of a defect`, result.cause)
      return undefined
    }
    if (!errorTable[failure.error._tag].retryable) {
      entry.state = { _tag: "Refused", error: failure.error }
      yield* Effect.logError(`stream ${entry.id} cannot be opened: ${failure.error.message}`)
      return undefined
    }
    entry.state = { _tag: "Opening", last: failure.error }
    yield* Effect.logWarning(`stream ${entry.id} is not open yet: ${failure.error.message}`)
    yield* Effect.sleep(pauseMillis * (yield* Random.nextBetween(0.5, 1)))
    const isLocked = failure.error._tag === "DirectoryLocked"
    pauseMillis = Math.min(pauseMillis * 2, isLocked ? openBackOff.largestLockedMillis : openBackOff.largestMillis)
  }
})

export class Streams extends Context.Service<Streams, {
  /** All configured streams, in the order of the configuration. */
  readonly entries: () => ReadonlyArray<StreamEntry>
  /** One stream; fails `stream_not_found`. */
  readonly entry: (id: string) => Effect.Effect<StreamEntry, RequestProblem>
  /** The log of a stream, where there is one and it was opened. */
  readonly opened: (id: string) => WalService | undefined
  /** The log of a stream; fails `stream_not_found`, `stream_opening`, or with the error that keeps it from opening. */
  readonly log: (id: string) => Effect.Effect<WalService, RequestProblem | WalOpenError | WalFailed>
  /** Completes when a log has died of a defect. */
  readonly died: Effect.Effect<WalFailed>
  /** Closes every open log, all at once, and stops opening the others. Reports of logs that are not closed by then say so. */
  readonly closeAll: (within: Duration.Duration) => Effect.Effect<ReadonlyArray<CloseReport>>
}>()("@effect-wal/server/Streams") {
  static readonly layer = Layer.effect(
    Streams,
    Effect.gen(function*() {
      const settings = yield* Settings
      const scope = yield* Effect.scope
      const died = yield* Deferred.make<WalFailed>()
      const byId = new Map<string, MutableEntry>(
        settings.streams.map((id) => [id, { id, state: { _tag: "Opening" } }])
      )
      const watch = Effect.fnUntraced(function*(entry: MutableEntry) {
        const log = yield* openWithRetry(entry, scope)
        if (log === undefined) {
          if (entry.state._tag === "Refused" && entry.state.error._tag === "WalFailed") {
            yield* Deferred.succeed(died, entry.state.error)
          }
          return
        }
        const end = yield* log.ended
        if (end._tag === "WalClosed") return
        yield* Effect.logError(`stream ${entry.id} has stopped: ${end.message}`)
        if (end._tag === "WalFailed") yield* Deferred.succeed(died, end)
      })
      // Not children of the scope: what an opening still has to clean up at a store that is down must not hold it up.
      const watchers = yield* Effect.forEach(
        [...byId.values()],
        (entry) => Effect.forkDetach(Effect.provideService(watch(entry), LogStream, entry.id))
      )
      const stopOpening = (within: Duration.Input) =>
        Effect.asVoid(Effect.timeoutOption(Fiber.interruptAll(watchers), within))
      yield* Effect.addFinalizer(() => stopOpening(stopOpeningMillis))

      const entry = (id: string) =>
        Effect.suspend(() => {
          const found = byId.get(id)
          return found === undefined
            ? Effect.fail(
              new RequestProblem({ code: "stream_not_found", message: `no stream ${JSON.stringify(id)} is configured` })
            )
            : Effect.succeed(found)
        })
      const log = (id: string) =>
        Effect.suspend((): Effect.Effect<WalService, RequestProblem | WalOpenError | WalFailed> => {
          const found = byId.get(id)
          if (found === undefined) return Effect.andThen(entry(id), Effect.never)
          if (found.state._tag === "Open") return Effect.succeed(found.state.log)
          if (found.state._tag === "Refused") return Effect.fail(found.state.error)
          return Effect.fail(
            found.state.last ??
              new RequestProblem({ code: "stream_opening", message: `stream ${id} is being opened; try again` })
          )
        })
      const closeAll = Effect.fnUntraced(function*(within: Duration.Duration) {
        const open = [...byId.values()].flatMap(({ state }) => state._tag === "Open" ? [state.log] : [])
        const closing = Effect.forEach(
          open,
          (log) => Effect.timeoutOrElse(log.close, { duration: within, orElse: () => overdueReport(log) }),
          { concurrency: "unbounded" }
        )
        if (open.length === byId.size) return yield* closing
        const [reports] = yield* Effect.all([closing, stopOpening(within)], { concurrency: "unbounded" })
        return reports
      })
      const opened = (id: string) => {
        const state = byId.get(id)?.state
        return state?._tag === "Open" ? state.log : undefined
      }
      return Streams.of({ entries: () => [...byId.values()], entry, opened, log, died: Deferred.await(died), closeAll })
    })
  )
}
