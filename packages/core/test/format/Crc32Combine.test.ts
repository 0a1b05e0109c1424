/** The CRC of two stretches of bytes from the CRC of each. */
import { assert, describe, it } from "@effect/vitest"
import { crc32 } from "node:zlib"
import { combineCrc32 } from "../../src/format/Crc32Combine.ts"
import { makeRandom } from "../support/Seeded.ts"

describe("combined checksums", () => {
  it("are those of the whole, wherever it is cut", () => {
    const random = makeRandom(7)
    for (const length of [0, 1, 2, 7, 255, 256, 4_095, 100_000]) {
      const bytes = Uint8Array.from({ length }, () => Math.floor(random() * 256))
      for (const at of [0, 1, Math.floor(length / 2), Math.max(0, length - 1), length]) {
        const [first, second] = [bytes.subarray(0, at), bytes.subarray(at)]
        assert.strictEqual(combineCrc32(crc32(first), crc32(second), second.length), crc32(bytes), `${length} at ${at}`)
      }
    }
  })

  it("hold for lengths beyond 32 bits: a stretch of zeros can be cut anywhere", () => {
    // CRC of n zeros after a CRC c is what remains of c after n bytes; doubling n must be the same as doing it twice.
    const zeros = (bytes: number) => crc32(new Uint8Array(bytes))
    const million = zeros(1_000_000)
    let whole = million
    let bytes = 1_000_000
    for (let doubled = 0; doubled < 14; doubled++) {
      whole = combineCrc32(whole, whole, bytes)
      bytes *= 2
    }
    let stepwise = 0
    for (let part = 0; part < bytes / 1_000_000; part++) stepwise = combineCrc32(stepwise, million, 1_000_000)
    assert.strictEqual(whole, stepwise)
  })
})
