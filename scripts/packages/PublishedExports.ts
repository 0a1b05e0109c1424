/**
 * What the published packages let others import: the modules that their index names, and what the other packages of this
 * repository load from them. Within the repository everything but closed folders can be imported; a file that is added
 * does not become part of what is published by that.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The packages, in the order in which they build on each other. */
export const packageNames = ["core", "s3", "testing", "server"] as const

/** One of them. */
export type PackageName = typeof packageNames[number]

/** Folders of core that nobody outside of it loads. */
export const closedFolders = [
  "write",
  "epoch",
  "manifest",
  "cursor",
  "read",
  "retain",
  "log",
  "verify",
  "repair",
  "input",
  "internal",
  "node/journal"
] as const

/** Names of entries without `./` and without a suffix: `index`, `node/index`, `store/ObjectStore`. */
type Module = string

const indexLine = /^export (?:type )?\* as \w+ from "\.\/(.+)\.ts"$/gm

/** The modules that an index names. */
const modulesOf = (folder: string, index: string): ReadonlyArray<Module> =>
  [...readFileSync(join(folder, index), "utf8").matchAll(indexLine)].map((match) => match[1] ?? "")

/** Source files of a package. */
const sourcesOf = (root: string, name: PackageName): ReadonlyArray<string> =>
  globSync("**/*.ts", { cwd: join(root, "packages", name, "src") }).map((file) =>
    join(root, "packages", name, "src", file)
  )

const importForm = /(?:from|import\()\s*"@effect-wal\/([a-z0-9]+)(?:\/([^"]+))?"/g

/** What a text loads of a package, as entries: `.`, `./Wal`. */
export const entriesIn = (text: string, name: PackageName): ReadonlyArray<string> =>
  [...text.matchAll(importForm)].filter((match) => match[1] === name)
    .map((match) => match[2] === undefined ? "." : `./${match[2]}`)

const usedOf = (root: string, name: PackageName): ReadonlyArray<string> =>
  packageNames.filter((other) => other !== name)
    .flatMap((other) => sourcesOf(root, other))
    .flatMap((file) => entriesIn(readFileSync(file, "utf8"), name))

const targetOf = (module: Module) => ({ types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` })

/** The entries with folders of their own that have an index. */
const indexed: Readonly<Record<string, Module>> = { ".": "index", "./node": "node/index", "./client": "client/index" }

/** `exports` of a package as it is published. */
export const publishedExports = (root: string, name: PackageName): Readonly<Record<string, unknown>> => {
  const source = join(root, "packages", name, "src")
  const named = modulesOf(source, "index.ts").map((module) => `./${module}`)
  const opened = { core: ["./node"], s3: [], testing: [], server: ["./client"] }[name]
  const modules = name === "server" ? [] : [...named, ...usedOf(root, name)]
  const entries = [...new Set([...modules, ...opened])].filter((entry) => entry !== ".").toSorted()
  return {
    ...Object.fromEntries([".", ...entries].map((entry) => [entry, targetOf(indexed[entry] ?? entry.slice(2))])),
    "./package.json": "./package.json"
  }
}
