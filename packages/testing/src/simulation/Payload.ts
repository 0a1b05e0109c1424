/** The records of a walk: each has an id of its own, and filling up to its size. */
import type { AppendRecord } from "@effect-wal/core/WalRecord"

const idBytes = 4
const filling = 0x2e

/** A record of so many bytes, at least 4. */
export const recordOf = (id: number, bytes: number): AppendRecord => {
  const payload = new Uint8Array(Math.max(idBytes, bytes)).fill(filling)
  new DataView(payload.buffer).setUint32(0, id)
  return { payload }
}

export const idOf = (payload: Uint8Array): number =>
  new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(0)
