/** The records of a benchmark, made while it runs: every one differs from the others. */

/** What records look like: lines of JSON that resemble each other, or bytes that no codec can pack. */
export type PayloadKind = "json" | "random"

const words = "the order was paid and a cup of tea is on its way to the table by the window "

const encoder = new TextEncoder()

const jsonPayload = (index: number, sizeBytes: number): Uint8Array => {
  const start = `{"bench":${index},"at":${1_700_000_000_000 + index * 7},"text":"`
  const end = "\"}"
  const room = Math.max(0, sizeBytes - start.length - end.length)
  const from = index * 13 % words.length
  const text = words.repeat(Math.ceil((room + words.length) / words.length)).slice(from, from + room)
  return encoder.encode(start + text + end).subarray(0, sizeBytes)
}

/** A generator that is good enough to look random to a codec, seeded by the record (Marsaglia's xorshift). */
const randomPayload = (index: number, sizeBytes: number): Uint8Array => {
  const wordsOf32 = new Uint32Array(Math.ceil(sizeBytes / 4))
  let state = (index + 1) * 0x9e3779b9 >>> 0 || 1
  for (let at = 0; at < wordsOf32.length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    wordsOf32[at] = state >>> 0
  }
  return new Uint8Array(wordsOf32.buffer, 0, sizeBytes)
}

/** The payload of a record, of exactly this size. */
export const payloadOf = (kind: PayloadKind, index: number, sizeBytes: number): Uint8Array =>
  kind === "json" ? jsonPayload(index, sizeBytes) : randomPayload(index, sizeBytes)
