/** What is wrong with a stream, what that means for its records, and what to do. */
import { byId, h, redraw, setText } from "./dom.js"
import { count, duration, percent, size, time, visible } from "./format.js"
import { meterBar } from "./spark.js"

/** @import { Level, StreamView } from "../Snapshot.ts" */

/**
 * @typedef {object} Banner
 * @property {Exclude<Level, "ok">} level
 * @property {string} title
 * @property {ReadonlyArray<string>} text
 * @property {ReadonlyArray<readonly [name: string, value: string]>} [facts]
 * @property {{ readonly share: number, readonly label: string }} [meter]
 */

const container = byId("banners", HTMLElement)
const announcer = byId("announcer", HTMLElement)

/** A retry or two are everyday life; this is when it becomes news. */
const newsMillis = 3_000

/** @param {StreamView} view @returns {readonly [name: string, value: string]} */
const atRisk = ({ status: { at_risk: risk } }) => [
  "At risk now",
  `${count(risk?.records ?? 0)} records, ${size(risk?.bytes ?? 0)}`
]

/** @typedef {{ readonly name: string, readonly share: number, readonly text: string, readonly whenFull: string }} Room */

const refusedSoon = "then appends wait, and are refused with 503 after a while."

/**
 * What takes the input in while the store does not.
 * @param {StreamView} view
 * @returns {ReadonlyArray<Room>}
 */
const roomsOf = ({ settings, status: { buffered, spool } }) => {
  if (spool !== undefined && spool.problem === undefined) {
    const text = `${percent(spool.bytes, spool.limit_bytes)} of ${size(spool.limit_bytes)}`
    const whenFull = `The spool is full: memory takes what it can hold, ${refusedSoon}`
    return [{ name: "Spool", share: spool.bytes / spool.limit_bytes, text, whenFull }]
  }
  if (buffered === undefined) return []
  const { bytes, limit_bytes: limit, queued_segments: queued } = buffered
  /** @type {Room} */
  const buffer = {
    name: "Buffer",
    share: bytes / limit,
    text: `${percent(bytes, limit)} of ${size(limit)}`,
    whenFull: "The buffer is full: appends wait, and are refused with 503 after a while."
  }
  if (settings === undefined) return [buffer]
  return [buffer, {
    name: "Queue",
    share: queued / settings.queue_segments,
    text: `${count(queued)} of ${count(settings.queue_segments)} segments`,
    whenFull: `The queue is full: the open segment takes what it can hold, ${refusedSoon}`
  }]
}

/** A buffer that is as full as this has no room for the next call, if that is not a small one. */
const fullShare = 0.9

/** @param {StreamView} view @param {boolean} isFull @returns {string} */
const fullText = ({ activity }, isFull) => {
  const seconds = activity?.full_in_s
  if (isFull || seconds === 0) return "now"
  return seconds === null || seconds === undefined ? "nothing grows now" : `in about ${duration(seconds * 1_000)}`
}

/** @param {StreamView} view @param {number} at @returns {Banner | undefined} */
const outage = (view, at) => {
  const { last_store_error: last, spool, state, store_failing_since: since } = view.status
  if (since === undefined || state !== "open" || at - since < newsMillis) return undefined
  const rooms = roomsOf(view)
  const full = rooms.filter(({ share }) => share >= fullShare)
  const [fullest] = rooms.toSorted((left, right) => right.share - left.share)
  return {
    level: view.level === "page" ? "page" : "warn",
    title: "The store does not answer",
    text: [
      spool !== undefined && spool.problem === undefined
        ? "Input goes to the spool on this machine’s disk, and to the store when that is back. Losing the node loses it."
        : "What comes in waits in memory and is sent again until it is stored. A crash now loses what is at risk.",
      ...full.map(({ whenFull }) => whenFull),
      `Last answer: ${visible(last ?? "none")}`
    ],
    facts: [
      atRisk(view),
      ["Failing since", `${time(since)} (${duration(at - since)})`],
      ...rooms.map(({ name, text }) => /** @type {const} */ ([name, text])),
      ["Full", fullText(view, full.length > 0)]
    ],
    ...fullest === undefined ? {} : { meter: { share: fullest.share, label: `${fullest.name}: ${fullest.text}` } }
  }
}

