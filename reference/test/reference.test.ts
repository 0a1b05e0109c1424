import { assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ReflectionKind } from "typedoc"
import { entries, root } from "../src/Packages.ts"
import { readReference, type Reference } from "../src/Reference.ts"
import { firstSentence, renderIndex } from "../src/Summary.ts"

/** A hung compiler fails after this long; it takes some twenty seconds of a processor, which others may use too. */
const hangMillis = 600_000

describe("the reference", () => {
  let reference: Reference | undefined
  const read = (): Reference => reference ?? assert.fail("was not read")

  beforeAll(async () => {
    reference = await readReference()
  }, hangMillis)

  it("has every entry, and modules in each", () => {
    const names = read().project.children?.map(({ name }) => name) ?? []
    assert.deepStrictEqual(names.toSorted(), entries.map(({ name }) => name).toSorted())
    for (const module of read().project.children ?? []) {
      assert.isAbove(
        module.children?.filter(({ kind }) => kind === ReflectionKind.Namespace).length ?? 0,
        0,
        module.name
      )
    }
  })

  it("has a docstring for every export, and links and types that lead somewhere", () => {
    assert.deepStrictEqual(read().problems(), [])
  })

  it("tells what is named and not exported, and what is excused without need", () => {
    const told = read().problems({ "@effect-wal/core": ["NoSuchType"] }).join("\n")
    assert.match(told, /Manifest, defined in .* is referenced by .* but not included in the documentation/)
    assert.include(told, "NoSuchType")
  })

  it("tells of an export without a docstring", () => {
    const { app, problems } = read()
    const required = app.options.getValue("requiredToBeDocumented")
    app.options.setValue("requiredToBeDocumented", ["Property"])
    assert.match(problems().join("\n"), /does not have any documentation/)
    app.options.setValue("requiredToBeDocumented", required)
  })

  it("is docs/api.md in short", () => {
    const written = readFileSync(join(root, "docs/api.md"), "utf8")
    assert.strictEqual(written, renderIndex(read().project), "run pnpm reference --index")
  })

  it("has words in every row of docs/api.md", () => {
    const rows = renderIndex(read().project).split("\n").filter((line) => line.startsWith("| ["))
    assert.isAbove(rows.length, 200)
    assert.deepStrictEqual(rows.filter((row) => row.endsWith(" |  |")), [])
  })
})

describe("the first sentence", () => {
  it("ends where the next one begins, not within a number, a name or an abbreviation", () => {
    assert.strictEqual(firstSentence("Takes 1.5 s, e.g. on\nS3. Then it ends."), "Takes 1.5 s, e.g. on S3.")
    assert.strictEqual(firstSentence("One | two\n\nNext."), "One \\| two")
  })
})
