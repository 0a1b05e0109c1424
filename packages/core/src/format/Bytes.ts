/** Fixed-width little-endian fields on a buffer; unsigned 64-bit values are safe integers here. */

const two32 = 0x1_0000_0000

/** Writes `value` (0 to 2^53-1) as an unsigned 64-bit little-endian integer. */
export const setUint64 = (view: DataView, offset: number, value: number): void => {
  view.setUint32(offset, value % two32, true)
  view.setUint32(offset + 4, Math.floor(value / two32), true)
}

/** Reads an unsigned 64-bit little-endian integer; `undefined` when it is not a safe integer. */
export const getUint64 = (view: DataView, offset: number): number | undefined => {
  const value = view.getUint32(offset + 4, true) * two32 + view.getUint32(offset, true)
  return Number.isSafeInteger(value) ? value : undefined
}

/** A view on exactly these bytes. */
export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Value of a hexadecimal digit by its character code: `0` is 48, `a` is 97, `A` is 65. */
const digitOf = (code: number): number => code <= 57 ? code - 48 : (code | 0x20) - 87

/** Bytes of a string of hexadecimal digits. */
export const fromHex = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length / 2)
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = digitOf(text.charCodeAt(index * 2)) << 4 | digitOf(text.charCodeAt(index * 2 + 1))
  }
  return bytes
}

/** The digits of each byte. */
const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** Lower-case hexadecimal digits of the bytes. */
export const toHex = (bytes: Uint8Array): string => {
  let text = ""
  for (let index = 0; index < bytes.length; index++) text += hexOf[bytes[index] ?? 0]
  return text
}

export const equalBytes = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false
  return true
}

export const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Strict UTF-8: `undefined` for bytes that are none. */
export const decodeText = (bytes: Uint8Array): string | undefined => {
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  // A replacement character may be real text; only then is the slow exact comparison needed.
  if (!decoded.includes("\uFFFD")) return decoded
  return equalBytes(encodeText(decoded), bytes) ? decoded : undefined
}
