/** The numbers that matter most of one stream, each with its thresholds and how it went. */
import { byId, h, redraw } from "./dom.js"
import { count, dollars, duration, millis, percent, short, size } from "./format.js"
import { levelChip, worstOf } from "./levels.js"
import { meterBar, sparkline } from "./spark.js"

/** @import { Activity, Judged, Level, StreamView } from "../Snapshot.ts" */
/** @import { Charts } from "./model.js" */

/**
 * @typedef {object} Tile
 * @property {string} name
 * @property {string} value
 * @property {string} [unit]
 * @property {string} sub
 * @property {string | undefined} [rule]
 * @property {Level | undefined} [level]
 * @property {{ readonly values: ReadonlyArray<number>, readonly text: (value: number) => string, readonly warn?: number | undefined, readonly page?: number | undefined }} [chart]
 * @property {number} [share]
 */

const container = byId("tiles", HTMLElement)

/** @type {Array<HTMLElement>} */
const tiles = []

/**
 * Thresholds in words.
 * @param {Judged | undefined} judged
 * @param {(value: number) => string} text
 */
const ruleOf = (judged, text) => {
  if (judged === undefined) return undefined
  const { page, warn } = judged
  if (warn === undefined) return undefined
  return page === undefined ? `Warns above ${text(warn)}` : `Warns above ${text(warn)}, act above ${text(page)}`
}

/** @param {number} seconds */
const windowName = (seconds) =>
  seconds >= 60 ? "in the last minute" : seconds < 5 ? "so far" : `in the last ${seconds} s`

/** @param {StreamView & { activity: Activity }} view @param {Charts | undefined} charts @returns {Tile} */
const rateTile = ({ activity: { rates } }, charts) => ({
  name: "Accepted",
  value: short(rates.accepted),
  unit: "records/s",
  sub: `${short(rates.durable)} durable/s · ${size(rates.bytes)}/s`,
  chart: { values: charts?.columns.accepted ?? [], text: (value) => `${short(value)}/s` }
})

/** @param {StreamView} view @param {Charts | undefined} charts @returns {Tile} */
const riskTile = ({ judged, status: { at_risk: risk } }, charts) => {
  const { warn, page } = judged.oldest_age_ms ?? {}
  const age = warn === undefined || page === undefined
    ? undefined
    : `or if the oldest waits for more than ${duration(warn)}; act above ${duration(page)}`
  const rules = [ruleOf(judged.at_risk, (value) => `${count(value)} records`), age].filter((rule) => rule !== undefined)
  return {
    name: "At risk now",
    value: count(risk?.records ?? 0),
    unit: risk?.records === 1 ? "record" : "records",
    sub: (risk?.records ?? 0) === 0
      ? "everything accepted is durable"
      : `${size(risk?.bytes ?? 0)} · oldest ${duration(risk?.oldest_age_ms ?? 0)}`,
    rule: rules.join(", "),
    level: worstOf([judged.at_risk, judged.oldest_age_ms]),
    chart: { values: charts?.columns.at_risk ?? [], text: short, warn: judged.at_risk?.warn }
  }
}

/** @param {StreamView & { activity: Activity }} view @param {Charts | undefined} charts @returns {Tile} */
const putTile = ({ activity: { put, rates, window_s: seconds }, judged }, charts) => ({
  name: "PUT latency, p99",
  value: put === null ? "–" : millis(put.p99_ms),
  sub: put === null
    ? `no PUT ${windowName(seconds)}`
    : `p50 ${millis(put.p50_ms)} · p95 ${millis(put.p95_ms)} · ${short(rates.puts)} PUTs/s`,
  rule: "Warns above 200 ms, act above 500 ms",
  level: judged.put_p99_ms?.level,
  chart: { values: charts?.columns.put_p99_ms ?? [], text: millis, warn: 200, page: 500 }
})

/** @param {StreamView} view @param {Charts | undefined} charts @returns {Tile} */
const lagTile = ({ judged, status }, charts) => {
  const cursors = Object.entries(status.cursors ?? {}).toSorted(([, left], [, right]) => right.lag - left.lag)
  const [slowest] = cursors
  return {
    name: "Cursor lag",
    value: count(slowest?.[1].lag ?? 0),
    unit: slowest?.[1].lag === 1 ? "record" : "records",
    sub: slowest === undefined || slowest[1].lag === 0
      ? "every cursor is at the durable end"
      : `slowest: ${slowest[0]}, at ${count(slowest[1].seq)}`,
    rule: ruleOf(judged.lag, (value) => `${count(value)} records`),
    level: judged.lag?.level,
    chart: { values: charts?.columns.lag ?? [], text: short, warn: judged.lag?.warn }
  }
}

/** @param {StreamView} view @returns {Tile} */
const bufferTile = ({ judged, settings, status: { buffered, segments } }) => {
  const used = buffered?.bytes ?? 0
  const limit = buffered?.limit_bytes ?? 0
  const queue = buffered?.queued_segments ?? 0
  return {
    name: "Buffer and queue",
    value: percent(used, limit),
    unit: `of ${size(limit)}`,
    sub: `${count(queue)}${settings === undefined ? "" : ` of ${count(settings.queue_segments)}`} segments queued · ` +
      `${count(segments?.in_flight ?? 0)} in flight`,
    rule: "Warns above 50 %, act above 90 %, of buffer or queue",
    level: worstOf([judged.buffer, judged.queue]),
    share: limit === 0 ? 0 : used / limit
  }
}

