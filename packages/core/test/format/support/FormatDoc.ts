/** `docs/format.md` as data: its tables and its fenced blocks, by the heading that they stand under. */
import { readFileSync } from "node:fs"
import { getUint64, toHex, viewOf } from "../../../src/format/Bytes.ts"

const lines = readFileSync(new URL("../../../../../docs/format.md", import.meta.url), "utf8").split("\n")

/** The lines below a heading, up to the next one. */
const section = (heading: string): ReadonlyArray<string> => {
  const start = lines.indexOf(`## ${heading}`)
  if (start < 0) throw new Error(`docs/format.md has no heading ${heading}`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith("## "))
  return end < 0 ? rest : rest.slice(0, end)
}

/** A row by the names of the columns, without backticks. */
export type Row = Readonly<Record<string, string>>

const cells = (line: string): ReadonlyArray<string> =>
  line.split("|").slice(1, -1).map((cell) => cell.trim().replaceAll("`", ""))

/** The tables below a heading, in order. */
const tables = (heading: string): ReadonlyArray<ReadonlyArray<Row>> => {
  const found: Array<Array<Row>> = []
  let head: ReadonlyArray<string> | undefined
  for (const line of section(heading)) {
    if (!line.startsWith("|")) {
      head = undefined
    } else if (head === undefined) {
      head = cells(line)
      found.push([])
    } else if (!/^[|\s-]+$/.test(line)) {
      const values = cells(line)
      found.at(-1)?.push(Object.fromEntries(head.map((name, column) => [name, values[column] ?? ""])))
    }
  }
  return found
}

/** The only, or the nth, table below a heading. */
export const table = (heading: string, nth = 0): ReadonlyArray<Row> => {
  const found = tables(heading)[nth]
  if (found === undefined || found.length === 0) throw new Error(`docs/format.md has no table ${nth} in ${heading}`)
  return found
}

/** The text of the fenced block below a heading. */
export const block = (heading: string): string => {
  const all = section(heading)
  const start = all.findIndex((line) => line.startsWith("```"))
  const end = all.findIndex((line, index) => index > start && line.startsWith("```"))
  if (start < 0 || end < 0) throw new Error(`docs/format.md has no block in ${heading}`)
  return all.slice(start + 1, end).join("\n")
}

/** A number as the page writes it: `16,384`. */
export const numberOf = (text: string | undefined): number => Number((text ?? "").replaceAll(",", ""))

/** What the bytes hold at the offset of a row, read as the row's type says; bytes as hexadecimal digits. */
export const valueAt = (bytes: Uint8Array, row: Row): number | string => {
  const offset = numberOf(row["offset"])
  const size = numberOf(row["size"])
  const view = viewOf(bytes)
  const type = `${row["type"]} of ${size}`
  switch (type) {
    case "u8 of 1":
      return view.getUint8(offset)
    case "u16 of 2":
      return view.getUint16(offset, true)
    case "u32 of 4":
      return view.getUint32(offset, true)
    case "u64 of 8":
      return getUint64(view, offset) ?? Number.NaN
    case "f64 of 8":
      return view.getFloat64(offset, true)
    default:
      if (row["type"] !== "bytes") throw new Error(`docs/format.md: ${row["field"]} is ${type}`)
      return toHex(bytes.subarray(offset, offset + size))
  }
}

/** Fails unless each row starts where the one before ends; answers where the last one ends. */
export const endOfRows = (rows: ReadonlyArray<Row>): number =>
  rows.reduce((end, row) => {
    if (numberOf(row["offset"]) !== end) throw new Error(`docs/format.md: ${row["field"]} does not start at ${end}`)
    return end + numberOf(row["size"])
  }, 0)
