/**
 * One store in memory and several simulated processes on it: each has a handle of its own that can misbehave or be killed,
 * and a process registry of its own. Time is the test clock's.
 */
import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Spool } from "@effect-wal/core/store/Spool"
import { Wal } from "@effect-wal/core/Wal"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import type { MemoryHandles } from "@effect-wal/testing/MemoryObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import type { MemorySpool, MemorySpoolHandle } from "@effect-wal/testing/MemorySpool"
import { Deferred, type Duration, Effect, Exit, Fiber, References, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Compression } from "../../src/codec/Compression.ts"
import { Digest } from "../../src/codec/Digest.ts"
import { decodeManifest, encodeManifest, type Manifest } from "../../src/format/ManifestCodec.ts"
import { manifestKey, parseSlotKey, slotKey } from "../../src/format/ObjectKey.ts"
import { readHeader } from "../../src/format/SegmentCodec.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { ProcessRegistry, ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import type { WalService } from "../../src/WalService.ts"

export const prefix = "node/log/"

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Records `r{from}` to `r{from + count - 1}`. */
export const records = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => ({ payload: encode(`r${from + index}`) }))

/** What `records` holds, as text. */
const names = (count: number, from = 1): ReadonlyArray<string> =>
  records(count, from).map((record) => decode(record.payload))

const driven = 4_000

/** Runs an effect to its end while the clock goes on, so that pauses between tries pass. */
export const drive = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    for (let step = 0; step < driven; step++) {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return yield* exit
      yield* TestClock.adjust("50 millis")
    }
    yield* Fiber.interrupt(fiber)
    return yield* Effect.die(new Error("it did not finish"))
  })

export interface Process {
  readonly faults: FaultyObjectStore.FaultyHandles
  /** Opens the log; it stays open until the test closes it, or for ever, as that of a process that is killed. */
  readonly open: ReturnType<typeof opening>
  /** As `kill -9`: nothing of this process reaches the store any more. */
  readonly crash: () => void
}

export type Options = Partial<WalOptionsInput>

/** Small segments by count, no pauses before sealing, no manifest writes by themselves. */
const defaults: Options = {
  segment: { maxEntries: 5, linger: "0ms" },
  manifest: { maxSegments: 1_000, maxDelay: "1h" },
  cursor: { interval: "1h" },
  retention: { policy: "keep" },
  openTimeout: "1h",
  parallelPut: { workers: 1 }
}

const opening = (faults: FaultyObjectStore.FaultyHandles, host: string, base: Options, spool?: MemorySpoolHandle) => {
  const registry = new ProcessRegistryState()
  registry.probed.add(faults.store.id)
  return (options: Options = {}) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const input: WalOptionsInput = { nodeId: "node", streamId: "log", host, ...defaults, ...base, ...options }
      return yield* Wal.make(input).pipe(Effect.provideService(Scope.Scope, scope))
    }).pipe(
      Effect.provideService(ObjectStore, faults.store),
      Effect.provideService(ProcessRegistry, registry),
      Effect.provideService(Spool, spool?.source),
      Effect.provideService(Digest, Effect.succeed(nodeDigest)),
      Effect.provideService(Compression, Effect.succeed(nodeCompression)),
      Effect.provideService(References.MinimumLogLevel, "None")
    )
}

export class World {
  readonly memory: MemoryHandles
  private readonly options: Options

  constructor(memory: MemoryHandles, options: Options) {
    this.memory = memory
    this.options = options
  }

  /** One more process. */
  process(host: string, options: Options = {}, spool?: Pick<MemorySpool, "attach">): Process {
    const faults = FaultyObjectStore.make(this.memory.store)
    const disk = spool?.attach()
    const crash = () => {
      faults.crash()
      disk?.crash()
    }
    return { faults, open: opening(faults, host, { ...this.options, ...options }, disk), crash }
  }

  key(epoch: number, slot: number): string {
    return slotKey(prefix, epoch, slot)
  }

  /** Keys of all slots, in order. */
  get slots(): ReadonlyArray<string> {
    return [...this.memory.objects.keys()]
      .filter((key) => parseSlotKey(prefix, key) !== undefined)
      .map((key) => key.slice(`${prefix}segments/`.length))
      .sort()
  }

  get manifestTag(): string | undefined {
    return this.memory.objects.get(manifestKey(prefix))?.tag
  }

  get manifest(): Effect.Effect<Manifest> {
    return Effect.suspend(() =>
      Effect.orDie(
        decodeManifest(manifestKey(prefix), this.memory.objects.get(manifestKey(prefix))?.body ?? encode(""))
      )
    )
  }

  /** Changes the stored manifest behind everybody's back. */
  editManifest(change: (manifest: Manifest) => Manifest): Effect.Effect<void> {
    return Effect.map(this.manifest, (manifest) => {
      this.memory.put(manifestKey(prefix), encodeManifest(change(manifest)))
    })
  }

