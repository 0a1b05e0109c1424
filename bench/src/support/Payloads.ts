/** Records to append: bytes that a compressor finds nothing in, and that are made once. */
import { randomFillSync } from "node:crypto"

/** So many payloads of so many bytes, each in a buffer of its own, as callers have them. */
export const payloadsOf = (count: number, bytes: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: count }, () => randomFillSync(new Uint8Array(bytes)))

export const recordsOf = (payloads: ReadonlyArray<Uint8Array>): ReadonlyArray<{ readonly payload: Uint8Array }> =>
  payloads.map((payload) => ({ payload }))
