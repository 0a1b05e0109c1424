import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const directory = fileURLToPath(new URL("..", import.meta.url))

describe("examples/README.md", () => {
  it("names each program, says how it is run, and each has a test", () => {
    const page = readFileSync(`${directory}README.md`, "utf8")
    const programs = readdirSync(`${directory}programs`).filter((file) => file.endsWith(".ts"))
    assert.isNotEmpty(programs)
    for (const file of programs) {
      const name = file.slice(0, -".ts".length)
      assert.match(page, new RegExp(`^\\| \`${name}\` .*node examples/programs/${file}`, "m"))
      assert.isTrue(existsSync(`${directory}test/${name}.test.ts`), `${name} has no test`)
    }
  })
})
