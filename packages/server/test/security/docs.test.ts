/** `docs/security.md`: every statement names a test, and the test is there. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const at = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))
const text = readFileSync(at("docs/security.md"), "utf8")

const cellsOf = (line: string): ReadonlyArray<string> => line.split("|").slice(1, -1).map((cell) => cell.trim())

/** The rows of the tables of statements. */
const statements = text.split("\n\n").map((block) => block.trim().split("\n").map(cellsOf)).filter(([head]) =>
  head?.[0] === "statement"
).flatMap((rows) => rows.slice(2))

describe("docs/security.md", () => {
  it("names for each statement a test that is there", () => {
    assert.isAbove(statements.length, 30)
    for (const row of statements) {
      const [statement = "", test = ""] = row
      const [, file = "", title = ""] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(test) ?? []
      assert.notStrictEqual(file, "", statement)
      const source = readFileSync(at(`packages/${file}`), "utf8").replaceAll(/\[(?:case|predecessor|kind) \w+\] /g, "")
      assert.include(source, title, statement)
    }
  })

  it("names every file of tests in this folder", () => {
    const files = readdirSync(fileURLToPath(new URL(".", import.meta.url))).filter((name) => name.endsWith(".test.ts"))
    assert.isAbove(files.length, 8)
    for (const file of files.filter((name) => name !== "docs.test.ts")) {
      assert.include(text, `server/test/security/${file}`)
    }
  })

  it("names the scopes, and the routes that need none, as they are", () => {
    for (const scope of ["read", "write", "admin"]) assert.match(text, new RegExp(`^\\| \`${scope}\` +\\|`, "m"))
    assert.include(text.replaceAll(/\s+/g, " "), "nothing but `/`, `/docs`, `/openapi.json`, `/healthz` and `/readyz`")
  })

  it("is what SECURITY.md leads to", () => {
    assert.include(readFileSync(at("SECURITY.md"), "utf8"), "(docs/security.md)")
  })
})
