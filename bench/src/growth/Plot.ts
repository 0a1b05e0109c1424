/** A curve as an SVG file: both axes logarithmic, so that flat is level and linear is a slope of 45 degrees or so. */
import { meets } from "../Line.ts"
import { shown } from "../Table.ts"
import { type Axis, type Curve, type CurveLine, spreadAt } from "./Curve.ts"

const width = 720
const left = 76
const right = 24
const plotHeight = 260
const rowHeight = 18
const headHeight = 34

/** A decade of the axis, as people write it: 1 to 100, 1k, 10k, 1M; small ones as they are. */
const decadeText = (exponent: number): string => {
  if (exponent < 0) return String(Number((10 ** exponent).toPrecision(1)))
  const units = ["", "k", "M", "G", "T"]
  return `${10 ** (exponent % 3)}${units[Math.floor(exponent / 3)] ?? `e${exponent - exponent % 3}`}`
}

const axisText = ({ label, unit }: Axis): string => unit === undefined ? label : `${label}, ${unit}`

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

/** From a value to its place, over whole decades, at least two of them. */
interface Scale {
  readonly first: number
  readonly last: number
  readonly at: (value: number) => number
}

const scaleOf = (values: ReadonlyArray<number>, from: number, to: number): Scale => {
  const logs = values.filter((value) => value > 0).map(Math.log10)
  const first = Math.floor(Math.min(...logs) + 1e-9)
  const last = Math.max(first + 2, Math.ceil(Math.max(...logs) - 1e-9))
  // What is not above 0 has no place on such an axis: it is drawn at its end.
  const share = (value: number) => (Math.log10(Math.max(value, 10 ** first)) - first) / (last - first)
  return { first, last, at: (value) => from + (to - from) * share(value) }
}

const text = (x: number, y: number, content: string, attributes = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${attributes}>${escaped(content)}</text>`

const line = (name: string, from: readonly [number, number], to: readonly [number, number]): string =>
  `<line class="${name}" x1="${from[0].toFixed(1)}" y1="${from[1].toFixed(1)}" x2="${to[0].toFixed(1)}" y2="${
    to[1].toFixed(1)
  }"/>`

const decades = ({ first, last }: Scale): ReadonlyArray<number> =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

const axes = (curve: Curve, x: Scale, y: Scale, box: { readonly top: number; readonly bottom: number }) => {
  const { bottom, top } = box
  const end = width - right
  const middle = (top + bottom) / 2
  return [
    ...decades(x).flatMap((exponent) => {
      const at = x.at(10 ** exponent)
      return [line("grid", [at, top], [at, bottom]), text(at, bottom + 16, decadeText(exponent), " class=\"middle\"")]
    }),
    ...decades(y).flatMap((exponent) => {
      const at = y.at(10 ** exponent)
      return [line("grid", [left, at], [end, at]), text(left - 8, at + 4, decadeText(exponent), " class=\"end\"")]
    }),
    text((left + end) / 2, bottom + 34, axisText(curve.x), " class=\"middle\""),
    text(14, middle, axisText(curve.y), ` class="middle" transform="rotate(-90 14 ${middle})"`)
  ]
}

/** The line through the medians, a mark at each, and a bar over the middle half of the rounds. */
const drawn = ({ points }: CurveLine, index: number, x: Scale, y: Scale): ReadonlyArray<string> => {
  const places = points.map((point) => {
    const { high, low, median } = spreadAt(point)
    return { x: x.at(point.x), y: y.at(median), low: y.at(low), high: y.at(high) }
  })
  const path = places.map((place) => `${place.x.toFixed(1)},${place.y.toFixed(1)}`).join(" ")
  return [
    `<g class="line${index}">`,
    `<polyline class="plain" points="${path}"/>`,
    ...places.map((place) => line("spread", [place.x, place.low], [place.x, place.high])),
    ...places.map((place) => `<circle cx="${place.x.toFixed(1)}" cy="${place.y.toFixed(1)}" r="3.5"/>`),
    "</g>"
  ]
}

const legend = (lines: ReadonlyArray<CurveLine>, top: number): ReadonlyArray<string> =>
  lines.flatMap(({ name }, index) => [
    `<g class="line${index}">`,
    line("key", [left, top + index * rowHeight - 4], [left + 20, top + index * rowHeight - 4]),
    "</g>",
    text(left + 28, top + index * rowHeight, name)
  ])

const verdicts = (curve: Curve, top: number): ReadonlyArray<string> =>
  curve.verdicts.flatMap(({ better, goal, metric, unit, value }, index) => {
    const against = goal === undefined ? "" : `, goal ${better === "lower" ? "≤" : "≥"} ${shown(goal)}`
    const ok = goal === undefined ? "" : meets(value, goal, better) ? " ✓" : " ✗ missed"
    const measured = `${shown(value.median)} ${unit}`.trimEnd()
    return [text(left, top + index * rowHeight, `${metric}: ${measured}${against}${ok}`)]
  })

/** One after the other, on light and on dark: told apart on both, also by who sees no red or no green. */
const colours = [["#0550ae", "#79c0ff"], ["#b35900", "#ffa657"], ["#1a7f37", "#7ee787"]] as const

const coloursOf = (theme: 0 | 1): string =>
  colours.map((both, index) => `.line${index} { stroke: ${both[theme]}; fill: ${both[theme]} }`).join("\n")

const style = `<style>
svg { color: #1f2328 }
${coloursOf(0)}
text { fill: currentColor; font: 12px system-ui, sans-serif }
.title { font-size: 15px; font-weight: 600 }
.middle { text-anchor: middle }
.end { text-anchor: end }
.grid { stroke: currentColor; stroke-opacity: 0.15 }
.plain { fill: none; stroke-width: 2 }
.spread, .key { stroke-width: 2 }
@media (prefers-color-scheme: dark) {
svg { color: #e6edf3 }
${coloursOf(1)}
}
</style>`

/** The whole file. */
export const svgOf = (curve: Curve): string => {
  const top = headHeight + curve.lines.length * rowHeight
  const bottom = top + plotHeight
  const height = bottom + 52 + curve.verdicts.length * rowHeight
  const points = curve.lines.flatMap((one) => one.points)
  const x = scaleOf(points.map((point) => point.x), left, width - right)
  const y = scaleOf(points.flatMap(({ rounds }) => rounds), bottom, top)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(curve.title)}</title>`,
    style,
    text(left, 20, curve.title, " class=\"title\""),
    ...legend(curve.lines, headHeight + 6),
    ...axes(curve, x, y, { top, bottom }),
    ...curve.lines.flatMap((one, index) => drawn(one, index, x, y)),
    ...verdicts(curve, bottom + 58),
    "</svg>"
  ]
  return `${parts.join("\n")}\n`
}
