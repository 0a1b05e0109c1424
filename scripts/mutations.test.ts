import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { editedFiles } from "./CopiedTree.ts"
import { rules } from "./rules.ts"
import { judgeMutant } from "./sim/Mutants.ts"
import { mutations } from "./sim/Mutations.ts"
import { type Walked, walkMany } from "./sim/WalkMany.ts"
import { noWalks, type WalkSums } from "./sim/WalkSums.ts"

const root = join(import.meta.dirname, "..")

describe("mutations", () => {
  it("there are many, each with a name of its own", () => {
    expect(mutations.length).toBeGreaterThanOrEqual(40)
    expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length)
  })

  for (const { edits, name } of [...rules, ...mutations]) {
    it(`what is changed stands once in its file: ${name}`, () => {
      for (const text of editedFiles(root, edits).values()) expect(text).not.toBe("")
    })
  }

  it("an edit whose text is not there, or twice, is refused by name", () => {
    const edit = (find: string) => () => editedFiles(root, [{ file: "index.ts", find, replace: "" }])
    expect(edit("no such text")).toThrow("index.ts holds 0 times, not once: no such text")
    expect(edit("export")).toThrow(/holds \d+ times, not once: export/)
  })
})

describe("walks of a mutant", () => {
  const roots: Array<string> = []
  afterEach(() => {
    for (const path of roots.splice(0)) rmSync(path, { recursive: true, force: true })
  })

  const part = (sums: Partial<WalkSums>): WalkSums => ({ ...noWalks, ...sums })

  /** A tree whose walks say this, and then do that. */
  const treeOf = (parts: ReadonlyArray<WalkSums>, then: string): string => {
    const tree = mkdtempSync(join(tmpdir(), "effect-wal-walks-"))
    roots.push(tree)
    mkdirSync(join(tree, "scripts", "sim"), { recursive: true })
    const lines = parts.map((one) => `${JSON.stringify(one)}\n`).join("")
    writeFileSync(
      join(tree, "scripts", "sim", "sim-child.ts"),
      `process.stdout.write(${JSON.stringify(lines)}, () => { ${then} })`
    )
    return tree
  }

  const hangs = "setInterval(() => undefined, 1_000_000)"
  const range = { from: 7, walks: 100, processes: 1, minutes: Infinity, branches: false, stopsAtFirst: true }
  const hooks = { onPart: () => undefined, progress: () => undefined }
  const clean = part({ walks: 1 })
  const found = part({ walks: 1, found: [{ seed: 9, violations: ["P1: lost", "P1: more"] }] })

  const tried = async (tree: string): Promise<ReturnType<typeof judgeMutant>> =>
    judgeMutant("m", range.from, await walkMany({ ...range, root: tree, walkMillis: 1_000 }, hooks))

  it("end with the first that finds something, and say how many it took", async () => {
    const tree = treeOf([noWalks, clean, clean, found, clean], hangs)
    expect(await tried(tree)).toEqual({ mutation: "m", found: true, walks: 3, seed: 9, violation: "P1: lost" })
  })

  it("a walk without an end is found, with its seed", async () => {
    const tree = treeOf([noWalks, clean, clean], hangs)
    const expected = { mutation: "m", found: true, walks: 3, seed: 9, violation: "it does not end" }
    expect(await tried(tree)).toEqual(expected)
  })

  it("a walk that ends its process is found, with its seed", async () => {
    const tree = treeOf([noWalks, clean], "throw new RangeError(\"too deep\")")
    expect(await tried(tree)).toMatchObject({
      found: true,
      walks: 2,
      seed: 8,
      violation: expect.stringContaining("RangeError: too deep")
    })
  })

  it("nothing found is said as such", async () => {
    expect(await tried(treeOf([noWalks, clean, clean], ""))).toEqual({ mutation: "m", found: false, walks: 2 })
  })

  it("code that does not load has shown nothing", async () => {
    await expect(tried(treeOf([], "throw new Error(\"no such export\")"))).rejects.toThrow(/m: the code does not load/)
  })

  it("are judged by what was found before anything else", () => {
    const walked: Walked = { sums: found, wallMs: 1, isLoaded: true, broken: "x", endless: 12 }
    expect(judgeMutant("m", 9, walked)).toMatchObject({ found: true, walks: 1, violation: "P1: lost" })
  })
})
