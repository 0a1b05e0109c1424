/** What the pages say of the code besides: tables that are quoted, presets, defaults, alerts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { formatDuration } from "../packages/core/src/config/DurationText.ts"
import { presetNames, presets } from "../packages/core/src/config/Presets.ts"
import { banner } from "../packages/server/src/cli/Banner.ts"
import { loadConfig } from "../packages/server/src/config/ServerConfig.ts"
import { readPage, readPages, root, tableRows } from "./docs/Markdown.ts"
import { foreignRows } from "./docs/Quotes.ts"
import { withReadmeTable } from "./docs/ReadmeTable.ts"

const pages = readPages()
const readme = readPage("README.md")
const textOf = (path: string): string => readFileSync(join(root, path), "utf8")

/** The cells of all tables, without how wide they are. */
const rowsOf = (text: string): ReadonlyArray<string> => tableRows(text).map((cells) => cells.join(" | "))

describe("tables of the pages", () => {
  it("rows that are said to be of another page are of it", () => {
    const quoting = pages.filter(({ text }) => text.includes("<!-- rows of "))
    assert.isNotEmpty(quoting)
    assert.deepStrictEqual(quoting.flatMap(foreignRows), [])
  })

  it("a row that is not there is told", () => {
    const text = "<!-- rows of ../cost.md -->\n\n| preset | none |\n| --- | --- |\n\n<!-- end -->\n"
    assert.strictEqual(foreignRows({ path: "docs/guides/x.md", text }).length, 1)
  })

  it("how fast it is, in README.md, is what scripts/write-readme-table.ts writes", () => {
    const written = withReadmeTable(readme.text, textOf("docs/performance.md"))
    assert.deepStrictEqual(rowsOf(readme.text), rowsOf(written))
    assert.include(written, "Medians of `pnpm bench`")
    assert.isAbove(
      rowsOf(written).length,
      rowsOf(readme.text.replace(/<!-- performance[\s\S]*?end -->/, "")).length + 1
    )
  })

  it("the presets are those of the code", () => {
    const grouped = (value: number) => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ",")
    const rows = tableRows(textOf("docs/guides/choosing-durability.md"))
      .filter(([name = "", , bytes = ""]) => /^`\w+`$/.test(name) && /,\d{3}$/.test(bytes)).slice(0, presetNames.length)
    assert.deepStrictEqual(
      rows,
      presetNames.map((name) => {
        const { flushInterval, linger, maxBytes, maxEntries } = presets[name]
        const times = [flushInterval, linger].map(formatDuration)
        return [`\`${name}\``, grouped(maxEntries), grouped(maxBytes), ...times]
      })
    )
  })

  it("operations.md has every alert of the rules, and no other", () => {
    const rules = [...textOf("deploy/prometheus/effect-wal.rules.yml").matchAll(/- alert: (\w+)/g)].map(([, name]) =>
      name
    )
    const named = [...textOf("docs/guides/operations.md").matchAll(/`(EffectWal\w+)`/g)].map(([, name]) => name)
    assert.sameMembers([...new Set(named)], rules)
  })
})

describe("README.md", () => {
  it.effect("shows the commands that the server prints, and its defaults", () =>
    Effect.gen(function*() {
      const { settings, streams } = yield* loadConfig({ env: {} })
      const commands = banner(settings, settings.port).split("\n").filter((line) => line.includes("curl"))
      assert.strictEqual(commands.length, 3)
      for (const line of commands) assert.include(readme.text.split("\n"), line.trim())
      const address = `http://${settings.host}:${settings.port}`
      assert.include(
        readme.text,
        `serves ${address}, one stream \`${settings.streams[0]}\`, kept on this disk in ./data`
      )
      assert.deepInclude(streams[0]?.store, { type: "local", path: "./data" })
    }))

  it("has the library in fifteen lines", () => {
    const [first] = readme.blocks.filter(({ language, marks }) => language === "ts" && marks.includes("run"))
    assert.isDefined(first)
    assert.isAtMost(first?.text.trimEnd().split("\n").filter((line) => line !== "").length ?? 99, 15)
  })
})
