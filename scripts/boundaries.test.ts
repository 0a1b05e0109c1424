import { assert, describe, it } from "@effect/vitest"
import { importProblems, pathProblems } from "./boundaries.ts"

const problemsOf = (files: Record<string, string>) => importProblems(new Map(Object.entries(files)))

describe("importProblems", () => {
  it("accepts a tree in which everything points down", () => {
    assert.deepStrictEqual(
      problemsOf({
        "packages/core/src/index.ts": `export * as Wal from "./Wal.ts"`,
        "packages/core/src/LogId.ts": `import { Schema } from "effect"`,
        "packages/core/src/store/ObjectStore.ts": `import { LogId } from "../LogId.ts"`,
        "packages/core/src/write/Segmenter.ts": `import { ObjectStore } from "../store/ObjectStore.ts"`,
        "packages/core/src/codec/Digest.ts": `const digest = () => import("../node/Disk.ts")`,
        "packages/core/src/Wal.ts": `import { Segmenter } from "./write/Segmenter.ts"\n` +
          `const local = () => import("./node/Disk.ts")`,
        "packages/core/src/node/Disk.ts": `import { openSync } from "node:fs"\nimport { Wal } from "../Wal.ts"`,
        "packages/s3/src/S3.ts": `import { ObjectStore } from "@effect-wal/core/store/ObjectStore"`,
        "packages/server/test/server.test.ts": `import { MemoryObjectStore } from "@effect-wal/testing"`
      }),
      []
    )
  })

  const cases: ReadonlyArray<readonly [string, Record<string, string>, string]> = [
    [
      "core that imports testing",
      { "packages/core/src/Wal.ts": `import { X } from "@effect-wal/testing/X"` },
      "no package"
    ],
    [
      "s3 that imports the server",
      { "packages/s3/src/A.ts": `import { X } from "@effect-wal/server"` },
      "may import core"
    ],
    [
      "testing that imports s3",
      { "packages/testing/src/A.ts": `import { X } from "@effect-wal/s3"` },
      "may import core"
    ],
    [
      "core tests that import s3",
      { "packages/core/test/a.test.ts": `import { X } from "@effect-wal/s3"` },
      "may import"
    ],
    [
      "a path into another package",
      { "packages/s3/src/A.ts": `import { X } from "../../core/src/X.ts"` },
      "by its name"
    ],
    ["a source that imports a test", { "packages/s3/src/A.ts": `import { X } from "../test/X.ts"` }, "only sources"],
    [
      "a folder that imports one above it",
      {
        "packages/core/src/store/A.ts": `import type { B } from "../write/B.ts"`,
        "packages/core/src/write/B.ts": ""
      },
      "lies above"
    ],
    [
      "an actor that imports a facade",
      {
        "packages/core/src/Wal.ts": `import { B } from "./write/B.ts"`,
        "packages/core/src/write/B.ts": "",
        "packages/core/src/read/A.ts": `import { Wal } from "../Wal.ts"`
      },
      "lies above"
    ],
    ["a folder without a level", { "packages/core/src/misc/A.ts": "" }, "without a level"],
    [
      "a Node module behind core's main entry",
      {
        "packages/core/src/index.ts": `export * as A from "./store/A.ts"`,
        "packages/core/src/store/A.ts": `import {\n  openSync\n} from "node:fs"`
      },
      "would load a Node module"
    ],
    [
      "node/ behind core's main entry",
      { "packages/core/src/index.ts": `export * as A from "./node/A.ts"`, "packages/core/src/node/A.ts": "" },
      "would load node/"
    ],
    [
      "a facade of the main entry that loads a store of the disk at once",
      {
        "packages/core/src/index.ts": `export * as Wal from "./Wal.ts"`,
        "packages/core/src/Wal.ts": `import { make } from "./node/LocalLog.ts"`,
        "packages/core/src/node/LocalLog.ts": ""
      },
      "would load node/"
    ],
    ["a check switched off", { "packages/core/src/A.ts": `// @ts-${"ignore"}` }, "switches a check off"]
  ]
  for (const [name, files, reason] of cases) {
    it(`reports ${name}`, () => {
      const problems = problemsOf(files)
      assert.strictEqual(problems.length, 1, problems.join("\n"))
      assert.include(problems[0], reason)
    })
  }
})

describe("pathProblems", () => {
  it("reports a path of one machine, with its line, and no others", () => {
    const tree = new Map([["README.md", "see docs/format.md\nrun `/home/me/x` or /var/lib/effect-wal"]])
    assert.deepStrictEqual(pathProblems(tree), ["README.md:2 names a path of one machine: /home/me/x"])
  })
})
