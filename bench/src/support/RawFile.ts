/** The floor of a local log: a file that only grows, one write and one sync for all who wait. */
import { open } from "node:fs/promises"
import { GroupCommit } from "./GroupCommit.ts"

/** Parts of one vectored write: no system takes more. */
const maxParts = 1_024

export interface RawFile {
  /** Done when the payloads are on the disk. */
  readonly append: (payloads: ReadonlyArray<Uint8Array>) => Promise<void>
  readonly close: () => Promise<void>
}

/** A new file at this path. */
export const createRawFile = async (path: string): Promise<RawFile> => {
  const file = await open(path, "wx")
  let end = 0
  const group = new GroupCommit(async (payloads) => {
    for (let start = 0; start < payloads.length; start += maxParts) {
      const parts = payloads.slice(start, start + maxParts)
      const length = parts.reduce((sum, part) => sum + part.length, 0)
      const { bytesWritten } = await file.writev(parts, end)
      if (bytesWritten < length) throw new Error(`${bytesWritten} of ${length} bytes were written`)
      end += length
    }
    await file.datasync()
  })
  return { append: (payloads) => group.append(payloads), close: () => file.close() }
}
