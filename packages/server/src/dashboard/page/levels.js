/** Levels in words, and chips that show them. */
import { h } from "./dom.js"

/** @import { Judged, Level, StreamView } from "../Snapshot.ts" */

/** @type {Readonly<Record<Level, string>>} */
const levelWords = { ok: "OK", warn: "Warning", page: "Act now" }

/** @type {Readonly<Record<Level, string>>} */
export const levelSigns = { ok: "", warn: "▲ ", page: "■ " }

/** @type {Readonly<Record<Level, number>>} */
const ranks = { ok: 0, warn: 1, page: 2 }

/**
 * The gravest of what is there; `undefined` where nothing is judged.
 * @param {ReadonlyArray<Judged | undefined>} judged
 * @returns {Level | undefined}
 */
export const worstOf = (judged) => {
  /** @type {Level | undefined} */
  let worst
  for (const one of judged) {
    if (one !== undefined && (worst === undefined || ranks[one.level] > ranks[worst])) worst = one.level
  }
  return worst
}

/**
 * @param {Level | undefined} level
 */
export const levelChip = (level) =>
  level === undefined ? undefined : h("span", { class: "chip", "data-level": level }, levelWords[level])

const stateWords = {
  opening: "Opening",
  refused: "Cannot open",
  open: "Healthy",
  closing: "Closing",
  closed: "Closed",
  fenced: "Fenced",
  failed: "Dead"
}

/**
 * What a stream is like, in a word: its state, or how an open one is doing.
 * @param {StreamView} view
 */
export const stateWord = ({ level, status }) =>
  status.state === "open" && level !== "ok" ? levelWords[level] : stateWords[status.state]
