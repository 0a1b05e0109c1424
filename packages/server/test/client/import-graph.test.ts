/** What `@effect-wal/server/client` loads: nothing of the server, and nothing of node. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../../", import.meta.url))
const server = join(root, "packages/server/src")

/** Every import and re-export that is there at run time. */
const loaded = /^\s*(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm

/** The files that a module loads, and the names of what is not a file of this repository. */
const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(loaded)].flatMap(([statement, target = ""]) =>
    // `import { type A, type B }` loads nothing under verbatimModuleSyntax only where all of it is gone; this has names.
    /^\s*(?:import|export)\s+\{\s*(?:type\s+\w+\s*,?\s*)+\}\s+from/.test(statement) ? [] : [target]
  )

const resolveImport = (from: string, target: string): string => {
  if (target.startsWith(".")) return resolve(dirname(from), target)
  const deep = /^@effect-wal\/core\/(.+)$/.exec(target)?.[1]
  if (deep === undefined) return target
  const file = join(root, "packages/core/src", `${deep}.ts`)
  return existsSync(file) ? file : join(root, "packages/core/src", deep, "index.ts")
}

const walk = (entry: string) => {
  const files = new Set<string>()
  const outside = new Set<string>()
  const open = [entry]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue
    files.add(file)
    for (const target of importsOf(file)) {
      const found = resolveImport(file, target)
      if (found.startsWith(root)) open.push(found)
      else outside.add(found)
    }
  }
  return { files: [...files].map((file) => relative(root, file)), outside: [...outside] }
}

/** Of the server: the definition of the API, its shapes, its codes, and the scanner of JSON. */
const allowed =
  /^packages\/(core\/src\/(Nonce|WalRecord|ErrorTable|ErrorEntry|DiskErrorTable|ProducerErrorTable)\.ts$|server\/src\/(client\/|api\/|RequestProblem\.ts$|body\/JsonScanner\.ts$))/

describe("the client's imports", () => {
  it("lead to the API's definition and to the effect package, and nowhere else", () => {
    const { files, outside } = walk(join(server, "client/index.ts"))
    assert.include(files, "packages/server/src/api/WalApi.ts")
    assert.deepStrictEqual(files.filter((file) => !allowed.test(file)), [])
    assert.deepStrictEqual(outside.filter((name) => name !== "effect" && !name.startsWith("effect/")), [])
  })

  it("of which effect's own need nothing of node", () => {
    const { outside } = walk(join(server, "client/index.ts"))
    const require = createRequire(join(server, "client/index.ts"))
    const seen = new Set<string>()
    const open = outside.map((name) => require.resolve(name))
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (seen.has(file)) continue
      seen.add(file)
      for (const target of importsOf(file)) {
        assert.isFalse(target.startsWith("node:"), `${file} loads ${target}`)
        if (target.startsWith(".")) open.push(resolve(dirname(file), target))
      }
    }
    assert.isAbove(seen.size, 50)
  })

  it("are seen by this test", () => {
    const { files, outside } = walk(join(server, "Server.ts"))
    assert.include(files, "packages/server/src/handlers/AppendRecords.ts")
    assert.isTrue(outside.some((name) => name.startsWith("node:")))
  })

  it("are what the package exports", () => {
    const manifest = JSON.parse(readFileSync(join(server, "../package.json"), "utf8"))
    assert.strictEqual(manifest.exports["./client"], "./src/client/index.ts")
    assert.deepStrictEqual(manifest.publishConfig.exports["./client"], {
      types: "./dist/client/index.d.ts",
      default: "./dist/client/index.js"
    })
  })
})
