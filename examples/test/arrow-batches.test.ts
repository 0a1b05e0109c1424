import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { example, start } from "./support/Examples.ts"

describe("arrow-batches", () => {
  example(
    "every batch comes back with its schema and all its values, in this run and behind it in the next",
    (cwd) =>
      Effect.gen(function*() {
        for (const first of [1, 4]) {
          const program = yield* start("arrow-batches", { cwd })
          assert.strictEqual(yield* program.ended, 0, program.output())
          const lines = program.output().split("\n").filter((line) => line.startsWith("record "))
          assert.deepStrictEqual(
            lines,
            [first, first + 1, first + 2].map((seq) =>
              `record ${seq}: 1000 rows (at Int64, sensor Dictionary<Int32, Utf8>, celsius Float64), as given`
            )
          )
        }
      })
  )
})