/** @param {StreamView} view @returns {Banner | undefined} */
const fenced = (view) => {
  const owner = view.status.new_owner
  return {
    level: "page",
    title: owner === undefined ? "Another writer owns this log" : `${visible(owner)} owns this log now`,
    text: [
      "A newer writer has taken the log over, so this process appends nothing here any more. That does not end by itself: " +
      "two processes would fence each other for ever.",
      "Send appends to the new owner. To have the log here again, stop that one first and restart this server."
    ],
    facts: [atRisk(view), ["Durable to", count(view.status.durable ?? 0)]]
  }
}

/** @param {StreamView} view @returns {Banner | undefined} */
const dead = (view) => ({
  level: "page",
  title: "The log has died",
  text: [
    visible(view.status.error?.message ?? "a part of it ended with a defect"),
    "The process ends with exit code 70, so that its supervisor starts it again. What is durable stays; what is at risk is lost."
  ],
  facts: [atRisk(view), ["Durable to", count(view.status.durable ?? 0)]]
})

/** @param {StreamView} view @returns {Banner | undefined} */
const refused = ({ status: { error } }) => ({
  level: "page",
  title: "The stream cannot be opened",
  text: [
    visible(error?.message ?? ""),
    `Code ${
      error?.code ?? ""
    }. It is not tried again by itself: put right what the message names, then restart the server.`
  ]
})

/** @param {StreamView} view @returns {Banner | undefined} */
const opening = ({ status: { error } }) => ({
  level: "warn",
  title: "The stream is being opened",
  text: error === undefined
    ? ["Its store is asked for what is there."]
    : [`The last try failed and the next one comes by itself: ${visible(error.message)}`]
})

/** @param {StreamView} view @returns {Banner | undefined} */
const closing = (view) => ({
  level: "warn",
  title: view.status.state === "closed" ? "The log is closed" : "The log is being closed",
  text: ["Appends are refused. What was accepted is stored before the process ends, or reported as lost."],
  facts: [atRisk(view)]
})

/** @param {StreamView} view @returns {Banner | undefined} */
const bufferFull = (view) => {
  const { buffered, spool, state } = view.status
  if (state !== "open" || view.judged.buffer?.level !== "page" || spool !== undefined) return undefined
  return {
    level: "page",
    title: "The buffer is full",
    text: [
      "More comes in than the store takes. Appends wait for room, and are refused with 503 after a while.",
      "More workers, larger segments or compression let the store take more; see the documentation of the settings."
    ],
    facts: [atRisk(view), ["Buffer used", percent(buffered?.bytes ?? 0, buffered?.limit_bytes ?? 0)]]
  }
}

/** @param {StreamView} view @param {number} at @returns {Banner | undefined} */
const bannerOf = (view, at) => {
  switch (view.status.state) {
    case "fenced":
      return fenced(view)
    case "failed":
      return dead(view)
    case "refused":
      return refused(view)
    case "opening":
      return opening(view)
    case "closing":
    case "closed":
      return closing(view)
    case "open":
      return outage(view, at) ?? bufferFull(view)
  }
}

/** @param {Banner} banner @returns {ReadonlyArray<Node>} */
const draw = ({ facts, level, meter, text, title }) => {
  const box = h(
    "section",
    { class: "banner", "data-level": level },
    h("h2", { class: "banner-title" }, title),
    ...text.map((line) => h("p", {}, line))
  )
  if (facts !== undefined) {
    box.append(
      h(
        "dl",
        { class: "banner-facts" },
        ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))
      )
    )
  }
  if (meter !== undefined) box.append(h("div", { class: "meter" }, meterBar(meter.share, meter.label)))
  return [box]
}

/**
 * @param {StreamView} view
 * @param {number} at
 */
export const showBanner = (view, at) => {
  const banner = bannerOf(view, at)
  redraw(container, banner ?? null, () => banner === undefined ? [] : draw(banner))
  // Said once: the numbers below change every second.
  setText(announcer, banner === undefined ? "" : `${view.id}: ${banner.title}`)
}
