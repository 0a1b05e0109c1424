/** What the page knows: the last state of every stream, with its charts. */

/** @import { FeedEvent, History, Point, ServerView, StreamView } from "../Snapshot.ts" */

const pointMillis = 5_000
const mostPoints = 120

/** @type {ReadonlyArray<keyof Point>} */
const columns = ["accepted", "at_risk", "put_p99_ms", "lag"]

/** @typedef {{ slot: number, readonly columns: Record<keyof Point, Array<number>> }} Charts */

/**
 * @typedef {object} Model
 * @property {number} at the server's time of the last event, epoch milliseconds
 * @property {ServerView | undefined} server
 * @property {Map<string, StreamView>} streams
 * @property {Map<string, Charts>} charts
 * @property {string} chosen the id of the stream that is shown
 */

/** @returns {Model} */
export const emptyModel = () => ({ at: 0, server: undefined, streams: new Map(), charts: new Map(), chosen: "" })

/**
 * The newest point of a stream.
 * @param {StreamView} view
 * @returns {Point}
 */
const pointOf = ({ activity, status }) => ({
  accepted: activity?.rates.accepted ?? 0,
  at_risk: status.at_risk?.records ?? 0,
  put_p99_ms: activity?.put?.p99_ms ?? 0,
  lag: Math.max(0, ...Object.values(status.cursors ?? {}).map(({ lag }) => lag))
})

/**
 * The highest value of each five seconds, as the server keeps them.
 * @param {Charts} charts
 * @param {number} at
 * @param {Point} point
 */
const addPoint = (charts, at, point) => {
  const slot = Math.floor(at / pointMillis)
  for (const name of columns) {
    const values = charts.columns[name]
    if (slot > charts.slot || values.length === 0) values.push(point[name])
    else values[values.length - 1] = Math.max(values[values.length - 1] ?? 0, point[name])
    if (values.length > mostPoints) values.shift()
  }
  charts.slot = Math.max(charts.slot, slot)
}

/**
 * @param {History} history
 * @param {number} at
 * @returns {Charts}
 */
const chartsOf = (history, at) => ({
  slot: Math.floor(at / pointMillis),
  columns: {
    accepted: [...history.accepted],
    at_risk: [...history.at_risk],
    put_p99_ms: [...history.put_p99_ms],
    lag: [...history.lag]
  }
})

/**
 * Takes an event over. The first one of a connection has everything, and what is not in it is gone.
 * @param {Model} model
 * @param {FeedEvent} event
 */
export const update = (model, event) => {
  model.at = event.at
  if (event.server !== undefined) model.server = event.server
  if (event.history !== undefined) {
    model.streams.clear()
    model.charts.clear()
    for (const [id, history] of Object.entries(event.history)) model.charts.set(id, chartsOf(history, event.at))
  }
  for (const stream of event.streams ?? []) model.streams.set(stream.id, stream)
  for (const [id, stream] of model.streams) {
    const charts = model.charts.get(id)
    if (charts !== undefined) addPoint(charts, event.at, pointOf(stream))
  }
  if (!model.streams.has(model.chosen)) model.chosen = [...model.streams.keys()][0] ?? ""
}

/**
 * The stream so many places after the chosen one.
 * @param {Model} model
 * @param {number} step
 */
export const neighbour = (model, step) => {
  const ids = [...model.streams.keys()]
  const at = ids.indexOf(model.chosen)
  return ids[Math.min(ids.length - 1, Math.max(0, at + step))] ?? model.chosen
}
