/**
 * Server-sent events from a `fetch`, which can send a token where `EventSource` cannot.
 *
 * Lines are kept as bytes, and of a long one only the head: a record of many megabytes costs the page no more than a
 * small one.
 */

/**
 * @typedef {object} ServerEvent
 * @property {string} event
 * @property {string} id
 * @property {string} data the head of it, where it is longer than what is kept
 * @property {boolean} isCut whether it is only the head
 * @property {number} bytes the length of all of it
 */

const newline = 0x0a
const prefix = "data: ".length

/**
 * Answers a function that takes what comes, piece by piece, and tells every event that is whole.
 * @param {number} mostKept bytes of one line that are kept
 * @param {(event: ServerEvent) => void} tell
 * @returns {(piece: Uint8Array) => void}
 */
export const eventReader = (mostKept, tell) => {
  const decoder = new TextDecoder()
  /** @type {Array<Uint8Array>} */
  let parts = []
  let kept = 0
  let length = 0
  let event = "message"
  let id = ""
  /** @type {string | undefined} */
  let data
  let dataBytes = 0

  /** @param {Uint8Array} piece */
  const keep = (piece) => {
    const room = mostKept - kept
    if (room > 0 && piece.length > 0) {
      // A copy: the piece is the whole of what was received.
      parts.push(piece.slice(0, room))
      kept += Math.min(room, piece.length)
    }
    length += piece.length
  }

  const lineText = () => {
    const line = new Uint8Array(kept)
    let at = 0
    for (const part of parts) {
      line.set(part, at)
      at += part.length
    }
    return decoder.decode(line)
  }

  const endLine = () => {
    const text = lineText()
    if (text === "") {
      if (data !== undefined) tell({ event, id, data, isCut: dataBytes > mostKept - prefix, bytes: dataBytes })
      event = "message"
      data = undefined
    } else if (text.startsWith("event: ")) event = text.slice("event: ".length)
    else if (text.startsWith("id: ")) id = text.slice("id: ".length)
    else if (text.startsWith("data: ")) {
      data = text.slice(prefix)
      dataBytes = length - prefix
    }
    parts = []
    kept = 0
    length = 0
  }

  return (piece) => {
    let from = 0
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      keep(piece.subarray(from, at))
      endLine()
      from = at + 1
    }
    keep(piece.subarray(from))
  }
}
