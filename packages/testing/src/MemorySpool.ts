/**
 * A spool in memory: what a log has spooled outlives the log, as on a disk, and fails on request.
 *
 * It forgets at once what may go; a spool on a disk keeps that until its whole file may go.
 */
import {
  Spool,
  type SpooledObject,
  SpoolError,
  type SpoolService,
  type SpoolSource
} from "@effect-wal/core/store/Spool"
import { Effect, Layer } from "effect"

/** How the spool is made; all have defaults. */
export interface MemorySpoolOptions {
  /** 32 hexadecimal digits; two spools must not have the same. Default: sixteen times `5b`. */
  readonly id?: string
  readonly path?: string
  readonly maxBytes?: number
  readonly afterMillis?: number
}

/** What one process has of a spool. */
export interface MemorySpoolHandle {
  readonly source: SpoolSource
  /** As `kill -9`: nothing of this process reaches the spool any more. */
  readonly crash: () => void
}

/** A spool in memory that outlives the processes of a test. */
export interface MemorySpool {
  /** Opens it for one more process; the one before must have ended. */
  readonly attach: () => MemorySpoolHandle
  /** What it holds, in order. */
  readonly held: () => ReadonlyArray<{ readonly epoch: number; readonly slot: number; readonly object: Uint8Array }>
  /** Each call to write; how many objects. */
  readonly writes: ReadonlyArray<number>
  /** From now on each write does so; `undefined`: they work again. */
  failing: SpoolError["reason"] | undefined
  /** The same for what is read of it. */
  failingReads: SpoolError["reason"] | undefined
  /** The log that was configured with it has another one now: it is only found by its path. */
  isLeft: boolean
  /** Changes what is held, past the checksum that a spool on a disk keeps with it. */
  readonly harm: (epoch: number, slot: number, object: Uint8Array | undefined) => void
}

const compare = (
  left: { readonly epoch: number; readonly slot: number },
  right: { readonly epoch: number; readonly slot: number }
): number => left.epoch - right.epoch || left.slot - right.slot

/** Makes one spool, for one log. */
export const make = (options: MemorySpoolOptions = {}): MemorySpool => {
  const { afterMillis = 2_000, id = "5b".repeat(16), maxBytes = 1_000_000_000, path = "/spool" } = options
  const writes: Array<number> = []
  let held: Array<SpooledObject> = []
  const failure = (reason: SpoolError["reason"], detail: string) =>
    Effect.fail(new SpoolError({ reason, path, detail }))
  const service: SpoolService = {
    id,
    path,
    maxBytes,
    afterMillis,
    usedBytes: () => held.reduce((sum, one) => sum + one.object.length, 0),
    slots: (from, limit) =>
      Effect.suspend(() => {
        if (spool.failingReads !== undefined) return failure(spool.failingReads, "injected")
        const found = held.filter((one) => compare(one, from) >= 0).slice(0, limit)
        return Effect.succeed(found.map(({ epoch, object, slot }) => ({ epoch, slot, sizeBytes: object.length })))
      }),
    read: (epoch, slot) =>
      Effect.suspend(() => {
        if (spool.failingReads !== undefined) return failure(spool.failingReads, "injected")
        const found = held.find((one) => one.epoch === epoch && one.slot === slot)
        return found === undefined
          ? failure("Damaged", `slot ${slot} is not there`)
          : Effect.succeed(found.object.slice())
      }),
    write: (objects) =>
      Effect.suspend(() => {
        if (spool.failing !== undefined) return failure(spool.failing, "injected")
        writes.push(objects.length)
        held.push(...objects.map((one) => ({ ...one, object: one.object.slice() })))
        held = held.filter((one, index) => !held.slice(index + 1).some((later) => compare(one, later) === 0)).sort(
          compare
        )
        return Effect.void
      }),
    dropThrough: (epoch, slot) =>
      Effect.sync(() => {
        held = held.filter((one) => compare(one, { epoch, slot }) > 0)
      })
  }
  const attach = (): MemorySpoolHandle => {
    let crashed = false
    const alive = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => crashed ? Effect.never : effect)
    const opened: SpoolService = {
      ...service,
      slots: (from, limit) => alive(service.slots(from, limit)),
      read: (epoch, slot) => alive(service.read(epoch, slot)),
      write: (objects) => alive(service.write(objects)),
      dropThrough: (epoch, slot) => alive(service.dropThrough(epoch, slot))
    }
    return {
      source: {
        path: spool.isLeft ? undefined : path,
        open: () => Effect.succeed(opened),
        openLeft: (left) => Effect.succeed(left === path ? opened : undefined)
      },
      crash: () => {
        crashed = true
      }
    }
  }
  const spool: MemorySpool = {
    attach,
    held: () => held,
    writes,
    failing: undefined,
    failingReads: undefined,
    isLeft: false,
    harm: (epoch, slot, object) => {
      held = held.flatMap((one) => {
        if (one.epoch !== epoch || one.slot !== slot) return [one]
        return object === undefined ? [] : [{ ...one, object }]
      })
    }
  }
  return spool
}

/** Gives it to the logs that are opened below, as one process. */
export const layer = (spool: MemorySpool): Layer.Layer<never> =>
  Layer.effect(Spool, Effect.sync(() => spool.attach().source))
