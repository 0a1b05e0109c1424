/** A small file system of a run's own, which can be filled to the last byte and freed again. */
import { spawnSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs"
import { join } from "node:path"
import { pause, type Run } from "./Run.ts"

const chunkBytes = 1_048_576

const mount = (path: string, mib: number): void => {
  const { error, status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${mib}m`, "effect-wal", path], {
    encoding: "utf8"
  })
  if (error === undefined && status === 0) return
  throw new Error(
    `this scenario mounts a tmpfs of ${mib} MiB, which needs root (or CAP_SYS_ADMIN) and is not permitted here: ` +
      (error?.message ?? stderr.trim())
  )
}

export class SmallDisk {
  readonly path: string
  private readonly ballast: string
  private mounted = true
  private filling = false

  /** Mounts it below the folder; it is unmounted with the run, and also when the process ends before that. */
  constructor(run: Run, folder: string, mib: number) {
    this.path = join(folder, "disk")
    this.ballast = join(this.path, "ballast")
    mkdirSync(this.path)
    mount(this.path, mib)
    process.once("exit", () => this.unmountAtOnce())
    run.atEnd(() => this.unmount())
  }

  get sizeBytes(): number {
    const { blocks, bsize } = statfsSync(this.path)
    return blocks * bsize
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path)
    return bavail * bsize
  }

  /** Fills it to the last byte, and keeps it so, whatever others give back meanwhile, until it is freed. */
  fill(): void {
    this.filling = true
    this.topUp()
    void this.keepFull()
  }

  /** Takes away what fills it. */
  free(): void {
    this.filling = false
    rmSync(this.ballast, { force: true })
  }

  private async keepFull(): Promise<void> {
    while (this.filling) {
      await pause(5)
      if (this.filling) this.topUp()
    }
  }

  private topUp(): void {
    const file = openSync(this.ballast, "a")
    const chunk = Buffer.alloc(chunkBytes, 0x5a)
    for (let size = chunkBytes; size > 0;) {
      try {
        writeSync(file, chunk, 0, size)
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error
        size = Math.floor(size / 2)
      }
    }
    closeSync(file)
  }

  /** Waits a little for processes that have just been killed. */
  private async unmount(): Promise<void> {
    this.filling = false
    for (let tries = 0; tries < 50 && this.mounted; tries++) {
      this.mounted = spawnSync("umount", [this.path]).status !== 0
      if (this.mounted) await pause(100)
    }
    this.unmountAtOnce()
  }

  /** Out of the way now, and gone with the last process that has a file of it open. */
  private unmountAtOnce(): void {
    if (!this.mounted) return
    spawnSync("umount", ["--lazy", this.path])
    this.mounted = false
  }
}
