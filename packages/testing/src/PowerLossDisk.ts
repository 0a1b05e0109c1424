/**
 * A disk in memory that can lose power, be full, and fail: `DiskFileService` for tests of what is durable.
 *
 * **What it promises**, which is what POSIX and Linux promise and no more:
 *
 * - Bytes and length of a file are durable after a successful sync of a handle to it, its name is not: fsync(2),
 *   DESCRIPTION (https://man7.org/linux/man-pages/man2/fsync.2.html). `syncData` brings the length too, as a reader needs
 *   it (the same page, on fdatasync).
 * - A name is durable after a sync of its directory (the same page).
 * - Unsynced writes last in any part and any order, torn at sectors of 512 bytes; a length can be there without the bytes,
 *   which are zeros then. Unsynced names last in any part and any order. Pillai et al., All File Systems Are Not Created
 *   Equal, OSDI 2014, section 3 and table 1 (https://www.usenix.org/conference/osdi14/technical-sessions/presentation/pillai).
 *   ext4 by itself keeps more order than that; other file systems do not.
 * - A rename is atomic for processes (rename(2), DESCRIPTION, https://man7.org/linux/man-pages/man2/rename.2.html) and after
 *   a power loss: journaling file systems put it in one transaction (the same table of Pillai et al.). It is durable once one
 *   of its directories is synced.
 * - A failed sync is told once. Pages count as clean afterwards: processes still read them, no later sync writes them, and
 *   nobody knows which of them are on disk. fsync(2), ERRORS, on EIO; Rebello et al., Can Applications Recover from fsync
 *   Failures?, ATC 2020, section 3 (https://www.usenix.org/conference/atc20/presentation/rebello). A failed sync of a
 *   directory leaves its names as they were: a journal that can't be written stops the whole file system instead.
 * - A full disk takes a part of a write and refuses the rest with `ENOSPC`: write(2), RETURN VALUE
 *   (https://man7.org/linux/man-pages/man2/write.2.html). Room comes back with a truncation, or when a file has no name and
 *   no handle any more: unlink(2).
 * - Locks end with their process, and when it closes any handle to the file: fcntl(2), on record locks
 *   (https://man7.org/linux/man-pages/man2/F_GETLK.2const.html).
 *
 * It does not model: garbage in place of zeros, directories that reach the disk in part, bits that flip, symbolic links.
 */
import type { DiskFileService } from "@effect-wal/core/node/DiskFile"
import { Deferred } from "effect"
import type { Effect } from "effect"
import type { DiskCall, DiskRule } from "./disk/DiskMachine.ts"
import { DiskMachine } from "./disk/DiskMachine.ts"
import { makeService } from "./disk/DiskService.ts"
import { DiskTree } from "./disk/DiskTree.ts"
import type { Survival, SurvivalName } from "./disk/Survival.ts"
import { resolveSurvival } from "./disk/Survival.ts"

export type { DiskCall, DiskRule } from "./disk/DiskMachine.ts"
export type { DataFate, Place, Survival, SurvivalName } from "./disk/Survival.ts"
export { sectorBytes, survivalNames, survivals } from "./disk/Survival.ts"

/** How a write that was running when its process was killed ended. */
export type InFlight = "whole" | "half"

/** A disk in memory that loses its power, and its handles. */
export interface PowerLossDisk {
  /** For `Effect.provideService(DiskFile, …)`. Every process of a test that shares the disk takes this one. */
  readonly disk: DiskFileService
  /** All calls so far that change something (a sync is one, an opening to read is not), failed ones too. */
  readonly calls: ReadonlyArray<DiskCall>
  /**
   * The changing call with this number, from 1 in the order of `calls`, never answers, and nothing happens after it. It may
   * have been carried out: a write is then among what is unsynced; of a sync only the survivors `everything` show that it was.
   */
  readonly cutAt: (nth: number) => void
  /** Done when the cut has come. */
  readonly cut: Effect.Effect<void>
  /** Adds a rule; the first that answers a code wins. Rules see all calls. */
  readonly rule: (rule: DiskRule) => void
  /** Of the syncs of files from now on (`sync` and `syncData`, from 1), this one fails with `EIO` and drops what it should write. */
  readonly failSync: (nth: number) => void
  /** Most bytes in all files together from now on; default without limit. */
  readonly setCapacity: (bytes: number) => void
  /** Bytes of all files, as the disk counts them. */
  readonly usedBytes: () => number
  /**
   * Power loss: ends this disk (its calls never answer again) and gives the one that is found afterwards. Can be asked
   * several times, for several outcomes. Rules and planned failures do not go with it; the capacity does.
   */
  readonly survivors: (survival: Survival | SurvivalName | number) => PowerLossDisk
  /** `kill -9`: as `survivors`, with all that was written still in the page cache, and no lock held. */
  readonly crash: (inFlight?: InFlight) => PowerLossDisk
}

const fromTree = (tree: DiskTree): PowerLossDisk => {
  const machine = new DiskMachine(tree)
  const end = <A>(next: A): A => {
    machine.isDead = true
    return next
  }
  return {
    disk: makeService(machine),
    calls: machine.calls,
    cutAt: (nth) => {
      machine.cutNumber = nth
    },
    cut: Deferred.await(machine.cut),
    rule: (rule) => {
      machine.rules.push(rule)
    },
    failSync: (nth) => {
      let left = nth
      machine.rules.push((call) =>
        (call.name === "sync" || call.name === "syncData") && --left === 0 ? "EIO" : undefined
      )
    },
    setCapacity: (bytes) => {
      tree.capacityBytes = bytes
    },
    usedBytes: () => tree.usedBytes,
    survivors: (survival) => end(fromTree(tree.survivors(resolveSurvival(survival)))),
    crash: (inFlight = "whole") => end(fromTree(tree.copy(inFlight === "half" ? machine.cutWrite : undefined)))
  }
}

/** A disk with an empty root directory. */
export const make = (): PowerLossDisk => fromTree(new DiskTree())
