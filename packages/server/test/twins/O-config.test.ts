/** Twins of the configuration cases: what YAML makes of a value, and what a variable brings along. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { inBackend, load, problemsOf, withIds } from "../config/load.ts"

const options = (text: string, env: Record<string, string> = {}) =>
  Effect.map(load(text, { env }), (config) => {
    const [stream] = config.streams
    if (stream === undefined) throw new Error("no stream")
    return stream.options
  })

describe("anchors and merge keys", () => {
  it.effect("[kind O] give what they stand for, and a field beside << wins over the merged one", () =>
    Effect.gen(function*() {
      const anchored = yield* options(
        withIds("retry: { base: &pause 20ms, cap: 2s }", "segment_tuning: { max_entries: 7, linger: *pause }")
      )
      assert.deepStrictEqual(
        [Duration.toMillis(anchored.retry.base), Duration.toMillis(anchored.segment.linger)],
        [20, 20]
      )
      const own = yield* options(
        withIds("segment_tuning: { <<: { max_entries: 7, linger: 3ms }, max_entries: 9 }")
      )
      assert.deepStrictEqual([own.segment.maxEntries, Duration.toMillis(own.segment.linger)], [9, 3])
      const list = yield* options(
        withIds("segment_tuning: { <<: [{ max_entries: 7 }, { max_entries: 8, linger: 4ms }] }")
      )
      assert.deepStrictEqual([list.segment.maxEntries, Duration.toMillis(list.segment.linger)], [7, 4])
    }))

  it.effect("[kind O] what a merge brings in is checked as if it stood there", () =>
    Effect.gen(function*() {
      for (
        const [line, path] of [
          ["parallel_put: { <<: { wrokers: 4 } }", "parallel_put.wrokers"],
          ["parallel_put: { <<: { workers: 9 } }", "parallel_put.workers"],
          ["parallel_put: { <<: 4 }", "parallel_put"],
          ["parallel_put: { <<: [1] }", "parallel_put"],
          ["parallel_put: { <<: *nowhere }", "parallel_put"]
        ] as const
      ) {
        const paths = (yield* problemsOf(withIds(line))).map((problem) => problem.path)
        assert.include(paths, inBackend(path), line)
      }
    }))

  it.effect("[kind O] names that every object has are keys that nobody knows, also where a merge brings them in", () =>
    Effect.gen(function*() {
      for (const name of ["__proto__", "constructor", "toString"]) {
        for (
          const [line, path] of [
            [`${name}: { workers: 4 }`, name],
            [`parallel_put: { ${name}: 1 }`, `parallel_put.${name}`],
            [`parallel_put: { <<: { ${name}: 1 } }`, `parallel_put.${name}`]
          ] as const
        ) {
          const problems = yield* problemsOf(withIds(line))
          assert.deepStrictEqual(problems.map((problem) => problem.path), [inBackend(path)], line)
        }
      }
    }))

  it.effect("[kind O] an anchor that holds itself, and ones that grow with each line, are refused in time", () =>
    Effect.gen(function*() {
      const loop = "streams: &all\n  - *all\n"
      const billion = ["a: &a [x, x, x, x, x, x, x, x, x, x]"].concat(
        ["b", "c", "d", "e", "f", "g"].map((name, index) => {
          const before = String.fromCharCode("a".charCodeAt(0) + index)
          return `${name}: &${name} [${Array<string>(10).fill(`*${before}`).join(", ")}]`
        })
      ).join("\n")
      for (const text of [loop, billion]) assert.isAbove((yield* problemsOf(text)).length, 0)
    }))
})

describe("scalars that YAML reads in its own way", () => {
  it.effect("[kind O] 010 is ten as in YAML 1.2, never eight; 0o10 is eight and 0x10 sixteen", () =>
    Effect.gen(function*() {
      for (const [written, entries] of [["010", 10], ["0o10", 8], ["0x10", 16], ["+10", 10], ["1e1", 10]] as const) {
        const { segment } = yield* options(withIds(`segment_tuning: { max_entries: ${written} }`))
        assert.strictEqual(segment.maxEntries, entries, written)
      }
      for (const written of ["1_000", "0b10", "10.5", "1:30", "~", "[10]", ".nan", "-.inf"]) {
        const problems = yield* problemsOf(withIds(`segment_tuning: { max_entries: ${written} }`))
        assert.isAbove(problems.length, 0, written)
      }
    }))

  it.effect("[kind O] yes, no, on and off are text: refused where a switch stands, ids where an id stands", () =>
    Effect.gen(function*() {
      for (const word of ["yes", "no", "on", "off", "y", "N", "Yes", "1", "\"true\""]) {
        const problems = yield* problemsOf(`${withIds()}\nserver: { behind_proxy: ${word} }`)
        assert.deepStrictEqual(problems.map((problem) => problem.path), ["server.behind_proxy"], word)
      }
      const { streamId } = yield* options(withIds().replace("stream_id: main", "stream_id: no"))
      assert.strictEqual(streamId, "no")
      for (const word of ["true", "null", "1", "1.5", "0x1F", "2026-11-30"]) {
        const text = withIds().replace("stream_id: main", `stream_id: ${word}`)
        if (word === "2026-11-30") assert.strictEqual((yield* options(text)).streamId, word)
        else assert.include((yield* problemsOf(text))[0]?.path, "stream_id", word)
      }
    }))
})

describe("a variable", () => {
  it.effect("[kind O] with a newline at its end is no id: it is said, not sent to the store", () =>
    Effect.gen(function*() {
      const text = withIds().replace("node_id: node-1", "node_id: ${POD}")
      for (const value of ["pod-1\n", "pod-1\r\n", " pod-1", "pod-1 ", "\uFEFFpod-1", "pod\u20281"]) {
        const problems = yield* problemsOf(text, { env: { POD: value } })
        assert.deepStrictEqual(problems.map((problem) => problem.path), [inBackend("node_id")], JSON.stringify(value))
      }
    }))

  it.effect("[kind O] that looks like a number, a switch or a block stays text where text stands", () =>
    Effect.gen(function*() {
      const text = withIds().replace("stream_id: main", "stream_id: ${NAME}")
      for (const value of ["007", "1e3", "true", "null", "0x10", "-"]) {
        assert.strictEqual((yield* options(text, { NAME: value })).streamId, value)
      }
      for (const value of ["{a: 1}", "*a", "&a", "a #b", "${NAME}"]) {
        assert.deepStrictEqual(
          (yield* problemsOf(text, { env: { NAME: value } })).map((problem) => problem.path),
          [inBackend("stream_id")],
          value
        )
      }
    }))

  it.effect("[kind O] for a number is a number in its own spelling only", () =>
    Effect.gen(function*() {
      const text = withIds("segment_tuning: { max_entries: \"${N}\" }")
      assert.strictEqual((yield* options(text, { N: "010" })).segment.maxEntries, 10)
      for (const value of ["10\n", "0x10", "1e1", "ten", "10 ", "1,000"]) {
        const problems = yield* problemsOf(text, { env: { N: value } })
        assert.deepStrictEqual(
          problems.map((problem) => problem.path),
          [inBackend("segment_tuning.max_entries")],
          value
        )
      }
    }))
})
