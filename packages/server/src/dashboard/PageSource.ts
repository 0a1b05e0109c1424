/**
 * The page, put together from its files at start: one document that needs nothing from anywhere else.
 *
 * `page.html` names its style and its first script as any page would; both come to stand in the document. The scripts are
 * modules that import each other by name, without circles; each becomes a function whose result is what it exports.
 */
import { Data, Effect, FileSystem } from "effect"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The document and what it is sent with. */
export interface Page {
  readonly html: string
  readonly etag: string
  /** What the browser may load and run: these very scripts and styles, and this server. */
  readonly contentSecurityPolicy: string
}

/** The files of the page are not where this program is installed, or do not fit together. */
export class PageMissing extends Data.TaggedError("PageMissing")<{ readonly message: string }> {}

/** Beside this file as it is written; a built package has them with its sources. */
const folders = ["./page/", "../../src/dashboard/page/"].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url))
)

const parts = /\.(html|css|js)$/

const styleTag = /<link rel="stylesheet" href="([\w-]+\.css)">/
const scriptTag = /<script type="module" src="([\w-]+\.js)"><\/script>/
const importLine = /^import (\{[^}]*\}) from "\.\/([\w-]+\.js)"\n/gm
const exported = /^export ((?:async )?(?:const|function|class) (\w+))/gm
const endTag = /<\/(script|style)/i

type Files = ReadonlyMap<string, string>

/** `name` and everything that it imports, what is imported first, each once. */
const bundle = (files: Files, name: string, seen: Set<string>): string => {
  if (seen.has(name)) return ""
  seen.add(name)
  const text = files.get(name) ?? ""
  const imported = [...text.matchAll(importLine)].map(([, , file = ""]) => bundle(files, file, seen))
  const names = [...text.matchAll(exported)].map(([, , exportedName]) => exportedName)
  const body = text.replaceAll(importLine, (_, names: string, file: string) => `const ${names} = modules["${file}"]\n`)
    .replaceAll(exported, "$1")
  return `${imported.join("")}modules["${name}"] = (() => {\n${body}return { ${names.join(", ")} }\n})()\n`
}

const source = (text: string): string => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`

const policy = (script: string, style: string): string =>
  [
    "default-src 'none'",
    `script-src ${source(script)}`,
    `style-src ${source(style)}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'"
  ].join("; ")

/** One document of the files of a page; fails `PageMissing` where one is not there. */
export const compose = (files: Files): Effect.Effect<Page, PageMissing> => {
  const html = files.get("page.html") ?? ""
  const styleName = styleTag.exec(html)?.[1] ?? "style"
  const scriptName = scriptTag.exec(html)?.[1] ?? "script"
  const style = files.get(styleName) ?? ""
  const used = new Set<string>()
  const script = `const modules = {}\n${bundle(files, scriptName, used)}`
  const missing = ["page.html", styleName, ...used].filter((name) => !files.has(name))
  if (missing.length > 0) return Effect.fail(new PageMissing({ message: `${missing.join(", ")} is not there` }))
  if (endTag.test(style) || endTag.test(script)) {
    return Effect.fail(new PageMissing({ message: "a script or a style holds the end of its own tag" }))
  }
  // As functions: a replacement text has signs with a meaning.
  const whole = html.replace(styleTag, () => `<style>${style}</style>`)
    .replace(scriptTag, () => `<script type="module">${script}</script>`)
  return Effect.succeed({
    html: whole,
    etag: `"${createHash("sha256").update(whole, "utf8").digest("hex").slice(0, 32)}"`,
    contentSecurityPolicy: policy(script, style)
  })
}

const readFolder = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const names = (yield* fs.readDirectory(folder)).filter((name) => parts.test(name))
  const texts = yield* Effect.forEach(
    names,
    (name) => Effect.map(fs.readFileString(join(folder, name)), (text): [string, string] => [name, text])
  )
  return new Map(texts)
})

/** Reads and composes the page; fails `PageMissing` where this program was installed without it. */
export const loadPage = Effect.firstSuccessOf(folders.map(readFolder)).pipe(
  Effect.mapError(({ message }) => new PageMissing({ message })),
  Effect.flatMap(compose)
)
