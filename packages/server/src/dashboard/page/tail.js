/**
 * The live tail of the chosen stream: off until somebody asks, as it costs the server and the line what it shows.
 *
 * Only the newest records are kept, and of each only its head. Under load most of them are never drawn.
 */
import { byId, h, setText } from "./dom.js"
import { connect } from "./feed.js"
import { count, size, time, visible } from "./format.js"
import { readRecord } from "./record.js"

/** @import { ServerEvent } from "./events.js" */
/** @import { Connection } from "./feed.js" */
/** @import { StreamView } from "../Snapshot.ts" */
/** @import { TailRecord } from "./record.js" */

const list = byId("tail", HTMLElement)
const note = byId("tail-note", HTMLElement)
const toggle = byId("tail-toggle", HTMLButtonElement)
const clear = byId("tail-clear", HTMLButtonElement)

const mostRecords = 100

/** So many records from before are shown when the tail starts. */
const before = 20

/** So much of the text stands in the line of a record. */
const lineLength = 300

/** Of a line that is longer only the head is kept, bytes. */
const mostKept = 65_536

/** A comment comes every 15 s. */
const silenceMillis = 40_000

/** @type {Connection | undefined} */
let connection
/** @type {StreamView | undefined} */
let view
let next = 0
let total = 0
let isDrawing = false
/** @type {Array<HTMLElement>} */
let pending = []

/** @param {TailRecord} record */
const details = ({ head, isCut, kind, text }) => {
  const more = h("div", { class: "record-more" })
  const headers = Object.entries(head.headers ?? {})
  if (headers.length > 0) {
    more.append(
      h(
        "dl",
        { class: "lines" },
        ...headers.map(([name, value]) => h("div", {}, h("dt", {}, visible(name)), h("dd", {}, visible(value))))
      )
    )
  }
  more.append(h("pre", { class: "record-body" }, visible(text)))
  const what = kind === "binary" ? "binary, in hexadecimal" : kind === "json" ? "JSON as it was sent" : "text"
  more.append(h("p", { class: "muted" }, isCut ? `${what}; this is the head of it` : what))
  return more
}

/** @param {TailRecord} record */
const draw = (record) => {
  const { bytes, head, kind, text } = record
  const key = head.key === undefined ? undefined : h("span", { class: "record-key" }, `${visible(head.key)} `)
  const summary = h(
    "summary",
    {},
    h("span", { class: "record-seq" }, count(head.seq)),
    h("span", { class: "record-time" }, time(head.appended_at)),
    h("span", { class: "record-size" }, size(bytes)),
    h("span", { class: "record-text" }, key, kind === "binary" ? "binary " : "", visible(text.slice(0, lineLength)))
  )
  const box = h("details", {}, summary)
  // Drawn when it is opened: most never are.
  box.addEventListener("toggle", () => box.append(details(record)), { once: true })
  return h("li", { class: "record" }, box)
}

/** @param {{ readonly from: number, readonly to: number, readonly reason: string }} lost */
const drawLost = ({ from, reason, to }) =>
  h("li", { class: "record-lost" }, `Records ${count(from)} to ${count(to)} are lost: ${visible(reason)}`)

const flush = () => {
  isDrawing = false
  list.prepend(...pending.toReversed())
  pending = []
  while (list.children.length > mostRecords) list.lastElementChild?.remove()
  clear.hidden = list.children.length === 0
  if (connection !== undefined) setText(note, `Live · ${count(total)} records came, the newest ${mostRecords} are kept`)
}

/** @param {HTMLElement} element */
const show = (element) => {
  total++
  pending.push(element)
  if (pending.length > mostRecords) pending.shift()
  if (isDrawing) return
  isDrawing = true
  requestAnimationFrame(flush)
}

/** @param {ServerEvent} event */
const take = (event) => {
  if (event.event === "error") {
    stop(`Stopped: ${JSON.parse(event.data).error.message}`)
    return
  }
  next = Number(event.id) + 1
  if (event.event === "lost") show(drawLost(JSON.parse(event.data).lost))
  else show(draw(readRecord(event)))
}

/** @param {string} text */
const stop = (text) => {
  connection?.stop()
  connection = undefined
  setText(note, text)
  setText(toggle, "Start")
}

const start = () => {
  if (view?.status.durable === undefined) return
  const { id, status } = view
  const oldest = (status.trimmed_to ?? 0) + 1
  next = Math.max(next, oldest, (status.durable ?? 0) + 1 - before)
  setText(toggle, "Stop")
  setText(note, "Connecting …")
  connection = connect({
    address: () => `v1/streams/${encodeURIComponent(id)}/records?from=${next}&on_damage=skip`,
    mostKept,
    silenceMillis,
    opened: () => setText(note, "Live · waiting for records"),
    event: take,
    refused: (_, reason) => stop(`Stopped: ${reason}`),
    lost: () => setText(note, "Connection lost; trying again …")
  })
}

const empty = () => {
  list.replaceChildren()
  pending = []
  total = 0
  clear.hidden = true
}

/** Starts the tail where it is off, and stops it where it is on. */
export const toggleTail = () => {
  if (connection === undefined) start()
  else stop("Stopped")
}

/** Stops it, and shows nothing of it any more. */
export const stopTail = () => {
  stop("")
  next = 0
  empty()
}

/** @param {StreamView} shown */
export const showTail = (shown) => {
  if (view !== undefined && view.id !== shown.id) stopTail()
  view = shown
  toggle.disabled = shown.status.durable === undefined
}

/** Lets the buttons work. */
export const startTail = () => {
  toggle.addEventListener("click", toggleTail)
  clear.addEventListener("click", () => {
    empty()
    toggle.focus()
  })
}
