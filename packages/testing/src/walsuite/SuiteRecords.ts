/** Records of the log suite, and short forms for writing and reading them. */
import { slotKey } from "@effect-wal/core/format/ObjectKey"
import type { Appended, WalService } from "@effect-wal/core/Wal"
import type { AppendRecord, LostRange, WalRecord } from "@effect-wal/core/WalRecord"
import { isLostRange } from "@effect-wal/core/WalRecord"
import { assert } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import type { FaultyRequest } from "../FaultyObjectStore.ts"
import type { WalPlace } from "./SuiteBackend.ts"
import type { Process } from "./SuiteProcess.ts"
import { logPrefixAt } from "./SuiteProcess.ts"
import { drive } from "./SuiteTime.ts"

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** `first`, `first` + 1, ... `last`. */
export const range = (first: number, last: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)

/** Records `r{from}` to `r{from + count - 1}`. */
export const records = (count: number, from = 1): ReadonlyArray<AppendRecord> =>
  range(from, from + count - 1).map((n) => ({ payload: encode(`r${n}`) }))

/** A record of so many bytes. */
export const sized = (bytes: number, fill = 7): AppendRecord => ({ payload: new Uint8Array(bytes).fill(fill) })

/** Records `from` to `to` as `readAll` shows them, where record n has number n. */
export const dense = (to: number, from = 1): ReadonlyArray<string> => range(from, to).map((n) => `${n}:r${n}`)

/** Appends and waits until all of it is durable. */
export const store = (wal: WalService, batch: ReadonlyArray<AppendRecord>) =>
  drive(Effect.gen(function*() {
    const appended: Appended = yield* wal.append(batch)
    yield* appended.durable
    return appended
  }))

/** All records from the oldest, or from `from`, on, as `number:text`. */
export const readAll = (wal: WalService, from?: number) =>
  Effect.map(drive(Stream.runCollect(wal.read(from === undefined ? {} : { from }))), lines)

/** Records as `number:text`. */
export const lines = (read: Iterable<WalRecord>): ReadonlyArray<string> =>
  [...read].map((record) => `${record.seq}:${decode(record.payload)}`)

/** Numbers, and lost ranges in words. */
export const seqs = (read: Iterable<WalRecord | LostRange>): ReadonlyArray<number | string> =>
  [...read].map((one) => isLostRange(one) ? `lost ${one.from}-${one.to}` : one.seq)

/** What a replay delivers up to the durable end, and what it fails with. */
export const replayed = (wal: WalService, cursor = "default") =>
  Effect.gen(function*() {
    const before: Array<number> = []
    const exit = yield* drive(Effect.result(
      Stream.runForEach(wal.replay({ cursor, until: "durable-end" }), (record) =>
        Effect.sync(() => {
          before.push(record.seq)
        }))
    ))
    const read: ReadonlyArray<number> = before
    return { before: read, error: exit._tag === "Failure" ? exit.failure : undefined }
  })

/** What a replay delivers that goes on over damage. */
export const skipping = (wal: WalService, cursor = "default") =>
  Effect.map(drive(Stream.runCollect(wal.replay({ cursor, until: "durable-end", onDamage: "skip" }))), seqs)

/** The key of a slot of the log at a place; most tests look at the first epoch. */
export const keyAt = (place: WalPlace, slot: number, epoch = 1): string => slotKey(logPrefixAt(place), epoch, slot)

/** Whether the key is one of a segment, or an end marker. */
export const isSlot = (key: string): boolean => key.endsWith(".seg")

/** Whether a request writes a segment. */
export const isPut = (request: FaultyRequest): boolean => request.operation === "create" && isSlot(request.key)

/** Whether something is stored at a key. */
export const isStored = (process: Process, key: string): Effect.Effect<boolean> =>
  Effect.map(Effect.exit(process.store.get(key, { firstBytes: 1 })), Exit.isSuccess)

/** What the effect fails with; dies when it succeeds. */
export const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, never, R> =>
  Effect.matchEffect(drive(effect), {
    onFailure: (error) => Effect.succeed(error),
    onSuccess: () => Effect.die(new Error("it succeeded"))
  })

/** Asserts what an error says; its other fields do not matter. */
export const assertFailure = (error: object | undefined, fields: object, message?: string): void =>
  assert.deepInclude(error ?? {}, fields, message)
