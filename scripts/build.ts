/** `pnpm build`: `dist` of every package. */
import { join } from "node:path"
import { build } from "./packages/Build.ts"

build(join(import.meta.dirname, ".."))
