/**
 * Builds `dist` of the packages, and removes from it what no source stands behind any more: the compiler leaves the output
 * of files that were deleted or renamed, and it would be published.
 */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, rmSync } from "node:fs"
import { join } from "node:path"
import { packageNames } from "./PublishedExports.ts"

const outputForm = /(\.d\.ts|\.js)(\.map)?$/

/** Output without a source, of one package. */
const staleOutput = (folder: string): ReadonlyArray<string> =>
  globSync("**/*.{js,d.ts,js.map,d.ts.map}", { cwd: join(folder, "dist") }).filter((file) =>
    !file.startsWith("test/") && !existsSync(join(folder, "src", file.replace(outputForm, ".ts"))) &&
    !existsSync(join(folder, "src", file.replace(outputForm, ".js")))
  )

/** Builds all packages; throws with what the compiler says. */
export const build = (root: string): void => {
  const folders = packageNames.map((name) => join(root, "packages", name))
  const { status, stderr, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-b", ...folders], {
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`the packages do not compile:\n${stdout}${stderr}`)
  for (const folder of folders) {
    for (const file of staleOutput(folder)) rmSync(join(folder, "dist", file))
  }
}
