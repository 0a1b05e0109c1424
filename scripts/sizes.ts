/**
 * `pnpm sizes`: how large the packages are, as they are fetched, as they lie on the disk without sources, and what a bundle
 * of one import comes to.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "./packages/Build.ts"
import { bundleSize } from "./packages/Bundle.ts"
import { pack } from "./packages/Pack.ts"

const root = join(import.meta.dirname, "..")
const folder = mkdtempSync(join(tmpdir(), "effect-wal-sizes-"))

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(0)} kB`

/** Bytes of a tarball that are unpacked, of files that `form` fits. */
const unpacked = (file: string, form: RegExp): number =>
  execFileSync("tar", ["-tzvf", file], { encoding: "utf8" }).trimEnd().split("\n")
    .map((line) => line.split(/\s+/))
    .filter((parts) => form.test(parts[5] ?? ""))
    .reduce((sum, parts) => sum + Number(parts[2]), 0)

try {
  build(root)
  console.log("| package | tarball | unpacked | its JavaScript |\n| --- | --- | --- | --- |")
  for (const { bytes, file, name } of pack(root, folder)) {
    console.log(
      `| @effect-wal/${name} | ${kilobytes(bytes)} | ${kilobytes(unpacked(file, /./))} | ${
        kilobytes(unpacked(file, /\/dist\/.*\.js$/))
      } |`
    )
  }
  const bundles = [
    ["core", "Wal", "@effect-wal/core/Wal"],
    ["s3", "S3ObjectStore", "@effect-wal/s3"],
    ["server", "WalClient", "@effect-wal/server/client"]
  ] as const
  console.log("\n| bundle of | minified | with gzip | loads at once |\n| --- | --- | --- | --- |")
  for (const [name, what, from] of bundles) {
    const { bytes, loads, packedBytes } = bundleSize(
      root,
      `export { ${what} } from "${from}"`,
      join(root, "packages", name, "test")
    )
    console.log(
      `| \`import { ${what} } from "${from}"\` | ${kilobytes(bytes)} | ${kilobytes(packedBytes)} | ${
        loads.join(", ") || "nothing else"
      } |`
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}
