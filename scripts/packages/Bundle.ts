/** How large a program becomes that uses one thing of a package, as a bundler would ship it. */
import { execFileSync } from "node:child_process"
import { createRequire } from "node:module"
import { join } from "node:path"

/** A bundle of one import. */
export interface BundleSize {
  /** What is loaded at once: minified, and packed with gzip. */
  readonly bytes: number
  readonly packedBytes: number
  /** Names of modules outside of the bundle that are loaded at once. */
  readonly loads: ReadonlyArray<string>
}

/** The bundler that the test runner brings along. */
const bundler = (root: string): string => {
  const ofVitest = createRequire(createRequire(join(root, "package.json")).resolve("vitest/package.json"))
  const ofVite = createRequire(ofVitest.resolve("vite/package.json"))
  return ofVite.resolve("rolldown")
}

/**
 * Runs in a process of its own: the bundler has native code and no types here. Addons stay outside, as in every bundle; they
 * are loaded when a codec is first used.
 */
const program = `
const [, bundler, code, folder] = process.argv
const { rolldown } = await import(bundler)
const { gzipSync } = await import("node:zlib")
const bundle = await rolldown({
  input: "entry",
  platform: "node",
  external: [/^node:/, "lz4-napi", "zstd-napi"],
  logLevel: "silent",
  plugins: [{
    name: "entry",
    resolveId: (id) => id === "entry" ? folder + "/entry.js" : undefined,
    load: (id) => id === folder + "/entry.js" ? code : undefined
  }]
})
const { output } = await bundle.generate({ minify: true })
const chunks = new Map(output.filter((each) => each.type === "chunk").map((chunk) => [chunk.fileName, chunk]))
const entry = output.find((each) => each.isEntry)
const seen = new Set()
const loads = new Set()
const visit = (name) => {
  const chunk = chunks.get(name)
  if (chunk === undefined) return loads.add(name)
  if (seen.has(name)) return
  seen.add(name)
  chunk.imports.forEach(visit)
}
visit(entry.fileName)
// The bundler's own helper, for code that calls require.
loads.delete("node:module")
const text = [...seen].map((name) => chunks.get(name).code).join("\\n")
console.log(JSON.stringify({ bytes: Buffer.byteLength(text), packedBytes: gzipSync(text).length, loads: [...loads] }))
`

/** Bundles `code`, resolving its imports as a file in `folder` would. */
export const bundleSize = (root: string, code: string, folder: string): BundleSize =>
  JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program, bundler(root), code, folder], {
      encoding: "utf8"
    })
  )
