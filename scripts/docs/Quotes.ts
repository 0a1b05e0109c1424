/** Tables that a page takes from another one. */
import { readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { markedParts, type Page, root, tableRows } from "./Markdown.ts"

const rowText = (cells: ReadonlyArray<string>): string => cells.join(" | ")

/** Rows between `<!-- rows of FILE -->` and `<!-- end -->` that the file does not have, word for word. */
export const foreignRows = ({ path, text }: Pick<Page, "path" | "text">): ReadonlyArray<string> =>
  markedParts(text, "rows of").flatMap(({ body, rest }) => {
    const source = normalize(join(dirname(path), rest))
    const known = new Set(tableRows(readFileSync(join(root, source), "utf8")).map(rowText))
    const rows = tableRows(body).map(rowText)
    return rows.length === 0
      ? [`${path}: a quotation of ${source} without rows`]
      : rows.filter((row) => !known.has(row)).map((row) => `${path}: not in ${source}: ${row}`)
  })
