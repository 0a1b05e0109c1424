/**
 * A strict JSON validator on bytes that answers where a value ends, so that payloads can be cut out of a request body
 * without being decoded and written again (`9007199254740993` and `1.10` stay what they are).
 *
 * RFC 8259, no extensions. UTF-8 is not checked here: check the whole body once with `isUtf8` before. Nothing is
 * recursive and nothing throws: an offset that is negative is `-1 - position` of the first byte that cannot stand there.
 */

/** Arrays and objects may be nested so deep; deeper input is refused, as a guard for whoever parses it later. */
export const maxDepth = 1_000

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** An error at `position`, as the scanners answer it. */
const errorAt = (position: number): number => -1 - position

/** The position of an error that a scanner answered. */
export const errorPosition = (end: number): number => -1 - end

/** The first position at or after `position` that is not JSON white space; `end` when there is none. */
export const skipSpace = (bytes: Uint8Array, position: number, end: number): number => {
  while (position < end) {
    const byte = bytes[position]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
    position++
  }
  return position
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

const isHexDigit = (byte: number | undefined): boolean =>
  byte !== undefined && (byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x46 || byte >= 0x61 && byte <= 0x66)

/** One for each byte that may follow a backslash, except `u`. */
const shortEscapes = new Uint8Array(256)
for (const character of "\"\\/bfnrt") shortEscapes[character.charCodeAt(0)] = 1

/** One for each byte that a string can hold as it is. */
const plain = new Uint8Array(256).fill(1, 0x20)
plain[quote] = 0
plain[backslash] = 0

/** So much of a string is looked at byte by byte; what ends sooner would gain nothing by more. */
const shortRun = 40

/**
 * The bytes of a text four by four, for whoever scans all of it: strings that are long are passed over quicker then. Not
 * copied.
 */
export type Words = Int32Array

export const wordsOf = ({ buffer, byteLength, byteOffset }: Uint8Array): Words =>
  new Int32Array(buffer, 0, (byteOffset + byteLength) >> 2)

/** The high bit of every byte of a word. */
const highBits = 0x80808080 | 0

/** Whether a string can hold all four bytes of a word as they are: every byte sets its high bit three times. */
const isPlainWord = (word: number): boolean => {
  const noControl = ((word & 0x7f7f7f7f) + 0x60606060) | word
  const likeQuote = word ^ 0x22222222
  const noQuote = ((likeQuote & 0x7f7f7f7f) + 0x7f7f7f7f) | likeQuote
  const likeBackslash = word ^ 0x5c5c5c5c
  const noBackslash = ((likeBackslash & 0x7f7f7f7f) + 0x7f7f7f7f) | likeBackslash
  return (noControl & noQuote & noBackslash & highBits) === highBits
}

/** Passes over plain bytes from `position` on, at most to `end`: to some byte before the first that is not, or to that. */
const passPlainWords = (bytes: Uint8Array, words: Words, position: number, end: number): number => {
  const { byteOffset } = bytes
  const aligned = ((byteOffset + position + 3) & ~3) - byteOffset
  for (; position < aligned; position++) {
    if (position === end || plain[bytes[position]!] !== 1) return position
  }
  const last = (byteOffset + end) >> 2
  let index = (byteOffset + position) >> 2
  while (index < last && isPlainWord(words[index]!)) index++
  return Math.max(position, (index << 2) - byteOffset)
}

/** The first position behind the escape at `position`. */
const scanEscape = (bytes: Uint8Array, position: number, end: number): number => {
  if (position + 1 >= end) return errorAt(end)
  const escaped = bytes[position + 1]!
  if (shortEscapes[escaped] === 1) return position + 2
  if (escaped !== 0x75) return errorAt(position + 1)
  for (let digit = position + 2; digit < position + 6; digit++) {
    if (digit >= end || !isHexDigit(bytes[digit])) return errorAt(Math.min(digit, end))
  }
  return position + 6
}

/** The end of the string that starts at `position` with its quote. */
export const scanString = (bytes: Uint8Array, position: number, end: number, words?: Words): number => {
  if (position >= end || bytes[position] !== quote) return errorAt(position)
  position++
  while (position < end) {
    let near = position + shortRun
    if (near > end || words === undefined) near = end
    while (position < near && plain[bytes[position]!] === 1) position++
    if (position === end) break
    const byte = bytes[position]!
    if (byte === quote) return position + 1
    if (byte === backslash) {
      position = scanEscape(bytes, position, end)
      if (position < 0) return position
    } else if (byte < 0x20) return errorAt(position)
    else if (words !== undefined) position = passPlainWords(bytes, words, position, end)
  }
  return errorAt(end)
}

const scanDigits = (bytes: Uint8Array, position: number, end: number): number => {
  const start = position
  while (position < end && isDigit(bytes[position])) position++
  return position === start ? errorAt(position) : position
}

const scanNumber = (bytes: Uint8Array, position: number, end: number): number => {
  if (bytes[position] === 0x2d) position++
  if (position < end && bytes[position] === 0x30) position++
  else {
    position = scanDigits(bytes, position, end)
    if (position < 0) return position
  }
  if (position < end && bytes[position] === 0x2e) {
    position = scanDigits(bytes, position + 1, end)
    if (position < 0) return position
  }
  if (position < end && (bytes[position] === 0x65 || bytes[position] === 0x45)) {
    position++
    if (position < end && (bytes[position] === 0x2b || bytes[position] === 0x2d)) position++
    return scanDigits(bytes, position, end)
  }
  return position
}

const literals: Readonly<Record<number, Uint8Array>> = {
  0x74: Uint8Array.from("true", (character) => character.charCodeAt(0)),
  0x66: Uint8Array.from("false", (character) => character.charCodeAt(0)),
  0x6e: Uint8Array.from("null", (character) => character.charCodeAt(0))
}

const scanScalar = (bytes: Uint8Array, position: number, end: number, words?: Words): number => {
  if (position >= end) return errorAt(end)
  const byte = bytes[position]!
  if (byte === quote) return scanString(bytes, position, end, words)
  if (byte === 0x2d || isDigit(byte)) return scanNumber(bytes, position, end)
  const literal = literals[byte]
  if (literal === undefined) return errorAt(position)
  for (let index = 0; index < literal.length; index++) {
    if (position + index >= end || bytes[position + index] !== literal[index]) {
      return errorAt(Math.min(position + index, end))
    }
  }
  return position + literal.length
}

/** From behind `{` or a comma in an object to where the member's value starts. */
const scanMemberName = (bytes: Uint8Array, position: number, end: number, words?: Words): number => {
  position = scanString(bytes, skipSpace(bytes, position, end), end, words)
  if (position < 0) return position
  position = skipSpace(bytes, position, end)
  return position < end && bytes[position] === colon ? skipSpace(bytes, position + 1, end) : errorAt(position)
}

/** From behind an opening bracket or a comma to where the next value starts; `closing` says what it stands in. */
const scanToValue = (bytes: Uint8Array, position: number, end: number, closing: number, words?: Words): number =>
  closing === closeBrace ? scanMemberName(bytes, position, end, words) : skipSpace(bytes, position, end)

/**
 * The end of the value that starts exactly at `position` (no white space before it), exclusive; or an error, see the
 * head of the file. What follows the value is not looked at.
 */
export const scanValue = (bytes: Uint8Array, position: number, end: number, words?: Words): number => {
  // The closing byte that the innermost open array or object waits for, 0 while none is open, and those of the ones around it.
  let closing = 0
  const around: Array<number> = []
  for (;;) {
    const byte = position < end ? bytes[position] : undefined
    if (byte === openBrace || byte === openBracket) {
      if (around.length === maxDepth - 1 && closing !== 0) return errorAt(position)
      const inside = skipSpace(bytes, position + 1, end)
      const itsClosing = byte === openBrace ? closeBrace : closeBracket
      if (inside < end && bytes[inside] === itsClosing) position = inside + 1
      else {
        if (closing !== 0) around.push(closing)
        closing = itsClosing
        position = scanToValue(bytes, inside, end, closing, words)
        if (position < 0) return position
        continue
      }
    } else {
      position = scanScalar(bytes, position, end, words)
      if (position < 0) return position
    }
    // A value has ended at `position`: close what it closes, or find the start of the next one.
    for (;;) {
      if (closing === 0) return position
      position = skipSpace(bytes, position, end)
      const next = position < end ? bytes[position] : undefined
      if (next === closing) {
        closing = around.pop() ?? 0
        position++
        continue
      }
      if (next !== comma) return errorAt(position)
      position = scanToValue(bytes, position + 1, end, closing, words)
      if (position < 0) return position
      break
    }
  }
}

/** The end of a text that is exactly one value with white space around it: `end`; or an error. */
export const scanDocument = (bytes: Uint8Array, position: number, end: number, words?: Words): number => {
  const after = scanValue(bytes, skipSpace(bytes, position, end), end, words)
  if (after < 0) return after
  const rest = skipSpace(bytes, after, end)
  return rest === end ? end : errorAt(rest)
}
