/** A curve: how one quantity grows with another, and what it must be, flat or linear. */
import type { Measurement } from "../Line.ts"
import { pairedRatios, type Spread, spreadOf } from "../Stats.ts"
import { shown } from "../Table.ts"

export interface CurvePoint {
  readonly x: number
  /** What was measured there, round by round: rounds of different points belong together. */
  readonly rounds: ReadonlyArray<number>
}

export interface CurveLine {
  readonly name: string
  /** Ascending. */
  readonly points: ReadonlyArray<CurvePoint>
}

/** What an axis counts. */
export interface Axis {
  readonly label: string
  /** Absent where the label says it. */
  readonly unit?: string
}

export interface Curve {
  /** The name of its file, without an ending. */
  readonly name: string
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly lines: ReadonlyArray<CurveLine>
  /** What the lines show, against their goals. */
  readonly verdicts: ReadonlyArray<Measurement>
}

/** How far the last point of a line that must be flat may be above an earlier one. */
const flatGoal = 1.5
/** How far the exponent of a line that must be linear may be from 1. */
const linearGoal = 0.2

interface Verdict {
  readonly metric: string
  /** The point that counts as the start; the first one when absent. */
  readonly from?: number
  readonly goal?: number
  readonly note?: string
}

const pointsFrom = ({ name, points }: CurveLine, from: number): ReadonlyArray<CurvePoint> => {
  const some = points.filter(({ x }) => x >= from)
  if (some.length < 2) throw new Error(`${name}: ${some.length} points from ${from} on are no curve`)
  return some
}

/** The last point against an earlier one. */
export const flat = (line: CurveLine, { from = 0, goal = flatGoal, metric, note }: Verdict): Measurement => {
  const points = pointsFrom(line, from)
  const [first, last] = [points[0], points.at(-1)]
  const says = `at ${shown(last?.x ?? 0)} against at ${shown(first?.x ?? 0)}`
  return {
    metric: `${metric}: last point against first`,
    value: spreadOf(pairedRatios(last?.rounds ?? [], first?.rounds ?? [])),
    unit: "x",
    better: "lower",
    goal,
    note: note === undefined ? says : `${says}; ${note}`
  }
}

/** The slope of the straight line through the points, both axes logarithmic, that is nearest to them (least squares). */
export const exponentOf = (points: ReadonlyArray<{ readonly x: number; readonly y: number }>): number => {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }))
  const mean = (of: "x" | "y") => logs.reduce((sum, point) => sum + point[of], 0) / logs.length
  const [meanX, meanY] = [mean("x"), mean("y")]
  const together = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  return together / logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
}

/** How far the growth of a line is from linear: the distance of its exponent from 1. */
export const linear = (line: CurveLine, { from = 0, goal = linearGoal, metric, note }: Verdict): Measurement => {
  const points = pointsFrom(line, from)
  const rounds = Math.min(...points.map((point) => point.rounds.length))
  const exponents = Array.from(
    { length: rounds },
    (_, round) => exponentOf(points.map((point) => ({ x: point.x, y: point.rounds[round] ?? Number.NaN })))
  )
  const says = `grows as the power ${shown(spreadOf(exponents).median)}`
  return {
    metric: `${metric}: exponent away from 1`,
    value: spreadOf(exponents.map((exponent) => Math.abs(exponent - 1))),
    unit: "",
    better: "lower",
    goal,
    note: note === undefined ? says : `${says}; ${note}`
  }
}

/** Median and quartiles of a point. */
export const spreadAt = (point: CurvePoint): Spread => spreadOf(point.rounds)