/** @param {StreamView} view @returns {Tile | undefined} */
const spoolTile = ({ judged, status: { spool } }) =>
  spool === undefined ? undefined : {
    name: "Spool on disk",
    value: percent(spool.bytes, spool.limit_bytes),
    unit: `of ${size(spool.limit_bytes)}`,
    sub: spool.problem ?? `${count(spool.records)} records in ${count(spool.segments)} segments`,
    rule: "Warns above 50 %, act above 90 %",
    level: spool.problem === undefined ? judged.spool?.level : "page",
    share: spool.limit_bytes === 0 ? 0 : spool.bytes / spool.limit_bytes
  }

/** @param {StreamView & { activity: Activity }} view @returns {Tile} */
const retryTile = ({ activity: { conflicts, retries, window_s: seconds }, judged }) => {
  const classes = Object.entries(retries).filter(([, { window }]) => window > 0)
  const tries = classes.reduce((sum, [, { window }]) => sum + window, 0)
  return {
    name: `Retries ${windowName(seconds)}`,
    value: count(tries),
    sub: [
      ...classes.map(([name, { window }]) => `${name} ${count(window)}`),
      `${count(conflicts.window)} manifest conflicts`
    ].join(" · "),
    rule: `${ruleOf(judged.retries, count) ?? ""}, or at a manifest conflict`,
    level: worstOf([judged.retries, judged.conflicts])
  }
}

/** @param {StreamView & { activity: Activity }} view @returns {Tile} */
const compressionTile = ({ activity: { compression, segment_bytes: bytes }, settings }) => ({
  name: "Compression",
  value: compression.ratio === null ? "–" : `${compression.ratio.toFixed(compression.ratio < 10 ? 2 : 1)} ×`,
  sub: compression.ratio === null
    ? "no segment stored yet"
    : `${size(compression.raw_bytes)} stored as ${size(compression.stored_bytes)}`,
  rule: [
    settings === undefined ? "" : `Codec ${settings.compression}`,
    bytes.window === null ? "" : `segments of ${size(bytes.window)} in the mean`
  ].filter((text) => text !== "").join(", ")
})

/** @param {StreamView & { activity: Activity }} view @returns {Tile} */
const costTile = ({ activity: { rates, requests, window_s: seconds }, judged, settings }) => {
  const { gets, lists, puts } = requests.per_month
  const isCharged = requests.dollars_per_month !== undefined
  return {
    name: isCharged ? "Requests at this rate" : "Writes at this rate",
    value: isCharged ? dollars(requests.dollars_per_month ?? 0) : short(rates.puts),
    unit: isCharged ? "a month" : "PUTs/s",
    sub: isCharged
      ? `${short(puts)} PUTs · ${short(gets)} GETs · ${short(lists)} LISTs`
      : settings === undefined
      ? `${short(puts)} a month`
      : "on a disk, where requests cost nothing",
    rule: [
      ruleOf(judged.puts_per_second, (value) => `${short(value)} PUTs/s`),
      isCharged ? requests.prices : undefined,
      seconds >= 5 && seconds < 60 ? `measured over ${seconds} s only` : undefined
    ].filter((text) => text !== undefined).join("; "),
    level: judged.puts_per_second?.level
  }
}

/** @param {Tile} tile @returns {ReadonlyArray<Node>} */
const draw = ({ chart, level, name, rule, share, sub, unit, value }) => {
  const parts = [
    h("div", { class: "tile-head" }, h("h2", {}, name), levelChip(level)),
    h(
      "p",
      { class: "tile-value" },
      value,
      unit === undefined ? undefined : h("span", { class: "tile-unit" }, ` ${unit}`)
    ),
    h("p", { class: "tile-sub" }, sub)
  ]
  if (share !== undefined) parts.push(h("div", { class: "meter" }, meterBar(share, `${name}: ${value}`)))
  if (rule !== undefined && rule !== "") parts.push(h("p", { class: "tile-rule" }, rule))
  if (chart === undefined) return parts
  const highest = chart.text(Math.max(0, ...chart.values))
  const span = duration(Math.max(1, chart.values.length) * 5_000)
  const label = `${name}, the last ${span}: now ${value}, highest ${highest}`
  return [
    ...parts.slice(0, 3),
    sparkline(chart.values, { label, warn: chart.warn, page: chart.page }),
    h("p", { class: "spark-note" }, h("span", {}, `last ${span}`), h("span", {}, `highest ${highest}`)),
    ...parts.slice(3)
  ]
}

/** @param {StreamView} view @param {Charts | undefined} charts @returns {ReadonlyArray<Tile>} */
const tilesOf = (view, charts) => {
  const { activity } = view
  if (view.status.durable === undefined) return []
  const spool = spoolTile(view)
  const disk = spool === undefined ? [] : [spool]
  if (activity === undefined) return [riskTile(view, charts), lagTile(view, charts), bufferTile(view), ...disk]
  const active = { ...view, activity }
  return [
    rateTile(active, charts),
    riskTile(view, charts),
    putTile(active, charts),
    lagTile(view, charts),
    bufferTile(view),
    ...disk,
    retryTile(active),
    compressionTile(active),
    costTile(active)
  ]
}

/**
 * @param {StreamView} view
 * @param {Charts | undefined} charts
 */
export const showTiles = (view, charts) => {
  const shown = tilesOf(view, charts)
  while (tiles.length > shown.length) tiles.pop()?.remove()
  for (const [index, tile] of shown.entries()) {
    const element = tiles[index] ?? container.appendChild(h("section", { class: "tile" }))
    tiles[index] = element
    element.dataset["level"] = tile.level ?? "none"
    redraw(element, tile, () => draw(tile))
  }
}
