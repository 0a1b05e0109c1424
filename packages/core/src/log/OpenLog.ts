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
import { AlreadyOpen, OpenTimeout } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import { producerLimits } from "./Settings.ts"

/** Tries of one read while opening; the time-out of the whole is the real bound. */
const openAttempts = 1_000

/** Claims the identity in this process until the scope ends. */
const claimIdentity = Effect.fnUntraced(function*(identity: string) {
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

/** Probes the store once a process; a store that one log has proven need not be proven by the next. */
const proveStore = Effect.fnUntraced(function*(options: WalOptions, prefix: string) {
  const store = yield* ObjectStore
  const registry = yield* ProcessRegistry
  if (options.conditionalWrites === "single_writer") {
    return yield* Effect.logWarning(
      `log ${options.streamId}: conditional_writes is single_writer: a second process with this identity loses data`
    )
  }
  if (registry.probed.has(store.id)) return
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
  const opening = Effect.gen(function*() {
    yield* proveStore(options, prefix)
    yield* logAdvice(prefix)
    return yield* takeOver({
      prefix,
      digest,
      backoff: options.retry,
      attempts: openAttempts,
      compression,
      maxSegmentBytes: options.maxSegmentBytes,
      producers: producerLimits(options),
      streamId: options.streamId,
      host: options.host,
      window: options.parallelPut.workers * options.parallelPut.pipelineDepth,
      onConflict,
      onForeign: (key) => stats.countForeign(key)
    })
  })
  const opened = yield* opening.pipe(
    Effect.provideService(ObjectStore, store),
    Effect.timeoutOrElse({
      duration: options.openTimeout,
      orElse: () =>
        Effect.fail(
          new OpenTimeout({
            log: `${plain.id} ${prefix}`,
            afterMillis: Duration.toMillis(options.openTimeout),
            last: stats.lastAnswer
          })
        )
    }),
    Effect.withSpan("wal.open", { attributes: { stream: options.streamId } })
  )
  if (opened.ended !== undefined) stats.takeovers++
  return {
    opened,
    prefix,
    store,
    digest,
    compression,
    stats,
    openMillis: Math.round((yield* monotonicNow) - startedAt)
  }
})
