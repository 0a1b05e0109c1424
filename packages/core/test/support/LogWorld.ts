/**
 * One log on a store in memory, with everything a test of the pipeline wants to hold in its hands: the raw objects, the
 * rules for requests, the scope. Time is the test clock's; nothing here waits for real time.
 */
import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import { Wal } from "@effect-wal/core/Wal"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { type MemoryHandles, MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { Deferred, Effect, Exit, Fiber, type LogLevel, References, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Compression, type CompressionService } from "../../src/codec/Compression.ts"
import { Digest } from "../../src/codec/Digest.ts"
import { manifestKey, parseSlotKey, slotKey } from "../../src/format/ObjectKey.ts"
import { readSegment } from "../../src/format/SegmentCodec.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { ProcessRegistry, ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import type { AppendRecord, LostRange, WalRecord } from "../../src/WalRecord.ts"
import type { Appended, WalService } from "../../src/WalService.ts"

export const prefix = "node/log/"
export const manifest = manifestKey(prefix)

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Records `r{from}` to `r{from + count - 1}`. */
export const records = (count: number, from = 1): ReadonlyArray<AppendRecord> =>
  Array.from({ length: count }, (_, index) => ({ payload: encode(`r${from + index}`) }))

/** A record of so many bytes. */
export const sized = (bytes: number, fill = 7): AppendRecord => ({ payload: new Uint8Array(bytes).fill(fill) })

/** `first`, `first` + 1, ... `last`. */
export const range = (first: number, last: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)

export type Options = Partial<WalOptionsInput>

/** Seals at once for who waits, writes no manifest by itself, deletes nothing. */
export const still: Options = {
  manifest: { maxSegments: 10_000, maxDelay: "1h" },
  cursor: { interval: "1h", maxEntries: 1_000_000 },
  retention: { policy: "keep" }
}

export interface TestLog {
  readonly wal: WalService
  readonly memory: MemoryHandles
  readonly faults: FaultyObjectStore.FaultyHandles
  /** Ends the scope of the log. */
  readonly end: Effect.Effect<void>
}

export interface LogParts {
  /** The store of a log that was there before; default: a fresh one. */
  readonly memory?: MemoryHandles
  readonly compression?: CompressionService
  readonly registry?: ProcessRegistryState
  /** What is logged; default nothing. */
  readonly logLevel?: LogLevel.LogLevel
  /** Told of every create before it is sent. */
  readonly onCreate?: (name: string, body: Uint8Array) => void
  /** Told of every get before it is sent; `header` when only the first bytes are asked for. */
  readonly onGet?: (name: string, header: boolean) => void
  /** How long each segment PUT takes. */
  readonly latencyMillis?: number
  /** Rules that hold from the first request on. */
  readonly rules?: ReadonlyArray<(request: FaultyObjectStore.FaultyRequest) => FaultyObjectStore.Fault | undefined>
}

/** Opens a log as a process of its own would. It stays open until its scope is ended. */
export const open = Effect.fnUntraced(function*(options: Options = {}, parts: LogParts = {}) {
  const memory = parts.memory ?? (yield* MemoryObjectStore.make())
  const faults = FaultyObjectStore.make(memory.store)
  for (const rule of parts.rules ?? []) faults.rule(rule)
  const registry = parts.registry ?? new ProcessRegistryState()
  registry.probed.add(faults.store.id)
  const { latencyMillis, onCreate, onGet } = parts
  const seen: ObjectStore["Service"] = {
    ...faults.store,
    get: (name, request) =>
      Effect.suspend(() => {
        onGet?.(name, request?.firstBytes !== undefined)
        return faults.store.get(name, request)
      }),
    create: (name, body, options) =>
      Effect.suspend(() => {
        onCreate?.(name, body)
        const put = faults.store.create(name, body, options)
        return latencyMillis !== undefined && isSegmentKey(name) ? Effect.delay(put, latencyMillis) : put
      })
  }
  const scope = yield* Scope.make()
  const segment: Options["segment"] = { linger: "0ms", ...options.segment }
  const wal = yield* Wal.make({ nodeId: "node", streamId: "log", ...options, segment }).pipe(
    Effect.provideService(Scope.Scope, scope),
    Effect.provideService(ObjectStore, seen),
    Effect.provideService(ProcessRegistry, registry),
    Effect.provideService(Digest, Effect.succeed(nodeDigest)),
    Effect.provideService(Compression, Effect.succeed(parts.compression ?? nodeCompression)),
    Effect.provideService(References.MinimumLogLevel, parts.logLevel ?? "None"),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  memory.clearRequests()
  return { wal, memory, faults, end: Scope.close(scope, Exit.void) } satisfies TestLog as TestLog
})

/** Opens the log again in another process; the first one is killed. */
export const reopen = (log: TestLog, options: Options = {}, parts: LogParts = {}) =>
  Effect.suspend(() => {
    log.faults.crash()
    return open(options, { ...parts, memory: log.memory })
  })

/** Lets all fibers run until they wait. */
export const settle: Effect.Effect<void> = TestClock.adjust("1 millis")

/** Appends and waits until all of it is durable; the store must answer by itself. */
export const store = Effect.fnUntraced(function*(wal: WalService, batch: ReadonlyArray<AppendRecord>) {
  const appended: Appended = yield* wal.append(batch)
  yield* appended.durable
  return appended
})

/** Writes segments of `each` records; `max_entries` of the log must be the same. */
export const storeSegments = (wal: WalService, segments: number, each: number) =>
  Effect.gen(function*() {
    const batch = 1_000
    for (let done = 0; done < segments * each; done += batch) {
      yield* store(wal, records(Math.min(batch, segments * each - done), done + 1))
    }
  })

/** Runs it while the clock goes on, so that pauses between tries pass. */
export const drive = <A, E, R>(effect: Effect.Effect<A, E, R>, step = 50): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    for (let count = 0; count < 4_000; count++) {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return yield* exit
      yield* TestClock.adjust(step)
    }
    yield* Fiber.interrupt(fiber)
    return yield* Effect.die(new Error("it did not finish"))
  })

