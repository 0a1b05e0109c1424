import { listFields } from "@effect-wal/core/config/DecodeTree"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { renderConfigDocs } from "../../src/config/ConfigDocs.ts"
import { FileBlock } from "../../src/config/ServerSchema.ts"

const written = () => readFileSync(new URL("../../../../docs/configuration.md", import.meta.url), "utf8")

describe("docs/configuration.md", () => {
  it("is what scripts/write-config-docs.ts writes", () => {
    assert.strictEqual(written(), renderConfigDocs())
  })

  it("has every kind of field, each with a range and a note", () => {
    const fields = listFields(FileBlock.ast)
    const kinds = new Set(fields.map((field) => field.doc.kind))
    assert.sameMembers([...kinds], [
      "integer",
      "number",
      "size",
      "duration",
      "choice",
      "boolean",
      "text",
      "url",
      "secret",
      "list",
      "refused"
    ])
    for (const { doc, path } of fields) {
      assert.isAbove(doc.note.length, 10, path.join("."))
      if (doc.kind !== "refused") assert.isAbove(doc.range.length, 2, path.join("."))
    }
    assert.isAbove(fields.length, 90)
  })
})
