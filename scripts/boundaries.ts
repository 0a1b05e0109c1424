/**
 * The import rules of this repository that a linter cannot state: which package and which folder may import which.
 * Pure: `check-boundaries.ts` reads the tree and prints, `boundaries.test.ts` shows that each rule can fail.
 */

/** Source files by path from the repository's root, with forward slashes. */
export type Tree = ReadonlyMap<string, string>

interface Import {
  readonly file: string
  readonly line: number
  readonly specifier: string
  /** Loaded when it is asked for: so a default can live in `node/` and a platform without Node never loads it. */
  readonly lazy: boolean
}

/** Which packages the sources of a package may import. Everything points to core. */
const sources: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: [],
  s3: ["core"],
  testing: ["core"],
  server: ["core", "s3"]
}

/** Tests may use the doubles and suites of testing, and their own package by its name. */
const tests: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: ["core", "testing"],
  s3: ["core", "s3", "testing"],
  testing: ["core", "testing"],
  server: ["core", "s3", "server", "testing"]
}

/**
 * Folders of core, lowest first; a file imports its own level or a lower one. A file directly in `src` takes the level
 * of what it imports: plain values (`LogId.ts`) are the lowest, what drives the actors (`Wal.ts`) stands above them.
 */
const levels: ReadonlyArray<ReadonlyArray<string>> = [
  ["store", "codec", "config", "internal"],
  ["format"],
  ["write", "epoch", "manifest", "cursor", "read", "retain", "observe"],
  ["log", "model", "verify", "repair", "input"],
  ["src"],
  ["node"]
]
const levelNamed = (name: string) => levels.findIndex((names) => names.includes(name))
const actorLevel = levelNamed("write")
const facadeLevel = levelNamed("src")

const importPattern =
  /^\s*(?:import|export)\s+(?:type\s+)?(?:[^"']*?\sfrom\s+)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm

const importsOf = (file: string, text: string): ReadonlyArray<Import> =>
  [...text.matchAll(importPattern)].map((match) => ({
    file,
    line: text.slice(0, match.index).split("\n").length,
    specifier: match[1] ?? match[2] ?? "",
    lazy: match[2] !== undefined
  }))

const resolve = (file: string, specifier: string): string => {
  const parts = file.split("/").slice(0, -1)
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  return parts.join("/")
}

const isRelative = (specifier: string) => specifier.startsWith(".")
/** An import of a file of this package that is loaded with its importer. */
const isEager = ({ lazy, specifier }: Import) => !lazy && isRelative(specifier)
const at = (found: Import, message: string) => `${found.file}:${found.line} imports ${found.specifier}: ${message}`

const checkPackage = (found: Import): ReadonlyArray<string> => {
  const [root, name, kind] = found.file.split("/")
  if (root !== "packages" || name === undefined) return []
  const allowed = (kind === "src" ? sources : tests)[name] ?? []
  if (isRelative(found.specifier)) {
    const target = resolve(found.file, found.specifier)
    if (!target.startsWith(`packages/${name}/`)) return [at(found, "another package is imported by its name")]
    return kind === "src" && !target.startsWith(`packages/${name}/src/`)
      ? [at(found, "sources import only sources")]
      : []
  }
  const target = /^@effect-wal\/([^/]+)/.exec(found.specifier)?.[1]
  return target === undefined || allowed.includes(target)
    ? []
    : [at(found, `${name}/${kind} may import ${allowed.join(", ") || "no package of the workspace"}`)]
}

const coreSource = "packages/core/src/"
const isCoreIndex = (file: string) => file.startsWith(coreSource) && file.endsWith("/index.ts")

/** The level of each core file; files directly in `src` take the highest level that they reach. */
const coreLevels = (imports: ReadonlyMap<string, ReadonlyArray<Import>>): ReadonlyMap<string, number> => {
  const known = new Map<string, number>()
  const levelOf = (file: string, seen: ReadonlySet<string>): number => {
    const cached = known.get(file)
    if (cached !== undefined) return cached
    const parts = file.slice(coreSource.length).split("/")
    const folder = levelNamed(parts[0] ?? "")
    const reached = parts.length > 1 || seen.has(file)
      ? Math.max(folder, 0)
      : Math.max(
        0,
        ...(imports.get(file) ?? []).filter(isEager).map(({ specifier }) =>
          levelOf(resolve(file, specifier), new Set([...seen, file]))
        )
      )
    const level = parts.length === 1 && reached >= actorLevel ? Math.max(reached, facadeLevel) : reached
    if (seen.size === 0) known.set(file, level)
    return level
  }
  for (const file of imports.keys()) levelOf(file, new Set())
  return known
}

const checkLevels = (imports: ReadonlyMap<string, ReadonlyArray<Import>>): ReadonlyArray<string> => {
  const core = new Map([...imports].filter(([file]) => file.startsWith(coreSource) && !isCoreIndex(file)))
  const level = coreLevels(core)
  const unknown = [...core.keys()]
    .filter((file) => file.split("/").length > 4 && levelNamed(file.split("/")[3] ?? "") < 0)
    .map((file) => `${file} lies in a folder without a level in scripts/boundaries.ts`)
  const upward = [...core.values()].flat().filter(isEager).flatMap((found) => {
    const from = level.get(found.file) ?? 0
    const to = level.get(resolve(found.file, found.specifier)) ?? 0
    return to > from ? [at(found, `it lies above (${levels[to]?.join(", ")} over ${levels[from]?.join(", ")})`)] : []
  })
  return [...unknown, ...upward]
}

/** What core's main entry loads, directly or through its files, must run without Node. */
const checkPlatformFree = (imports: ReadonlyMap<string, ReadonlyArray<Import>>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const queue = [`${coreSource}index.ts`]
  const problems: Array<string> = []
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const found of (imports.get(file) ?? []).filter(({ lazy }) => !lazy)) {
      if (isRelative(found.specifier)) {
        const target = resolve(file, found.specifier)
        if (target.startsWith(`${coreSource}node/`)) problems.push(at(found, "core's main entry would load node/"))
        queue.push(target)
      } else if (/^(node:|zstd-napi$|lz4-napi$)/.test(found.specifier)) {
        problems.push(at(found, "core's main entry would load a Node module"))
      }
    }
  }
  return problems
}

const suppressions = [
  "@effect-" + "diagnostics",
  "oxlint-" + "disable",
  "eslint-" + "disable",
  "@ts-" + "ignore",
  "@ts-" + "nocheck"
]

const checkSuppressions = (file: string, text: string): ReadonlyArray<string> =>
  suppressions.filter((word) => text.includes(word)).map((word) => `${file} switches a check off with ${word}`)

/** Every broken import rule of the tree, one line each with file, line and reason. */
export const importProblems = (tree: Tree): ReadonlyArray<string> => {
  const imports = new Map([...tree].map(([file, text]) => [file, importsOf(file, text)] as const))
  return [
    ...[...imports.values()].flat().flatMap(checkPackage),
    ...checkLevels(imports),
    ...checkPlatformFree(imports),
    ...[...tree].flatMap(([file, text]) => checkSuppressions(file, text))
  ]
}

const machinePath = /(?:^|[\s"'`(=:])(\/(?:work|home|root|Users)\/[^\s"'`)]*)/g

/** Every path of one particular machine in a text of the repository (sources, scripts, prose). */
export const pathProblems = (tree: Tree): ReadonlyArray<string> =>
  [...tree].flatMap(([file, text]) =>
    text.split("\n").flatMap((line, index) =>
      [...line.matchAll(machinePath)].map((match) => `${file}:${index + 1} names a path of one machine: ${match[1]}`)
    )
  )
