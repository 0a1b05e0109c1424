/** Makes the tarballs that would be published. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type PackageName, packageNames } from "./PublishedExports.ts"

/** A tarball, and what is in it by path; `package/` in front of each is left out. */
export interface Tarball {
  readonly name: PackageName
  readonly file: string
  readonly bytes: number
  readonly files: ReadonlyArray<string>
}

/** The pnpm that runs this, or the one that this repository uses. */
const pnpm = (): readonly [string, ReadonlyArray<string>] => {
  const running = process.env["npm_execpath"]
  return running !== undefined && /pnpm[^/]*\.(c|m)?js$/.test(running)
    ? [process.execPath, [running]]
    : ["npx", ["-y", "pnpm@12.21.0"]]
}

/** The text of a file of a tarball. */
export const readPacked = (tarball: Pick<Tarball, "file">, path: string): string =>
  execFileSync("tar", ["-xzOf", tarball.file, `package/${path}`], { encoding: "utf8", maxBuffer: 64 * 1_048_576 })

/** Packs every package, whose `dist` was built, into a folder. */
export const pack = (root: string, folder: string): ReadonlyArray<Tarball> => {
  mkdirSync(folder, { recursive: true })
  const [command, first] = pnpm()
  return packageNames.map((name) => {
    const source = join(root, "packages", name)
    const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"))
    execFileSync(command, [...first, "pack", "--pack-destination", folder], { cwd: source, stdio: "pipe" })
    const file = join(folder, `effect-wal-${name}-${version}.tgz`)
    const files = execFileSync("tar", ["-tzf", file], { encoding: "utf8" }).trimEnd().split("\n")
      .map((path) => path.replace(/^package\//, ""))
    return { name, file, bytes: statSync(file).size, files }
  })
}
