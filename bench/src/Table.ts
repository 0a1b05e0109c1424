/** The lines of a run as people read them. */
import type { BenchLine } from "./Line.ts"

/** A figure with as many digits as mean something. */
export const shown = (value: number): string => {
  const size = Math.abs(value)
  if (size >= 1_000) return Math.round(value).toLocaleString("en-US")
  return size >= 100 ? value.toFixed(0) : size >= 1 ? value.toFixed(2) : value.toPrecision(2)
}

/** One line, in the order of `heads`. */
export const cellsOf = (line: BenchLine): ReadonlyArray<string> => {
  const against = line.floor ?? line.peer
  return [
    line.bench,
    line.metric,
    `${shown(line.value)} ${line.unit}`,
    line.rounds > 1 ? `${shown(line.low)} – ${shown(line.high)}` : "",
    line.goal === null ? "" : `${line.better === "higher" ? "≥" : "≤"} ${shown(line.goal)}`,
    line.ok === null ? "" : line.ok ? "met" : "missed",
    against === null ? "" : `${against.name} ${shown(against.value)} ${against.unit}`
  ]
}

/** What the columns are. */
export const heads = ["bench", "what", "median", "middle half", "goal", "", "against"]

/** Columns of text. */
export const tableText = (lines: ReadonlyArray<BenchLine>): string => {
  const rows = [heads, ...lines.map(cellsOf)]
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()).join("\n")
}
