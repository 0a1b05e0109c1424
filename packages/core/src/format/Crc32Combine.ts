/**
 * The CRC-32 of two stretches of bytes one after the other, from the CRC of each: without reading them again.
 *
 * CRC-32 (IEEE) is the remainder of a polynomial over GF(2), and appending n bytes multiplies it by x^(8n); see
 * https://www.rfc-editor.org/rfc/rfc1952#section-8 for the polynomial and its reflected form, in which the highest bit is
 * the coefficient of x^0.
 */

const polynomial = 0xedb88320
const one = 0x80000000

/** Product of two polynomials, modulo the CRC's. */
const multiply = (left: number, right: number): number => {
  let product = 0
  let shifted = right
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) product ^= shifted
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial
  }
  return product >>> 0
}

/** x^(2^n), n from 0: as many as a length in bits can have digits. */
const powers: ReadonlyArray<number> = Array.from({ length: 56 }).reduce<Array<number>>((found) => {
  const last = found.at(-1)
  found.push(last === undefined ? one >>> 1 : multiply(last, last))
  return found
}, [])

/** x^(8n) for n bytes. */
const shiftOf = (bytes: number): number => {
  let shift = one
  let left = bytes
  for (let digit = 3; left > 0; digit++) {
    if (left % 2 === 1) shift = multiply(powers[digit] ?? 0, shift)
    left = Math.floor(left / 2)
  }
  return shift
}

/** The CRC-32 of what `first` is of, followed by `secondBytes` bytes that `second` is of. */
export const combineCrc32 = (first: number, second: number, secondBytes: number): number =>
  (multiply(shiftOf(secondBytes), first >>> 0) ^ second) >>> 0
