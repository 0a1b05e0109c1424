import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { renderCliDocs } from "../../src/cli/CliDocs.ts"
import { exitCodes } from "../../src/cli/ExitCode.ts"
import { wrapText } from "../../src/cli/Help.ts"

describe("docs/cli.md", () => {
  it.effect("is what scripts/write-cli-docs.ts writes", () =>
    Effect.gen(function*() {
      const written = readFileSync(new URL("../../../../docs/cli.md", import.meta.url), "utf8")
      assert.strictEqual(written, yield* renderCliDocs)
    }))

  it.effect("has every exit code", () =>
    Effect.gen(function*() {
      const text = yield* renderCliDocs
      for (const { code, when } of Object.values(exitCodes)) assert.include(text, `| ${code} | ${when} |`)
    }))

  it("breaks long descriptions between words", () => {
    assert.deepStrictEqual(wrapText("one two three four", 9), ["one two", "three", "four"])
    assert.deepStrictEqual(wrapText("", 9), [""])
  })
})
