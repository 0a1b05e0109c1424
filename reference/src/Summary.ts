/** `docs/api.md`: each export of each package, with the first sentence of its docstring and a link to its source. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Comment, type DeclarationReflection, type ProjectReflection, ReflectionKind } from "typedoc"
import { entries, root } from "./Packages.ts"

const kinds: ReadonlyArray<readonly [kind: ReflectionKind, word: string]> = [
  [ReflectionKind.Class, "class"],
  [ReflectionKind.Interface, "interface"],
  [ReflectionKind.TypeAlias, "type"],
  [ReflectionKind.Function, "function"],
  [ReflectionKind.Variable, "value"],
  [ReflectionKind.Namespace, "module"]
]

const wordFor = (kind: ReflectionKind): string => kinds.find(([one]) => one === kind)?.[1] ?? "export"

/** Up to the first full stop that ends a sentence, on one line, without breaking the table. */
export const firstSentence = (text: string): string => {
  const [paragraph = ""] = text.trim().split(/\n\s*\n/)
  const line = paragraph.replaceAll(/\s+/g, " ")
  const end = /[.!?](?=\s+[A-Z`]|$)/.exec(line)
  return (end === null ? line : line.slice(0, end.index + 1)).replaceAll("|", "\\|")
}

/** The text of the docstring at the head of a file. */
const headOf = (file: string): string => {
  const found = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(join(root, file), "utf8"))
  return (found?.[1] ?? "").replaceAll(/^\s*\* ?/gm, "")
}

const fileOf = (reflection: DeclarationReflection): string => reflection.sources?.[0]?.fileName ?? ""

const commentOf = (reflection: DeclarationReflection): string => {
  const comment = reflection.comment ?? reflection.signatures?.[0]?.comment
  return comment === undefined ? "" : Comment.combineDisplayParts(comment.summary)
}

const link = (name: string, file: string): string => `[\`${name}\`](../${file})`

/** A type and a value of one name, as of a Schema and what it decodes to, are one line. */
const exportRows = (module: DeclarationReflection): ReadonlyArray<string> => {
  const byName = new Map<string, Array<DeclarationReflection>>()
  for (const one of module.children ?? []) byName.set(one.name, [...byName.get(one.name) ?? [], one])
  return [...byName].toSorted(([left], [right]) => left < right ? -1 : 1).map(([name, all]) => {
    const [first] = all
    const file = first === undefined ? "" : fileOf(first)
    const words = [...new Set(all.map(({ kind }) => wordFor(kind)))].join(", ")
    const text = all.map(commentOf).find((comment) => comment !== "") ?? ""
    return `| ${link(name, file)} | ${words} | ${firstSentence(text)} |`
  })
}

const moduleText = (module: DeclarationReflection): string =>
  [
    `### ${module.name}`,
    `${firstSentence(headOf(fileOf(module)))} ${link(fileOf(module).replace(/^.*\/src\//, ""), fileOf(module))}`.trim(),
    ["| export | kind | meaning |", "| --- | --- | --- |", ...exportRows(module)].join("\n")
  ].join("\n\n")

interface Manifest {
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, { readonly types?: string } | null | string>> }
}

/** The source file of each module that a package publishes by its path, from the root of the repository. */
const publishedFiles = (folder: string): ReadonlyArray<string> => {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  return Object.values(manifest.publishConfig?.exports ?? {}).flatMap((target) => {
    const types = target === null || typeof target === "string" ? undefined : target.types
    return types === undefined ? [] : [`${folder}/${types.replace("./dist/", "src/").replace(".d.ts", ".ts")}`]
  })
}

/** Modules that can be imported and that no index has: they are published because another package here needs them. */
const innerModules = (modules: ReadonlyArray<DeclarationReflection>): ReadonlyArray<string> => {
  const shown = new Set([...modules.map(fileOf), ...entries.map(({ file }) => file)])
  const folders = [...new Set(entries.map(({ file }) => file.replace(/\/src\/.*$/, "")))]
  return folders.flatMap(publishedFiles).filter((file) => !shown.has(file)).toSorted()
}

const innerText = (modules: ReadonlyArray<DeclarationReflection>): ReadonlyArray<string> => {
  const files = innerModules(modules)
  if (files.length === 0) return []
  const rows = files.map((file) =>
    `| ${link(file.replace(/^packages\//, ""), file)} | ${firstSentence(headOf(file))} |`
  )
  return [
    "## For the other packages only",
    "These modules can be imported, because one package here needs them from another one. They may change in any release.",
    ["| module | meaning |", "| --- | --- |", ...rows].join("\n")
  ]
}

const intro = `# Exports

Every export of every package, by module, with the first sentence of its docstring and its source. Written by
\`pnpm reference --index\`; a test checks that it is current, that each export has a docstring, and that links in docstrings lead
somewhere. \`pnpm reference\` makes the whole reference, with signatures, as HTML in \`reference/dist/html\`.

Modules are imported as \`import { Wal } from "@effect-wal/core/Wal"\`, or all of them from the package:
\`import { Wal } from "@effect-wal/core"\`, where \`Wal\` is the module.`

const modulesOf = (project: ProjectReflection, name: string): ReadonlyArray<DeclarationReflection> =>
  (project.children?.find((one) => one.name === name)?.children ?? []).filter(({ kind }) =>
    kind === ReflectionKind.Namespace
  )

/** The page. */
export const renderIndex = (project: ProjectReflection): string =>
  `${
    [
      intro,
      ...entries.flatMap(({ name }) => [`## ${name}`, ...modulesOf(project, name).map(moduleText)]),
      ...innerText(entries.flatMap(({ name }) => modulesOf(project, name)))
    ].join("\n\n")
  }\n`
