/** A real log on a store in memory whose answers the test decides, with an ear on what was accepted. */
import { resolveOptions, type WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Spool, type SpoolSource } from "@effect-wal/core/store/Spool"
import { makeResolved } from "@effect-wal/core/Wal"
import type { WalOpenError } from "@effect-wal/core/WalError"
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import type { WalService } from "@effect-wal/core/WalService"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { type MemoryHandles, MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { Deferred, Effect } from "effect"
import type { Scope } from "effect"

export type TestLogOptions = Omit<WalOptionsInput, "nodeId" | "streamId">

/** A log whose buffer three records of 1,000 bytes fill. */
export const smallBuffer: TestLogOptions = {
  segment: { maxBytes: 1_024 },
  maxRecordBytes: 1_024,
  maxBufferedBytes: 3_300
}

/** Three records of 1,000 bytes, as NDJSON. */
export const threeLines = `"${"a".repeat(998)}"\n`.repeat(3)

export interface TestLog {
  /** Opens the log, as the server's opener does. */
  readonly open: Effect.Effect<WalService, WalOpenError, Scope.Scope>
  /** Every record that was accepted, also those that are not durable. */
  readonly records: Array<AppendRecord>
  /** Segments wait in front of the store, until `release`. */
  readonly hold: Effect.Effect<void>
  readonly release: Effect.Effect<void>
  readonly faults: FaultyObjectStore.FaultyHandles
  /** The objects as they are stored. */
  readonly memory: MemoryHandles
  /** Happens before each status that the server asks for. */
  readonly onStatus: (event: Effect.Effect<unknown>) => Effect.Effect<void>
  /** From now on a segment that is stored kills the worker that stores it. */
  readonly kill: Effect.Effect<void>
  /** Another process takes the log over. */
  readonly takeOver: Effect.Effect<void, WalOpenError, Scope.Scope>
}

const isSegment = (key: string): boolean => key.includes("/segments/")

const openOn = Effect.fnUntraced(function*(
  store: ObjectStore["Service"],
  options: WalOptionsInput,
  spool?: SpoolSource
) {
  const registry = new ProcessRegistryState()
  registry.probed.add(store.id)
  return yield* Effect.flatMap(resolveOptions(options), makeResolved).pipe(
    Effect.provideService(ObjectStore, store),
    Effect.provideService(Spool, spool),
    Effect.provideService(ProcessRegistry, registry)
  )
})

export const makeTestLog = Effect.fnUntraced(function*(streamId: string, given: TestLogOptions, spool?: SpoolSource) {
  const memory = yield* MemoryObjectStore.make()
  const faults = FaultyObjectStore.make(memory.store)
  const records: Array<AppendRecord> = []
  const options: WalOptionsInput = {
    nodeId: "node-0",
    streamId,
    ...given,
    segment: { linger: "0ms", ...given.segment }
  }
  let gate = Deferred.makeUnsafe<void>()
  let lift = () => {}
  let deadly = false
  let beforeStatus: Effect.Effect<unknown> = Effect.void
  const store = ObjectStore.of({
    ...faults.store,
    create: (key, body, write) =>
      deadly && isSegment(key) ? Effect.die(new Error("boom")) : faults.store.create(key, body, write)
  })
  const heard = (wal: WalService): WalService => ({
    ...wal,
    status: Effect.suspend(() => Effect.andThen(beforeStatus, wal.status)),
    appendNow: (batch, given) =>
      Effect.tap(wal.appendNow(batch, given), (appended) =>
        Effect.sync(() => {
          if (appended.isRepeat === true) return
          for (const record of batch) records.push({ ...record, payload: new Uint8Array(record.payload) })
        }))
  })
  const log: TestLog = {
    open: Effect.map(openOn(store, options, spool), heard),
    records,
    hold: Effect.sync(() => {
      gate = Deferred.makeUnsafe<void>()
      const holding = gate
      lift = faults.rule((request) =>
        request.operation === "create" && isSegment(request.key) ? { _tag: "HoldBefore", gate: holding } : undefined
      )
    }),
    release: Effect.suspend(() => {
      lift()
      return Deferred.succeed(gate, undefined)
    }),
    faults,
    memory,
    onStatus: (event) =>
      Effect.sync(() => {
        beforeStatus = event
      }),
    kill: Effect.sync(() => {
      deadly = true
    }),
    takeOver: Effect.asVoid(openOn(memory.store, { ...options, host: "pod-2" }))
  }
  return log
})
