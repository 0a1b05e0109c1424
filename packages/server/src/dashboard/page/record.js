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
const marks = /,"payload(?:":|_base64":")/g

/** What every record begins with. */
const fewest = /^\{"seq":\d+,"appended_at":\d+/

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
 * The head of a record and where it ends. A header can have the name of a mark: then what stands before it is no object.
 * Absent where key and headers alone are longer than what is kept.
 * @param {string} data
 * @returns {{ readonly head: RecordHead, readonly mark: string, readonly end: number } | undefined}
 */
const headOf = (data) => {
  for (const { 0: mark, index } of data.matchAll(marks)) {
    try {
      return { head: JSON.parse(`${data.slice(0, index)}}`), mark, end: index + mark.length }
    } catch {
      // A header of that name: the payload comes later.
    }
  }
  return undefined
}

/**
 * @param {ServerEvent} event
 * @returns {TailRecord}
 */
export const readRecord = ({ bytes, data, isCut }) => {
  const found = headOf(data)
  if (found === undefined) {
    const head = JSON.parse(`${fewest.exec(data)?.[0] ?? ""}}`)
    return { head, text: data.slice(0, mostShown), isCut: true, kind: "text", bytes }
  }
  const { end, head, mark } = found
  const rest = data.slice(end)
  const length = bytes - new TextEncoder().encode(data.slice(0, end)).length
  return { head, ...(mark === verbatimMark ? verbatimPayload : base64Payload)(rest, length, isCut) }
}
