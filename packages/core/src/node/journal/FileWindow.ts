/**
 * Reads a file from front to back through one buffer, so that small things that follow each other cost one read.
 */
import { Effect } from "effect"
import type { DiskError, DiskHandle } from "../DiskFile.ts"

export class FileWindow {
  private readonly file: DiskHandle
  private readonly chunkBytes: number
  private start = 0
  private bytes: Uint8Array = new Uint8Array(0)

  /** Each read asks for at least `chunkBytes`. */
  constructor(file: DiskHandle, chunkBytes: number) {
    this.file = file
    this.chunkBytes = chunkBytes
  }

  /** `length` bytes from byte `offset` on; fewer only at the end of the file. A view that holds until the next call. */
  take(offset: number, length: number): Effect.Effect<Uint8Array, DiskError> {
    const from = offset - this.start
    if (from >= 0 && from + length <= this.bytes.length) return Effect.succeed(this.bytes.subarray(from, from + length))
    return Effect.map(this.file.read(Math.max(length, this.chunkBytes), offset), (bytes) => {
      this.start = offset
      this.bytes = bytes
      return bytes.subarray(0, length)
    })
  }
}
