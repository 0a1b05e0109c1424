/** `pnpm tarballs FOLDER`: what would be published, as files. `pnpm build` comes before. */
import { join, resolve } from "node:path"
import { pack } from "./packages/Pack.ts"

for (const { bytes, file, files } of pack(join(import.meta.dirname, ".."), resolve(process.argv[2] ?? "tarballs"))) {
  console.log(`${file}: ${Math.round(bytes / 1_000)} kB, ${files.length} files`)
}
