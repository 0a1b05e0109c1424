/** What is said where logs are JSON, whoever says it and how: one object a line. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Cause, Console, Effect } from "effect"
import { layer } from "../../src/observe/Logging.ts"

/** What `work` writes to stdout. */
const said = <E>(work: Effect.Effect<unknown, E>) =>
  Effect.gen(function*() {
    const written: Array<string> = []
    yield* Effect.acquireUseRelease(
      Effect.sync(() =>
        vi.spyOn(process.stdout, "write").mockImplementation((text) => {
          written.push(String(text))
          return true
        })
      ),
      () => Effect.provide(work, layer({ format: "json" })),
      (spy) => Effect.sync(() => spy.mockRestore())
    )
    return written.join("").split("\n").filter((line) => line !== "").map((line): unknown => JSON.parse(line))
  })

describe("lines of JSON", () => {
  it.effect("are one for a text of several lines, with and without a cause", () =>
    Effect.gen(function*() {
      const lines = yield* said(
        Effect.andThen(Effect.logWarning("one\ntwo\u2028three"), Effect.logError("bad", Cause.die(new Error("a\nb"))))
      )
      assert.strictEqual(lines.length, 2)
      assert.deepInclude(lines[0], { level: "warn", message: "one\ntwo\u2028three" })
      assert.deepInclude(lines[1], { level: "error", message: "bad" })
    }))

  it.effect("hold what only begins like an object, and leave an object what it is", () =>
    Effect.gen(function*() {
      const lines = yield* said(
        Effect.andThen(Console.error("{ key } was not found\n  at somewhere"), Console.log("{\"ready\":true}"))
      )
      assert.deepInclude(lines[0], { level: "error", message: "{ key } was not found\n  at somewhere" })
      assert.deepStrictEqual(lines[1], { ready: true })
    }))
})
