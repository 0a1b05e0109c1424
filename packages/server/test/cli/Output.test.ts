import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { type Column, fieldsView, joinViews, Json, print, rowsView, valueView } from "../../src/cli/Output.ts"

interface Row {
  readonly id: string
  readonly seq: number
  readonly size: number | undefined
}

const columns: ReadonlyArray<Column<Row>> = [
  { name: "id", kind: "text", value: (row) => row.id },
  { name: "last_seq", kind: "id", value: (row) => row.seq },
  { name: "size_bytes", kind: "bytes", value: (row) => row.size }
]

const rows: ReadonlyArray<Row> = [
  { id: "a", seq: 7, size: 1_500 },
  { id: "orders", seq: 12_345, size: undefined }
]

/** What is printed, a line an element. */
const printed = (json: boolean, effect: Effect.Effect<void, never, Effect.Services<ReturnType<typeof print>>>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const console = yield* Console.Console
    yield* effect.pipe(
      Effect.provideService(Json, json),
      Effect.provideService(Console.Console, { ...console, log: (...args) => void lines.push(args.join(" ")) })
    )
    return lines
  })

describe("Output", () => {
  it.effect("prints rows as a table: numbers at the right, sizes with a unit", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* printed(false, print(rowsView(columns, rows))), [
        ["id      last seq    size", "a              7  1.5 kB", "orders     12345       -"].join("\n")
      ])
    }))

  it.effect("prints rows as NDJSON: raw values, keys in the order of the columns, nothing for what is not there", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* printed(true, print(rowsView(columns, rows))), [
        "{\"id\":\"a\",\"last_seq\":7,\"size_bytes\":1500}",
        "{\"id\":\"orders\",\"last_seq\":12345}"
      ])
    }))

  it.effect("says that there are no rows to people, and nothing to programs", () =>
    Effect.gen(function*() {
      const view = rowsView(columns, [], "no streams")
      assert.deepStrictEqual(yield* printed(false, print(view)), ["no streams"])
      assert.deepStrictEqual(yield* printed(true, print(view)), [])
    }))

  it.effect("prints one thing as lines, or as one object", () =>
    Effect.gen(function*() {
      const view = fieldsView(columns, { id: "a", seq: 7, size: 1_500 })
      assert.deepStrictEqual(yield* printed(false, print(view)), ["id        a\nlast seq  7\nsize      1.5 kB"])
      assert.deepStrictEqual(yield* printed(true, print(view)), ["{\"id\":\"a\",\"last_seq\":7,\"size_bytes\":1500}"])
    }))

  it.effect("joins views", () =>
    Effect.gen(function*() {
      const view = joinViews([valueView({ a: 1 }, "one"), valueView({ b: 2 }, "two")])
      assert.deepStrictEqual(yield* printed(false, print(view)), ["one\n\ntwo"])
      assert.deepStrictEqual(yield* printed(true, print(view)), ["{\"a\":1}", "{\"b\":2}"])
    }))
})
