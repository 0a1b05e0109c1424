/** The least that can be done with bytes that have to be kept and checked: one copy, and one CRC-32 over it. */
import { crc32 } from "node:zlib"

/** Copies payloads one after the other into a buffer, again and again, and takes the CRC of it each time it is full. */
export class CopyFloor {
  private readonly payloads: ReadonlyArray<Uint8Array>
  private readonly buffer: Uint8Array
  /** So that nothing is left out as useless. */
  sum = 0

  constructor(payloads: ReadonlyArray<Uint8Array>) {
    this.payloads = payloads
    this.buffer = new Uint8Array(payloads.reduce((sum, { length }) => sum + length, 0))
  }

  /** All payloads once; answers their bytes. */
  once(): number {
    let at = 0
    for (const payload of this.payloads) {
      this.buffer.set(payload, at)
      at += payload.length
    }
    this.sum = (this.sum + crc32(this.buffer)) >>> 0
    return at
  }
}
