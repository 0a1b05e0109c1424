import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Json } from "../../src/cli/Output.ts"
import { progress, progressLine, type ProgressOptions, ProgressOutput, rateOf } from "../../src/cli/Progress.ts"

const options: ProgressOptions = { label: "appending", kind: "count", unit: "records", total: 1_000 }

/** Shows ten seconds of work, a hundred records a second, and answers what was written. */
const tenSeconds = Effect.fnUntraced(function*(output: { readonly isTerminal: boolean; readonly json?: boolean }) {
  const written: Array<string> = []
  const work = Effect.gen(function*() {
    const shown = yield* progress(options)
    for (let second = 0; second < 10; second++) {
      yield* TestClock.adjust("1 second")
      yield* shown.advance(100)
    }
  })
  yield* Effect.scoped(work).pipe(
    Effect.provideService(Json, output.json === true),
    Effect.provideService(ProgressOutput, {
      isTerminal: output.isTerminal,
      columns: 60,
      write: (text) =>
        Effect.sync(() => {
          written.push(text)
        })
    })
  )
  return written
})

describe("Progress", () => {
  it("is a bar with share, amount, rate and time left", () => {
    assert.strictEqual(
      progressLine(options, 400, 100),
      "appending  [########............]  40 %  400 of 1,000 records  100/s  0:06 left"
    )
    assert.strictEqual(
      progressLine({ label: "reading", kind: "bytes" }, 1_500_000, 500_000),
      "reading  1.5 MB  500 kB/s"
    )
    assert.strictEqual(
      progressLine({ ...options, total: 1_000_000 }, 0, 100),
      "appending  [....................]  0 %  0 of 1,000,000 records  100/s  2:46:40 left"
    )
    assert.strictEqual(
      progressLine(options, 1_200, 0),
      "appending  [####################]  100 %  1,200 of 1,000 records"
    )
  })

  it("takes the rate over the samples that are kept", () => {
    assert.strictEqual(rateOf([]), 0)
    assert.strictEqual(rateOf([{ millis: 5, done: 1 }]), 0)
    assert.strictEqual(rateOf([{ millis: 0, done: 0 }, { millis: 1_000, done: 10 }, { millis: 2_000, done: 100 }]), 50)
  })

  it.effect("draws one line over itself on a terminal, no wider than it, and leaves the last one standing", () =>
    Effect.gen(function*() {
      const written = yield* tenSeconds({ isTerminal: true })
      const drawn = written.slice(0, -1)
      assert.isAbove(drawn.length, 10)
      for (const text of drawn) {
        assert.isTrue(text.startsWith("\r\u001b[K"))
        assert.notInclude(text, "\n")
        assert.isAtMost(text.length - "\r\u001b[K".length, 59)
      }
      assert.strictEqual(
        written.at(-1),
        "\r\u001b[Kappending  [####################]  100 %  1,000 of 1,000 records  100/s\n"
      )
    }))

  it.effect("writes a plain line every five seconds elsewhere", () =>
    Effect.gen(function*() {
      const written = yield* tenSeconds({ isTerminal: false })
      assert.lengthOf(written, 3)
      for (const text of written) {
        assert.notInclude(text, "\u001b")
        assert.isTrue(text.endsWith("\n"))
      }
      assert.include(written[0], "40 %")
    }))

  it.effect("is silent with --json", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* tenSeconds({ isTerminal: true, json: true }), [])
    }))
})