/** Starts it in the background; ask with `isDone`, end with `Fiber.join`. */
export const start = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
export const isDone = (fiber: { readonly pollUnsafe: () => unknown }): boolean => fiber.pollUnsafe() !== undefined

/** All records of the log, or from `from` on. */
export const readAll = (wal: WalService, from?: number) =>
  Stream.runCollect(wal.read(from === undefined ? {} : { from }))

export const seqs = (read: Iterable<WalRecord | LostRange>): ReadonlyArray<number | string> =>
  [...read].map((one) => "_tag" in one ? `lost ${one.from}-${one.to}` : one.seq)

/** The first byte of each payload, as `sized` filled it. */
export const fills = (read: Iterable<WalRecord>): ReadonlyArray<number> => [...read].map((one) => one.payload[0] ?? -1)

export const texts = (read: Iterable<WalRecord>): ReadonlyArray<string> => [...read].map((one) => decode(one.payload))

export const key = (slot: number, epoch = 1): string => slotKey(prefix, epoch, slot)

/** Keys of all slots, in order. */
export const slotKeys = (memory: MemoryHandles): ReadonlyArray<string> =>
  [...memory.objects.keys()].filter((name) => parseSlotKey(prefix, name) !== undefined).sort()

/** The segment that is stored at a key. */
export const stored = (memory: MemoryHandles, at: string) =>
  Effect.orDie(
    readSegment(at, memory.objects.get(at)?.body ?? encode(""), {
      digest: nodeDigest,
      compression: nodeCompression,
      maxSegmentBytes: Number.MAX_SAFE_INTEGER
    })
  )

export const isSegmentKey = (name: string): boolean => parseSlotKey(prefix, name) !== undefined

/** Segment PUTs among the requests of a handle. */
export const puts = (log: TestLog): ReadonlyArray<string> =>
  log.faults.requests.filter((one) => one.operation === "create" && isSegmentKey(one.key)).map((one) => one.key)

/** A rule: segment PUTs wait for a gate, as long as there is one for them. */
export const holdPuts =
  (gateOf: (name: string) => Deferred.Deferred<void> | undefined) =>
  (request: FaultyObjectStore.FaultyRequest): FaultyObjectStore.Fault | undefined => {
    if (request.operation !== "create" || !isSegmentKey(request.key)) return undefined
    const gate = gateOf(request.key)
    return gate === undefined ? undefined : { _tag: "HoldBefore", gate }
  }

/** A rule: segment PUTs fail so, as long as `while` says. */
export const refusePuts =
  (reason: Reason, during: (name: string) => boolean = () => true, applied = false) =>
  (request: FaultyObjectStore.FaultyRequest): FaultyObjectStore.Fault | undefined =>
    request.operation === "create" && isSegmentKey(request.key) && during(request.key)
      ? { _tag: "Fail", reason, applied }
      : undefined

/** A gate for each segment key, closed until it is opened. */
export const makeGates = () => {
  const gates = new Map<string, Deferred.Deferred<void>>()
  const of = (name: string): Deferred.Deferred<void> => {
    const gate = gates.get(name) ?? Deferred.makeUnsafe<void>()
    gates.set(name, gate)
    return gate
  }
  return { of, open: (name: string) => Effect.andThen(Deferred.done(of(name), Exit.void), settle) }
}