  header(epoch: number, slot: number) {
    const key = this.key(epoch, slot)
    const body = this.memory.objects.get(key)?.body ?? encode("")
    return Effect.map(Effect.orDie(readHeader(key, body, nodeDigest)), (decoded) => decoded.header)
  }

  /** Everything that is stored: key, tag and bytes. */
  get bucket(): ReadonlyArray<readonly [string, string, string]> {
    return [...this.memory.objects].map(([key, object]) => [key, object.tag, decode(object.body)] as const)
      .sort(([left], [right]) => left < right ? -1 : 1)
  }

  /** Another world that starts with the same objects. */
  get copy(): Effect.Effect<World> {
    return Effect.map(MemoryObjectStore.make(), (memory) => {
      for (const [key, object] of this.memory.objects) memory.put(key, object.body)
      return new World(memory, this.options)
    })
  }
}

export const makeWorld = (options: Options = {}, store: { readonly pageSize?: number } = {}): Effect.Effect<World> =>
  Effect.map(MemoryObjectStore.make(store), (memory) => new World(memory, options))

/** Appends and waits until all of it is durable. */
export const store = (wal: WalService, batch: ReturnType<typeof records>) =>
  drive(Effect.flatMap(wal.append(batch), (appended) => appended.durable))

/** All records from the start of the log, as `seq:text`. */
export const readAll = (wal: WalService) =>
  drive(Stream.runCollect(wal.read())).pipe(
    Effect.map((read) => read.map((record) => `${record.seq}:${decode(record.payload)}`))
  )

/** `r1` to `r{count}` under their own numbers. */
export const dense = (count: number): ReadonlyArray<string> => names(count).map((name, index) => `${index + 1}:${name}`)

/** A gate that is closed. */
export const gate = Deferred.make<void>()
export const openGate = (closed: Deferred.Deferred<void>) => Deferred.done(closed, Exit.void)

/** No create of a key with this ending is ever applied or answered. */
export const holdCreates = (process: Process, ending: string) =>
  Effect.map(
    gate,
    (never) =>
      process.faults.rule(({ key, operation }) =>
        operation === "create" && key.endsWith(ending) ? { _tag: "HoldBefore", gate: never } : undefined
      )
  )

/** A process with a log of `count` durable records that is killed. */
export const killedWriter = Effect.fnUntraced(function*(world: World, count: number, host = "first") {
  const process = world.process(host)
  const wal = yield* drive(process.open())
  yield* store(wal, records(count))
  process.crash()
})

/**
 * A process with 5 durable records, and 15 more in three slots above them whose first never reaches the store: the other two
 * are stored, and nobody is told that they are durable.
 */
export const writerWithOrphans = Effect.fnUntraced(function*(world: World) {
  const process = world.process("a")
  const wal = yield* drive(process.open({ parallelPut: { workers: 4 } }))
  yield* store(wal, records(5))
  yield* holdCreates(process, "1.seg")
  yield* wal.append(records(15, 6))
  yield* advanceUntil(() => world.slots.length === 3)
  return process
})

/** Answers a fault for request number `nth` of all, counted from 0, and counts. */
export const nthRequest = (
  process: Process,
  nth: number,
  fault: FaultyObjectStore.Fault,
  which: (request: FaultyObjectStore.FaultyRequest) => boolean = () => true
) => {
  let count = 0
  return process.faults.rule((request) => which(request) && count++ === nth ? fault : undefined)
}

/**
 * Opens a log in a process that is killed at its request number `nth`, counted from 0: that one is applied or not, its
 * answer is lost either way, and nothing after it reaches the store.
 */
export const killWhileOpening = Effect.fnUntraced(function*(process: Process, nth: number, applied: boolean) {
  let count = 0
  process.faults.rule(() => {
    const at = count++
    return at < nth ? undefined : { _tag: "Silence", applied: applied && at === nth }
  })
  const opened = yield* Effect.forkChild(Effect.exit(process.open()), { startImmediately: true })
  yield* advanceUntil(() => count > nth)
  process.crash()
  yield* Fiber.interrupt(opened)
})

/** Moves the clock on, in small steps, until something has happened. */
export const advanceUntil = (happened: () => boolean, step: Duration.Input = "10 millis"): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let count = 0; count < driven; count++) {
      if (happened()) return
      yield* TestClock.adjust(step)
    }
    return yield* Effect.die(new Error("it did not happen"))
  })

/** What an opening asks of the store when nothing goes wrong. */
export const requestsOfOpening = Effect.fnUntraced(function*(world: World) {
  const copy = yield* world.copy
  const process = copy.process("counter")
  yield* drive(process.open())
  return process.faults.requests
})
