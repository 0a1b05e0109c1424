/** Several real processes on one directory. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { crc32 } from "node:zlib"
import * as DirectoryObjectStore from "../../src/node/DirectoryObjectStore.ts"
import { freshDirectory, text } from "./fixtures/disks.ts"

const script = fileURLToPath(new URL("./fixtures/directory-writer.ts", import.meta.url))

interface Ended {
  readonly lines: ReadonlyArray<string>
  readonly code: number | null
}

/** Runs the script to its end, or kills it (SIGKILL) as soon as it has printed so many lines. */
const run = (root: string, args: ReadonlyArray<string>, killAfterLines = Infinity) =>
  Effect.callback<Ended>((resume) => {
    const child = spawn(process.execPath, [script, root, ...args], { stdio: ["ignore", "pipe", "inherit"] })
    const lines: Array<string> = []
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line)
      if (lines.length === killAfterLines) child.kill("SIGKILL")
    })
    child.on("close", (code) => resume(Effect.succeed({ lines, code })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

describe("DirectoryObjectStore with several processes", () => {
  it.effect("each key that two processes create at once goes to exactly one of them", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const runs = yield* Effect.all(["left", "right", "third"].map((name) => run(root, ["create", name, "300"])), {
        concurrency: "unbounded"
      })
      const store = yield* DirectoryObjectStore.make({ path: root })
      assert.deepStrictEqual(runs.map((ended) => ended.code), [0, 0, 0])
      const won = runs.flatMap((ended) => ended.lines)
      assert.strictEqual(won.length, 300)
      assert.strictEqual(new Set(won).size, 300)
      for (const [index, name] of ["left", "right", "third"].entries()) {
        for (const key of runs[index]?.lines ?? []) assert.strictEqual(text((yield* store.get(key)).body), name)
      }
    }), 60_000)

  it.effect("no replace is lost and none is done twice", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const store = yield* DirectoryObjectStore.make({ path: root })
      yield* store.create("list/manifest.json", new Uint8Array(0))
      const names = ["left", "right", "third"]
      const runs = yield* Effect.all(names.map((name) => run(root, ["replace", name, "100"])), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(runs.map((ended) => ended.code), [0, 0, 0])
      const entries = text((yield* store.get("list/manifest.json")).body).trimEnd().split("\n")
      for (const name of names) {
        const mine = entries.filter((entry) => entry.startsWith(name))
        assert.deepStrictEqual(
          mine,
          Array.from({ length: 100 }, (_, index) => `${name}-${String(index).padStart(4, "0")}`)
        )
      }
      assert.strictEqual(entries.length, 300)
    }), 60_000)

  it.effect("kill -9 at any time leaves whole objects only, and all that were answered", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      for (let round = 0; round < 10; round++) {
        const { code, lines } = yield* run(root, ["segments", `writer-${round}`, "0"], 1 + round * 2)
        assert.strictEqual(code, null)
        const store = yield* DirectoryObjectStore.make({ path: root })
        const { objects } = yield* store.list({ prefix: `segments/writer-${round}/` })
        const keys = objects.map((object) => object.key)
        for (const key of lines) assert.include(keys, key)
        for (const key of keys) {
          const { body } = yield* store.get(key)
          assert.strictEqual(body.length, 200_000)
          assert.strictEqual(new DataView(body.buffer, body.byteOffset).getUint32(0, true), crc32(body.subarray(4)))
        }
        // The name of a killed writer can be taken over: nothing of it is locked or half there.
        yield* store.create(`segments/writer-${round}/after`, new Uint8Array(1))
      }
    }), 60_000)
})
