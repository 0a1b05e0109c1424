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

/** The end of the string that starts at `position` with its quote. */
export const scanString = (bytes: Uint8Array, position: number, end: number): number => {
  if (position >= end || bytes[position] !== quote) return errorAt(position)
  position++
  while (position < end) {
    const byte = bytes[position]!
    if (byte === quote) return position + 1
    if (byte < 0x20) return errorAt(position)
    if (byte !== backslash) {
      position++
      continue
    }
    if (position + 1 >= end) return errorAt(end)
    const escaped = bytes[position + 1]!
    if (shortEscapes[escaped] === 1) {
      position += 2
      continue
    }
    if (escaped !== 0x75) return errorAt(position + 1)
    for (let digit = position + 2; digit < position + 6; digit++) {
      if (digit >= end || !isHexDigit(bytes[digit])) return errorAt(Math.min(digit, end))
    }
    position += 6
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

const scanScalar = (bytes: Uint8Array, position: number, end: number): number => {
  if (position >= end) return errorAt(end)
  const byte = bytes[position]!
  if (byte === quote) return scanString(bytes, position, end)
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
const scanMemberName = (bytes: Uint8Array, position: number, end: number): number => {
  position = scanString(bytes, skipSpace(bytes, position, end), end)
  if (position < 0) return position
  position = skipSpace(bytes, position, end)
  return position < end && bytes[position] === colon ? skipSpace(bytes, position + 1, end) : errorAt(position)
}

/**
 * The end of the value that starts exactly at `position` (no white space before it), exclusive; or an error, see the
 * head of the file. What follows the value is not looked at.
 */
export const scanValue = (bytes: Uint8Array, position: number, end: number): number => {
  // The closing byte that each open array or object waits for.
  const open: Array<number> = []
  for (;;) {
    const byte = position < end ? bytes[position] : undefined
    if (byte === openBrace || byte === openBracket) {
      if (open.length === maxDepth) return errorAt(position)
      const closing = byte === openBrace ? closeBrace : closeBracket
      const inside = skipSpace(bytes, position + 1, end)
      if (inside < end && bytes[inside] === closing) position = inside + 1
      else {
        open.push(closing)
        position = closing === closeBrace ? scanMemberName(bytes, inside, end) : inside
        if (position < 0) return position
        continue
      }
    } else {
      position = scanScalar(bytes, position, end)
      if (position < 0) return position
    }
    // A value has ended at `position`: close what it closes, or find the start of the next one.
    for (;;) {
      const closing = open.at(-1)
      if (closing === undefined) return position
      position = skipSpace(bytes, position, end)
      const next = position < end ? bytes[position] : undefined
      if (next === closing) {
        open.pop()
        position++
        continue
      }
      if (next !== comma) return errorAt(position)
      position = closing === closeBrace
        ? scanMemberName(bytes, position + 1, end)
        : skipSpace(bytes, position + 1, end)
      if (position < 0) return position
      break
    }
  }
}

/** The end of a text that is exactly one value with white space around it: `end`; or an error. */
export const scanDocument = (bytes: Uint8Array, position: number, end: number): number => {
  const after = scanValue(bytes, skipSpace(bytes, position, end), end)
  if (after < 0) return after
  const rest = skipSpace(bytes, after, end)
  return rest === end ? end : errorAt(rest)
}
