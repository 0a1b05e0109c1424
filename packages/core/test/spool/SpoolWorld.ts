/** What the tests of the spool share: processes that lose their store, spool, and are killed. */
import type * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { Effect } from "effect"
import type { WalService } from "../../src/WalService.ts"
import { decode, drive, type Process, readAll, records, store, type World } from "../scenarios/World.ts"

/** The store takes nothing of this process any more. */
export const down = (process: Process) => process.faults.rule(() => ({ _tag: "Fail", reason: "Unavailable" }))

/** Appends and waits until all of it is in the spool. */
export const spool = (wal: WalService, batch: ReturnType<typeof records>) =>
  drive(Effect.flatMap(wal.append(batch), (appended) => appended.spooled))

/** A process that has stored `stored` records, spooled the next `spooled`, and is killed. */
export const killedSpooler = Effect.fnUntraced(
  function*(world: World, disk: MemorySpool.MemorySpool, stored: number, spooled: number) {
    const process = world.process("first", {}, disk)
    const wal = yield* drive(process.open())
    yield* store(wal, records(stored))
    down(process)
    yield* spool(wal, records(spooled, stored + 1))
    process.crash()
  }
)

/** Of the segments of one epoch only the first so many are stored; answers how many PUTs there were. */
export const limit = (process: Process, epoch: number, stored: number) => {
  let count = 0
  process.faults.rule(({ key, operation }) =>
    operation === "create" && key.includes(`/${String(epoch).padStart(10, "0")}/`) && key.endsWith(".seg") &&
      count++ >= stored
      ? { _tag: "Fail", reason: "Unavailable" }
      : undefined
  )
  return () => count
}

/** What a process has that is configured with `own`, or with no spool, and finds `left`, that of an earlier configuration. */
export const leftBehind = (
  left: MemorySpool.MemorySpool,
  own: MemorySpool.MemorySpool | undefined
): Pick<MemorySpool.MemorySpool, "attach"> => ({
  attach: () => {
    const old = left.attach()
    const now = own?.attach()
    return {
      source: {
        path: now?.source.path,
        open: now?.source.open ?? old.source.open,
        openLeft: old.source.openLeft
      },
      crash: () => {
        old.crash()
        now?.crash()
      }
    }
  }
})

/** All payloads of the log, without their numbers. */
export const payloads = (wal: WalService) =>
  Effect.map(readAll(wal), (read) => read.map((one) => one.slice(one.indexOf(":") + 1)))

/** What `records` holds, as text. */
export const named = (count: number, from = 1) => records(count, from).map(({ payload }) => decode(payload))
