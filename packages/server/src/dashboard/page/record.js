/**
 * One line of the live tail. The payload is not parsed: it is shown as it was sent, and the head of it is enough.
 */

/** @import { ServerEvent } from "./events.js" */

/**
 * @typedef {object} Payload
 * @property {string} text the payload, or its head
 * @property {boolean} isCut whether `text` is only the head
 * @property {"json" | "text" | "binary"} kind
 * @property {number} bytes its length
 */

/**
 * @typedef {object} RecordHead
 * @property {number} seq
 * @property {number} appended_at epoch milliseconds
 * @property {string} [key]
 * @property {Readonly<Record<string, string>>} [headers]
 */

/** @typedef {Payload & { readonly head: RecordHead }} TailRecord */

const verbatimMark = ",\"payload\":"
const base64Mark = ",\"payload_base64\":\""

/** So much of a payload is shown. */
const mostShown = 4_000

/** So many bytes of a binary payload are shown. */
const mostHex = 256

const controls = /(?![\t\n\v\f\r])\p{Cc}/u

/**
 * The text that the bytes are, or `undefined`.
 * @param {Uint8Array} bytes
 * @param {boolean} isCut a cut may go through a character
 */
const asText = (bytes, isCut) => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut })
    return controls.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** @param {Uint8Array} bytes */
const asHex = (bytes) => Array.from(bytes.subarray(0, mostHex), (byte) => byte.toString(16).padStart(2, "0")).join(" ")

/**
 * @param {string} rest what follows the mark
 * @param {number} length bytes of all that follows it
 * @param {boolean} isCut
 * @returns {Payload}
 */
const base64Payload = (rest, length, isCut) => {
  const base64 = isCut ? rest : rest.slice(0, -2)
  const signs = Math.min(base64.length, mostShown * 4)
  const head = Uint8Array.from(atob(base64.slice(0, signs - signs % 4)), (sign) => sign.charCodeAt(0))
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  // Of a payload that is cut, the end with its padding is not known: two bytes of many.
  const bytes = (length - 2) / 4 * 3 - padding
  const text = asText(head, bytes > head.length)
  return text === undefined
    ? { text: asHex(head), isCut: bytes > mostHex, kind: "binary", bytes }
    : { text: text.slice(0, mostShown), isCut: bytes > head.length || text.length > mostShown, kind: "text", bytes }
}

/**
 * @param {string} rest
 * @param {number} length
 * @param {boolean} isCut
 * @returns {Payload}
 */
const verbatimPayload = (rest, length, isCut) => {
  const text = isCut ? rest : rest.slice(0, -1)
  return { text: text.slice(0, mostShown), isCut: isCut || text.length > mostShown, kind: "json", bytes: length - 1 }
}

/**
 * @param {ServerEvent} event
 * @returns {TailRecord}
 */
export const readRecord = ({ bytes, data, isCut }) => {
  // The marks cannot stand in a key or a header: quotes are escaped there.
  const verbatimAt = data.indexOf(verbatimMark)
  const base64At = data.indexOf(base64Mark)
  const isVerbatim = verbatimAt !== -1 && (base64At === -1 || verbatimAt < base64At)
  const at = isVerbatim ? verbatimAt : base64At
  const mark = isVerbatim ? verbatimMark : base64Mark
  /** @type {RecordHead} */
  const head = JSON.parse(`${data.slice(0, at)}}`)
  const rest = data.slice(at + mark.length)
  const length = bytes - new TextEncoder().encode(data.slice(0, at + mark.length)).length
  return { head, ...(isVerbatim ? verbatimPayload : base64Payload)(rest, length, isCut) }
}
