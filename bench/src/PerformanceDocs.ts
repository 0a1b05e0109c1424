/**
 * The measurements in `docs/performance.md`. People write its text; what stands between `<!-- bench NAME -->` and
 * `<!-- end -->` is written here, from the results that are kept.
 */
import type { Results } from "./Results.ts"
import { cellsOf, heads } from "./Table.ts"

const block = /<!-- bench (\w+) -->\n[\s\S]*?<!-- end -->/g

const rowOf = (cells: ReadonlyArray<string>): string =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`

const measured = ({ lines, machines }: Results, name: string): string => {
  const machine = machines[name]
  const ours = lines.filter(({ bench }) => bench === name)
  if (machine === undefined || ours.length === 0) return "Not measured yet."
  const { cores, date, memoryGigabytes, node, processor } = machine
  const columns = heads.slice(1)
  const notes = ours.flatMap(({ metric, note }) => note === undefined ? [] : [`- ${metric}: ${note}.`])
  return [
    `\`pnpm bench ${name}\`, ${date}, ${processor}, ${cores} cores, ${memoryGigabytes} GB, Node ${node}:`,
    "",
    rowOf(columns),
    rowOf(columns.map(() => "---")),
    ...ours.map((line) => rowOf(cellsOf(line).slice(1))),
    ...(notes.length === 0 ? [] : ["", ...notes])
  ].join("\n")
}

/** The text with its blocks written anew. */
export const withResults = (text: string, results: Results): string =>
  text.replace(block, (_, name: string) => `<!-- bench ${name} -->\n\n${measured(results, name)}\n\n<!-- end -->`)

/** The benchmarks that have a block. */
export const benchesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(block)].map(([, name]) => name ?? "")
