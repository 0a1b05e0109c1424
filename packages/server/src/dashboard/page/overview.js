/** The table of all streams, for servers that have more than one. */
import { byId, h, setAttribute, setText } from "./dom.js"
import { count, dollars, millis, short } from "./format.js"
import { stateWord } from "./levels.js"

/** @import { Model } from "./model.js" */
/** @import { StreamView } from "../Snapshot.ts" */

const section = byId("overview", HTMLElement)
const body = byId("streams", HTMLTableSectionElement)

/** @typedef {{ readonly row: HTMLTableRowElement, readonly chip: HTMLElement, readonly cells: ReadonlyArray<HTMLElement> }} Row */

/** @type {Map<string, Row>} */
const rows = new Map()

/**
 * @param {string} id
 * @param {(id: string) => void} choose
 * @returns {Row}
 */
const makeRow = (id, choose) => {
  const pick = h("button", { type: "button", class: "pick" }, id)
  pick.addEventListener("click", () => choose(id))
  const chip = h("span", { class: "chip" })
  const cells = ["number", "number wide", "number", "number wide", "number wide", "number wide"]
    .map((name) => h("td", { class: name }))
  const row = h("tr", {}, h("td", {}, pick, chip), ...cells)
  return { row, chip, cells }
}

/**
 * @param {StreamView} view
 * @returns {ReadonlyArray<string>}
 */
const valuesOf = ({ activity, status }) => {
  if (status.durable === undefined) return ["–", "–", "–", "–", "–", "–"]
  const lag = Math.max(0, ...Object.values(status.cursors ?? {}).map((cursor) => cursor.lag))
  const cost = activity?.requests.dollars_per_month
  return [
    short(activity?.rates.accepted ?? 0),
    count(status.durable),
    count(status.at_risk?.records ?? 0),
    count(lag),
    activity?.put === null || activity?.put === undefined ? "–" : millis(activity.put.p99_ms),
    cost === undefined ? "–" : dollars(cost)
  ]
}

/**
 * @param {Model} model
 * @param {(id: string) => void} choose
 */
export const showOverview = (model, choose) => {
  section.hidden = model.streams.size < 2
  for (const [id, { row }] of rows) {
    if (model.streams.has(id)) continue
    row.remove()
    rows.delete(id)
  }
  for (const [id, view] of model.streams) {
    const known = rows.get(id) ?? makeRow(id, choose)
    if (!rows.has(id)) body.append(known.row)
    rows.set(id, known)
    setAttribute(known.row, "aria-current", String(id === model.chosen))
    setAttribute(known.chip, "data-level", view.level)
    setText(known.chip, stateWord(view))
    for (const [index, value] of valuesOf(view).entries()) {
      const cell = known.cells[index]
      if (cell !== undefined) setText(cell, value)
    }
  }
}
