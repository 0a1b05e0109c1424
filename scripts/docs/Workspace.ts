/** Folders in which the code and the commands of a page find what they name, outside of the repository. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root } from "./Markdown.ts"

const linkOnce = (from: string, to: string): void => {
  if (existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(realpathSync(from), to)
}

/** Links everything that a `node_modules` has. */
const linkModules = (from: string, to: string): void => {
  if (!existsSync(from)) return
  for (const name of readdirSync(from)) {
    if (name.startsWith(".") || name === "@effect-wal") continue
    if (!name.startsWith("@")) linkOnce(join(from, name), join(to, name))
    else for (const scoped of readdirSync(join(from, name))) linkOnce(join(from, name, scoped), join(to, name, scoped))
  }
}

/** Makes a folder for one test; whoever asks removes it with `removeFolder`. */
export const makeFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "effect-wal-docs-")))

/** Removes a folder that `makeFolder` has made. */
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Lets modules below the folder import our packages, and what any of them imports. */
export const linkPackages = (folder: string): void => {
  const modules = join(folder, "node_modules")
  for (const name of readdirSync(join(root, "packages"))) {
    linkOnce(join(root, "packages", name), join(modules, "@effect-wal", name))
  }
  for (const from of ["packages/server", "packages/s3", "packages/core", "packages/testing", "examples", "."]) {
    linkModules(join(root, from, "node_modules"), modules)
  }
  linkOnce(join(root, "node_modules/@types"), join(modules, "@types"))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }))
}

/** The scripts of the root, by name. */
export const rootScripts = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts

const script = (lines: ReadonlyArray<string>): string => ["#!/bin/sh", ...lines, ""].join("\n")

/** What the programs do that a page calls and that would install something first. */
const programs = (): Readonly<Record<string, string>> => {
  const pnpm = Object.entries(rootScripts()).map(([name, command]) => `${name}) shift; exec ${command} "$@" ;;`)
  const refuse = `*) echo "not run in a test: $*" >&2; exit 64 ;;`
  const main = "exec node packages/server/src/main.ts"
  return {
    // `start` only finds the right Node before it calls `serve`.
    npm: script([`case "$1" in start) shift; [ "$1" = -- ] && shift; ${main} "$@" ;; ${refuse} esac`]),
    npx: script([
      `[ "$1" = -y ] && shift`,
      `case "$1" in pnpm@*) shift; exec pnpm "$@" ;; @effect-wal/server) shift; ${main} "$@" ;; ${refuse} esac`
    ]),
    pnpm: script([`case "$1" in`, ...pnpm, refuse, "esac"]),
    "effect-wal": script([`${main} "$@"`])
  }
}

const shown = [
  "packages",
  "examples",
  "scripts",
  "docs",
  "deploy",
  "bench",
  "node_modules",
  "package.json",
  "README.md"
]

/** A folder that looks like a checkout to commands, but for what they write; answers where its programs lie. */
export const linkCheckout = (folder: string): string => {
  for (const name of shown) if (existsSync(join(root, name))) linkOnce(join(root, name), join(folder, name))
  const programsFolder = join(folder, ".programs")
  mkdirSync(programsFolder)
  symlinkSync(process.execPath, join(programsFolder, "node"))
  for (const [name, text] of Object.entries(programs())) {
    writeFileSync(join(programsFolder, name), text, { mode: 0o755 })
  }
  // Errors of a server are errors of the command, and nothing but the answer is printed.
  writeFileSync(join(programsFolder, ".curlrc"), "fail-with-body\nsilent\nshow-error\n")
  return programsFolder
}
