/**
 * What a command prints: a table or lines for people, JSON for programs, from one description of the columns.
 *
 * JSON has one value a line (NDJSON where there are several), with the names of the columns as keys, in their order, and
 * raw values: bytes, milliseconds, epoch milliseconds. Results go to stdout, everything else to stderr.
 */
import { Console, Effect } from "effect"
import { CliOutput, Flag, GlobalFlag } from "effect/cli"
import { type Cell, humanText, isRightAligned, type Kind } from "./HumanText.ts"

/** `--json`: a flag of every command, and the service that says whether it was given. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Print JSON for programs, also of errors; sizes in bytes, durations in ms"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  )
})

/** What an effect needs that asks whether `--json` was given. */
export type JsonFlag = GlobalFlag.Setting.Identifier<"json">

/** One column of a table, or one line of a single thing. */
export interface Column<Row> {
  /** The key in JSON, `snake_case` with its unit: `size_bytes`, `age_ms`. */
  readonly name: string
  /** For people. Default: the name without unit and underscores. */
  readonly title?: string
  readonly kind: Kind
  /** Raw: bytes, milliseconds. `undefined` is left out of JSON, `null` stays. */
  readonly value: (row: Row) => Cell
}

/** Something to print, in both forms. */
export interface View {
  readonly text: () => string
  /** One line each. */
  readonly json: ReadonlyArray<unknown>
}

const titleOf = ({ name, title }: Pick<Column<never>, "name" | "title">): string =>
  title ?? name.replace(/_(ms|bytes)$/, "").replaceAll("_", " ")

const pad = (text: string, width: number, right: boolean): string => {
  const blanks = " ".repeat(Math.max(0, width - CliOutput.displayWidth(text)))
  return right ? blanks + text : text + blanks
}

/** Lines of cells with two blanks between columns; `right` says which columns stand at the right. */
const align = (lines: ReadonlyArray<ReadonlyArray<string>>, right: ReadonlyArray<boolean>): string => {
  const widths = right.map((_, index) => Math.max(...lines.map((line) => CliOutput.displayWidth(line[index] ?? ""))))
  return lines
    .map((line) => line.map((cell, index) => pad(cell, widths[index] ?? 0, right[index] === true)).join("  ").trimEnd())
    .join("\n")
}

const jsonOf = <Row>(columns: ReadonlyArray<Column<Row>>, row: Row): Readonly<Record<string, Cell>> =>
  Object.fromEntries(columns.map((column) => [column.name, column.value(row)]))

/** Several things of one kind: a table with a head, or a JSON object a line. `empty` is the text where there is none. */
export const rowsView = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  empty = "nothing to show"
): View => ({
  text: () =>
    rows.length === 0 ? empty : align(
      [columns.map(titleOf), ...rows.map((row) => columns.map(({ kind, value }) => humanText(kind, value(row))))],
      columns.map(({ kind }) => isRightAligned(kind))
    ),
  json: rows.map((row) => jsonOf(columns, row))
})

/** One thing: a line for each field, or one JSON object. */
export const fieldsView = <Row>(columns: ReadonlyArray<Column<Row>>, row: Row): View => ({
  text: () =>
    align(columns.map((column) => [titleOf(column), humanText(column.kind, column.value(row))]), [false, false]),
  json: [jsonOf(columns, row)]
})

/** Parts one below the other, with an empty line between them for people; in JSON the values of all. */
export const joinViews = (views: ReadonlyArray<View>): View => ({
  text: () => views.map((view) => view.text()).join("\n\n"),
  json: views.flatMap(({ json }) => json)
})

/** Text for people, and the one value that it stands for. */
export const valueView = (value: unknown, text: string): View => ({ text: () => text, json: [value] })

/** Prints to stdout, as `--json` says. */
export const print = Effect.fnUntraced(function*(view: View) {
  const json = yield* Json
  yield* json
    ? Effect.forEach(view.json, (value) => Console.log(JSON.stringify(value)), { discard: true })
    : Console.log(view.text())
})
