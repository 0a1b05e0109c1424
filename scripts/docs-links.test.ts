/** Every link of every page leads somewhere. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { type Link, type Page, readPage, readPages, root } from "./docs/Markdown.ts"

const pages = readPages()

const problemOf = (page: Page, { line, target }: Link): ReadonlyArray<string> => {
  const at = `${page.path}:${line}: ${target}`
  if (/^https:\/\/[^\s/]+\.[^\s/]+/.test(target)) return []
  if (/^[a-z]+:/.test(target)) return [`${at} is neither https nor a path`]
  const [file = "", anchor] = target.split("#")
  const path = file === "" ? page.path : normalize(join(dirname(page.path), file))
  if (path.startsWith("..")) return [`${at} leads out of the repository`]
  if (!existsSync(join(root, path))) return [`${at} is not there`]
  if (anchor === undefined || !path.endsWith(".md")) return []
  return readPage(path).anchors.has(anchor) ? [] : [`${at} has no such heading`]
}

describe("Markdown", () => {
  it("is found, all of it", () => {
    const paths = pages.map(({ path }) => path)
    for (const path of ["README.md", "AGENTS.md", "CONTRIBUTING.md", "docs/format.md", "docs/guides/stores.md"]) {
      assert.include(paths, path)
    }
  })

  it("has links that lead to a file, and to a heading in it", () => {
    assert.isAbove(pages.flatMap(({ links }) => links).length, 200)
    assert.deepStrictEqual(pages.flatMap((page) => page.links.flatMap((link) => problemOf(page, link))), [])
  })

  it("has labels that are defined and used", () => {
    assert.deepStrictEqual(pages.flatMap(({ badLabels, path }) => badLabels.map((label) => `${path}: ${label}`)), [])
  })

  it("finds a link that is broken, a heading that is not there, a label without a target", () => {
    const page = readPage("README.md")
    const problems = ["docs/none.md", "docs/testing.md#none", "#none", "http://example.org", "../../out.md"].map((
      target
    ) => problemOf(page, { target, line: 1 }).length)
    assert.deepStrictEqual(problems, [1, 1, 1, 1, 1])
    assert.deepStrictEqual(problemOf(page, { target: "docs/testing.md#a-real-s3-server", line: 1 }), [])
  })

  it("has a guide in the list of README.md for each that there is", () => {
    const targets = readPage("README.md").links.map(({ target }) => target)
    const guides = pages.map(({ path }) => path).filter((path) => path.startsWith("docs/guides/"))
    assert.isAbove(guides.length, 10)
    for (const guide of guides) assert.include(targets, guide)
  })
})
