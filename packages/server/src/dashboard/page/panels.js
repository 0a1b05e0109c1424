/** The rest of one stream: who it is, where its log stands, its cursors, its store and its epochs. */
import { byId, definitions, h, redraw, setAttribute, setText } from "./dom.js"
import { count, duration, short, size } from "./format.js"
import { stateWord } from "./levels.js"

/** @import { StreamView } from "../Snapshot.ts" */

const name = byId("stream-name", HTMLElement)
const state = byId("stream-state", HTMLElement)
const facts = byId("stream-facts", HTMLElement)
const positions = byId("positions", HTMLElement)
const cursors = byId("cursors", HTMLElement)
const store = byId("store", HTMLElement)
const epochs = byId("epochs", HTMLElement)

const storeNames = { s3: "S3", directory: "directory store", local: "local disk" }

/** @param {StreamView} view */
const showTitle = (view) => {
  const { settings, status } = view
  setText(name, view.id)
  setAttribute(state, "data-level", view.level)
  setText(state, stateWord(view))
  const parts = [
    status.node_id === undefined ? "" : `node ${status.node_id}`,
    status.epoch === undefined ? "" : `epoch ${status.epoch}`,
    ...settings === undefined ? [] : [
      storeNames[settings.store],
      `${settings.preset ?? "own settings"}: ${count(settings.max_entries)} records, ${size(settings.max_bytes)} or ` +
      `${duration(settings.flush_interval_ms)} a segment`,
      `${settings.workers} ${settings.workers === 1 ? "worker" : "workers"} of depth ${settings.pipeline_depth}`
    ]
  ]
  setText(facts, parts.filter((part) => part !== "").join(" · "))
}

/** @param {StreamView} view @returns {ReadonlyArray<readonly [string, string]>} */
const positionsOf = ({ status }) => {
  if (status.durable === undefined) return []
  const marks = Object.values(status.cursors ?? {}).map(({ seq }) => seq)
  return [
    ["Accepted to", count(status.last_accepted ?? 0)],
    ...status.spool === undefined ? [] : [/** @type {const} */ (["Spooled to", count(status.spooled ?? 0)])],
    ["Durable to", count(status.durable)],
    ["Committed to", count(marks.length === 0 ? 0 : Math.min(...marks))],
    ["Trimmed to", count(status.trimmed_to ?? 0)]
  ]
}

/** @param {StreamView} view */
const showPositions = (view) => {
  const shown = positionsOf(view)
  positions.hidden = shown.length === 0
  redraw(positions, shown, () => shown.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))))
}

/** @param {StreamView} view */
const showCursors = ({ status }) => {
  const all = Object.entries(status.cursors ?? {})
  redraw(cursors, [all, status.held_back_by], () => {
    if (all.length === 0) return [h("p", { class: "muted" }, "None while the log is not open.")]
    const rows = all.map(([cursor, { lag, persisted, seq }]) =>
      h(
        "tr",
        {},
        h("td", {}, cursor),
        h("td", { class: "number" }, count(seq)),
        h("td", { class: "number" }, count(persisted)),
        h("td", { class: "number" }, count(lag))
      )
    )
    const head = h(
      "tr",
      {},
      h("th", { scope: "col" }, "Name"),
      h("th", { scope: "col", class: "number" }, "At"),
      h("th", { scope: "col", class: "number" }, "Stored"),
      h("th", { scope: "col", class: "number" }, "Lag")
    )
    const table = h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))
    return status.held_back_by === undefined
      ? [table]
      : [table, h("p", { class: "tile-rule" }, `${status.held_back_by} holds back deletion.`)]
  })
}

/** @param {StreamView} view @returns {ReadonlyArray<readonly [string, string]>} */
const storeLines = ({ activity, status }) => {
  if (activity === undefined) return []
  const { total } = activity.requests
  const retries = Object.entries(activity.retries)
  return [
    ["Segments durable", count(status.segments?.durable ?? 0)],
    ["Mean segment", activity.segment_bytes.total === null ? "–" : size(activity.segment_bytes.total)],
    ["Requests since opening", `${short(total.puts)} PUT · ${short(total.gets)} GET · ${short(total.lists)} LIST`],
    ["Deletions", count(total.removes)],
    ...retries.map(([reason, occurred]) => /** @type {const} */ ([`Retries: ${reason}`, count(occurred.total)])),
    ["Manifest stored", `${count(activity.manifest_commits)} times`],
    ["Manifest conflicts", count(activity.conflicts.total)]
  ]
}

/** @param {StreamView} view */
const showStore = (view) => {
  const lines = storeLines(view)
  redraw(store, lines, () =>
    lines.length === 0
      ? [h("p", { class: "muted" }, "Nothing is counted while the log is not open.")]
      : [definitions("lines", lines)])
}

/** @param {StreamView} view */
const showEpochs = ({ activity, epochs: shown, epochs_total: total }) => {
  redraw(epochs, [shown, total, activity?.takeovers], () => {
    if (shown.length === 0) return [h("p", { class: "muted" }, "None while the log is not open.")]
    const lines = shown.toReversed().map(({ end, epoch, last_seq: last }) => /** @type {const} */ ([
      `Epoch ${epoch}`,
      end === null
        ? "being written"
        : last === null || last === 0
        ? `ended at slot ${count(end)}`
        : `ended at slot ${count(end)}, record ${count(last)}`
    ]))
    const takeovers = activity === undefined
      ? []
      : [h(
        "p",
        { class: "tile-rule" },
        activity.takeovers === 0
          ? "Opening this log ended nobody’s epoch."
          : "Opening this log took over from an earlier writer."
      )]
    const more = total > shown.length
      ? [h("p", { class: "tile-rule" }, `and ${count(total - shown.length)} before`)]
      : []
    return [definitions("lines", lines), ...more, ...takeovers]
  })
}

/** @param {StreamView} view */
export const showPanels = (view) => {
  showTitle(view)
  showPositions(view)
  showCursors(view)
  showStore(view)
  showEpochs(view)
}
