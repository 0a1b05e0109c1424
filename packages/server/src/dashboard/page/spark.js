/** A small chart of a column of numbers, the newest on the right. */
import { svg } from "./dom.js"

const width = 240
const height = 44

/** Fewer points than this do not fill the chart: a line of three points would look like a trend. */
const fewest = 24

/**
 * @param {ReadonlyArray<number>} values
 * @param {{ readonly label: string, readonly warn?: number | undefined, readonly page?: number | undefined }} options `warn` and `page` are drawn where values come near them
 * @returns {SVGSVGElement}
 */
export const sparkline = (values, { label, page, warn }) => {
  const highest = Math.max(...values, 0)
  // Without anything to see, the base line is all there is.
  const top = highest === 0 ? 1 : highest * 1.1
  const step = width / (Math.max(values.length, fewest) - 1)
  const left = width - step * (values.length - 1)
  /** @param {number} value */
  const y = (value) => (height - 1 - value / top * (height - 3)).toFixed(1)
  const line = values.map((value, index) => `${(left + index * step).toFixed(1)},${y(value)}`)
  /** @type {ReadonlyArray<readonly [string, number | undefined]>} */
  const marks = [["spark-warn", warn], ["spark-page", page]]
  const shown = marks.flatMap(([name, value]) =>
    value !== undefined && value <= top
      ? [svg("line", { class: name, x1: "0", x2: String(width), y1: y(value), y2: y(value) })]
      : []
  )
  const chart = svg(
    "svg",
    {
      class: "spark",
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label
    },
    svg("line", { class: "spark-base", x1: "0", x2: String(width), y1: String(height - 1), y2: String(height - 1) }),
    ...shown
  )
  if (values.length > 1 && highest > 0) {
    chart.append(
      svg("path", {
        class: "spark-area",
        d: `M${left.toFixed(1)},${height - 1}L${line.join("L")}L${width},${height - 1}Z`
      }),
      svg("path", { class: "spark-line", d: `M${line.join("L")}` })
    )
  }
  return chart
}

/**
 * How full something is.
 * @param {number} share from 0 to 1
 * @param {string} label
 * @returns {SVGSVGElement}
 */
export const meterBar = (share, label) =>
  svg(
    "svg",
    { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("rect", { x: "0", y: "0", height: "10", width: String(Math.min(100, Math.max(0, share * 100))) })
  )
