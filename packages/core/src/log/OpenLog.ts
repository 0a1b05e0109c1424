/**
 * Opening a log for writing: identity, store probe, take-over, within `open_timeout`.
 */
import { Duration, Effect } from "effect"
import { Compression } from "../codec/Compression.ts"
import { Digest } from "../codec/Digest.ts"
import { probeStore } from "../epoch/StoreProbe.ts"
import { takeOver } from "../epoch/Takeover.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import { identityProblem, logPrefix } from "../LogId.ts"
import { countingStore, LogStats } from "../observe/LogStats.ts"
import { ProcessRegistry } from "../ProcessRegistry.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { Spool } from "../store/Spool.ts"
import { AlreadyOpen, OpenTimeout } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import { type OpenedSpools, openSpools } from "./OpenSpools.ts"
import { producerLimits } from "./Settings.ts"
import type { SpoolContext, StepLimit } from "./SpoolRecovery.ts"

/** Tries of one read while opening; the time-out of the whole is the real bound. */
const openAttempts = 1_000

/** Claims the identity in this process until the scope ends. */
export const claimIdentity = Effect.fnUntraced(function*(identity: string) {
  const registry = yield* ProcessRegistry
  yield* Effect.acquireRelease(
    Effect.suspend(() => {
      if (registry.open.has(identity)) return Effect.fail(new AlreadyOpen({ log: identity }))
      registry.open.add(identity)
      return Effect.void
    }),
    () => Effect.sync(() => registry.open.delete(identity))
  )
})

/** Probes the store once a process, where its answers are not our own; what one log has proven holds for the next. */
const proveStore = Effect.fnUntraced(function*(options: WalOptions, prefix: string) {
  const store = yield* ObjectStore
  const registry = yield* ProcessRegistry
  if (options.conditionalWrites === "single_writer") {
    return yield* Effect.logWarning(
      `log ${options.streamId}: conditional_writes is single_writer: a second process with this identity loses data`
    )
  }
  if (store.proven === true || registry.probed.has(store.id)) return
  yield* probeStore({ prefix, backoff: options.retry })
  registry.probed.add(store.id)
})

/** Tells what the store says about its set-up; what cannot be read is no reason not to open. */
const logAdvice = Effect.fnUntraced(function*(prefix: string) {
  const store = yield* ObjectStore
  const advice = yield* store.advice(prefix).pipe(
    Effect.catch((error) => Effect.as(Effect.logDebug(`the store's set-up could not be read: ${error.message}`), []))
  )
  yield* Effect.forEach(advice, (line) => Effect.logWarning(line), { discard: true })
})

const noSpools: OpenedSpools = { own: undefined, left: [], emptied: [] }

/** Limits a part of opening to `open_timeout`. */
const limitTo = (options: WalOptions, log: string, lastAnswer: () => string): StepLimit => (step) =>
  Effect.timeoutOrElse(step, {
    duration: options.openTimeout,
    orElse: () => {
      const afterMillis = Duration.toMillis(options.openTimeout)
      return Effect.fail(new OpenTimeout({ log, afterMillis, last: lastAnswer() }))
    }
  })

/** Everything that opening found out. */
export const openLog = Effect.fnUntraced(function*(options: WalOptions) {
  const problem = identityProblem(options)
  if (problem !== undefined) return yield* problem
  const prefix = logPrefix(options)
  const plain = yield* ObjectStore
  const digest = yield* yield* Digest
  const compression = yield* yield* Compression
  yield* claimIdentity(`${plain.id} ${prefix}`)
  const stats = new LogStats()
  const store = countingStore(plain, stats)
  const startedAt = yield* monotonicNow
  const onConflict = () =>
    Effect.sync(() => {
      stats.manifestConflicts++
    })
  const context: SpoolContext = {
    prefix,
    digest,
    compression,
    backoff: options.retry,
    attempts: openAttempts,
    maxSegmentBytes: options.maxSegmentBytes,
    onForeign: (key) => stats.countForeign(key)
  }
  const limit = limitTo(options, `${plain.id} ${prefix}`, () => stats.lastAnswer)
  const prove = proveStore(options, prefix)
  // Told meanwhile: no step of opening depends on it.
  const telling = <A, E, R>(step: Effect.Effect<A, E, R>) =>
    Effect.map(Effect.all([step, logAdvice(prefix)], { concurrency: "unbounded" }), ([answer]) => answer)
  const take = ({ emptied, own }: OpenedSpools) =>
    takeOver({
      ...context,
      producers: producerLimits(options),
      ...(own === undefined ? {} : { spool: { id: own.id, host: options.host, path: own.path } }),
      emptiedSpools: emptied,
      streamId: options.streamId,
      host: options.host,
      window: options.parallelPut.workers * options.parallelPut.pipelineDepth,
      onConflict
    })
  const source = yield* Spool
  const opening = Effect.gen(function*() {
    if (source === undefined) {
      return { opened: yield* limit(telling(Effect.andThen(prove, take(noSpools)))), ...noSpools }
    }
    yield* limit(telling(prove))
    const spools = yield* openSpools(source, options, context, limit)
    return { opened: yield* limit(take(spools)), ...spools }
  })
  const { left, opened, own } = yield* opening.pipe(
    Effect.provideService(ObjectStore, store),
    Effect.withSpan("wal.open", { attributes: { stream: options.streamId } })
  )
  if (opened.ended !== undefined) stats.takeovers++
  return {
    opened,
    context,
    /** The log's spool, and those that an earlier configuration has left. */
    spool: own,
    leftSpools: left,
    prefix,
    store,
    digest,
    compression,
    stats,
    openMillis: Math.round((yield* monotonicNow) - startedAt)
  }
})
