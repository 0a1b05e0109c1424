/**
 * A machine: its disk, where a spool can be, and what processes find on it. A process that is killed leaves the disk as it
 * is; a loss of power takes what was not synced.
 */
import * as SpoolDirectory from "@effect-wal/core/node/SpoolDirectory"
import type { SpoolSource } from "@effect-wal/core/store/Spool"
import type { PowerLossDisk } from "../PowerLossDisk.ts"
import * as Disk from "../PowerLossDisk.ts"
import type { SeededRandom } from "./SeededRandom.ts"

const spoolPath = "/spool"
const laterSyncs = 20
const roomBytes = 20_000

export class SimHost {
  readonly name: string
  /** Where processes of this machine spool; absent: they do not. */
  readonly spool: SpoolSource | undefined
  private now: PowerLossDisk = Disk.make()

  constructor(name: string, spoolBytes: number | undefined) {
    this.name = name
    this.spool = spoolBytes === undefined ? undefined : SpoolDirectory.make({ path: spoolPath, maxBytes: spoolBytes })
  }

  get disk(): PowerLossDisk {
    return this.now
  }

  /** The process on it was killed: its locks are gone, what it has written is there. */
  processKilled(): void {
    this.now = this.now.crash()
  }

  /** The power was lost: what was not synced is there in any part, as the number decides. */
  powerLost(survival: number): void {
    this.now = this.now.survivors(survival)
  }

  /** The disk does not do what it is asked: a sync to come fails once, or there is no room for more than so many bytes. */
  harm(random: SeededRandom): void {
    if (random.chance(0.5)) this.now.failSync(random.between(1, laterSyncs))
    else this.now.setCapacity(this.now.usedBytes() + random.below(roomBytes))
  }

  /** There is room again. A sync that was to fail does not, once a process has been started anew. */
  heal(): void {
    this.now.setCapacity(Infinity)
  }
}
