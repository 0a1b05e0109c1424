import { join } from "node:path"
import { defineConfig } from "vitest/config"

/** A hung test fails after this long; nothing is timed in a test. */
const hangMillis = 60_000

const project = (name: string, root: string, include: string, setup: ReadonlyArray<string>) => ({
  test: { name, root, include: [include], globalSetup: [...setup], testTimeout: hangMillis, hookTimeout: hangMillis }
})

export default defineConfig({
  test: {
    // Processes, not threads: native addons and process-wide state stay apart. Two fit the smallest machine that runs this.
    pool: "forks",
    maxWorkers: 2,
    projects: [
      ...["core", "s3", "testing", "server"].map((name) =>
        project(name, `packages/${name}`, "test/**/*.test.ts", [join(import.meta.dirname, "scripts/test-setup.ts")])
      ),
      project("scripts", "scripts", "*.test.ts", []),
      project("bench", "bench", "test/**/*.test.ts", []),
      project("reference", "reference", "test/**/*.test.ts", []),
      project("examples", "examples", "test/**/*.test.ts", [])
    ]
  }
})
