#!/usr/bin/env node
/** The entry point of the process. */
import { enableCompileCache } from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"

/** The user's home; `undefined` where there is none, as for a bare number of a user in a container. */
const home = (): string | undefined => {
  try {
    return homedir()
  } catch {
    return undefined
  }
}

// Most of a short command's time is the compiling of modules: what was compiled is kept for the next one. In a folder of the
// user's own, since code that others could put there would be run; where it cannot be written nothing is kept.
const folder = home()
if (folder !== undefined) enableCompileCache(join(folder, ".cache", "effect-wal"))

const { runMain } = await import("./cli/ExitCode.ts")
const { program } = await import("./cli/Root.ts")

runMain(program)
