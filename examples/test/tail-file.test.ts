import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { example, start } from "./support/Examples.ts"

const line = (number: number): string => `{"line":${number}}`
const linesFrom = (from: number, to: number): ReadonlyArray<string> =>
  Array.from({ length: to - from + 1 }, (_, index) => line(from + index))

/** What was printed: each number of the log with its line. */
const printed = (output: string): ReadonlyArray<readonly [number, string]> =>
  [...output.matchAll(/^(\d+): (\{"line":\d+\})$/gm)].map(([, seq, text]) => [Number(seq), text ?? ""] as const)

describe("tail-file", () => {
  example("neither loses nor doubles a line, over kill -9, growth and rotation", (cwd) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${cwd}/app.ndjson`
      const add = (text: string) => fs.writeFileString(path, text, { flag: "a" })
      const addLines = (from: number, to: number) => add(linesFrom(from, to).map((one) => `${one}\n`).join(""))
      const rotate = Effect.gen(function*() {
        if (yield* fs.exists(`${path}.1`)) yield* fs.rename(`${path}.1`, `${path}.2`)
        yield* fs.rename(path, `${path}.1`)
      })
      const tail = start("tail-file", { cwd, args: ["app.ndjson"] })
      const outputs: Array<string> = []

      // Killed while it reads: how far it has come is not known.
      yield* addLines(1, 2_000)
      const first = yield* tail
      yield* first.until(line(50))
      first.kill("SIGKILL")
      assert.strictEqual(yield* first.ended, "SIGKILL")
      outputs.push(first.output())

      // Grown and rotated twice while nobody looked; the last line of a file is without an end.
      yield* addLines(2_001, 2_010)
      yield* add(line(2_011))
      yield* rotate
      yield* addLines(2_012, 2_020)
      yield* rotate
      yield* add(`${line(2_021)}\n${line(2_022).slice(0, 4)}`)
      const second = yield* tail
      yield* second.until(line(2_021))
      // The rest of a line, then a rotation, while it runs.
      yield* add(`${line(2_022).slice(4)}\n`)
      yield* second.until(line(2_022))
      yield* rotate
      yield* addLines(2_023, 2_030)
      yield* second.until(line(2_030))
      second.kill("SIGTERM")
      yield* second.ended
      outputs.push(second.output())

      // After an orderly stop it goes on behind the last line; nothing is printed again.
      yield* addLines(2_031, 2_031)
      const third = yield* tail
      yield* third.until(line(2_031))
      assert.deepStrictEqual(printed(third.output()), [[2_031, line(2_031)]])
      outputs.push(third.output())

      const bySeq = new Map<number, string>()
      for (const [seq, text] of outputs.flatMap(printed)) {
        // What is handled twice is the same record.
        assert.strictEqual(bySeq.get(seq) ?? text, text)
        bySeq.set(seq, text)
      }
      const inOrder = [...bySeq].toSorted(([left], [right]) => left - right)
      assert.deepStrictEqual(inOrder, linesFrom(1, 2_031).map((text, index) => [index + 1, text] as const))
    }))

  example("says that a file is gone which it had not read to its end", (cwd) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${cwd}/app.ndjson`
      yield* fs.writeFileString(path, `${line(1)}\n`)
      const first = yield* start("tail-file", { cwd, args: ["app.ndjson"] })
      yield* first.until(line(1))
      first.kill("SIGTERM")
      yield* first.ended
      yield* fs.remove(path)
      yield* fs.writeFileString(path, `${line(2)}\n`)
      const second = yield* start("tail-file", { cwd, args: ["app.ndjson"] })
      yield* second.until(line(2))
      assert.include(second.output(), "is gone")
      assert.deepStrictEqual(printed(second.output()), [[2, line(2)]])
    }))
})

describe("tail-file, of files that are not as they should be", () => {
  example("reads a file whose only line has no end, once a newer one has begun", (cwd) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${cwd}/app.ndjson.1`, line(1))
      yield* fs.writeFileString(`${cwd}/app.ndjson`, `${line(2)}\n`)
      const tail = yield* start("tail-file", { cwd, args: ["app.ndjson"] })
      yield* tail.until(`2: ${line(2)}`)
      assert.deepStrictEqual(printed(tail.output()), [[1, line(1)], [2, line(2)]])
    }))

  example(
    "passes over nothing: it fails at a first line that is too long, and where a file was cut",
    (cwd) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const path = `${cwd}/app.ndjson`
        const long = `${path}.1`
        yield* fs.writeFileString(path, `${line(1)}\n${line(2)}\n`)
        yield* fs.writeFileString(long, `${"x".repeat(1_048_576)}\n`)
        const first = yield* start("tail-file", { cwd, args: ["app.ndjson"] })
        assert.strictEqual(yield* first.ended, 1, first.output())
        assert.include(first.output(), "LineTooLong")

        yield* fs.remove(long)
        const second = yield* start("tail-file", { cwd, args: ["app.ndjson"] })
        yield* second.until(line(2))
        second.kill("SIGTERM")
        yield* second.ended

        yield* fs.writeFileString(path, `${line(1)}\n`)
        const third = yield* start("tail-file", { cwd, args: ["app.ndjson"] })
        assert.strictEqual(yield* third.ended, 1, third.output())
        assert.include(third.output(), "is shorter now")
      })
  )
})
