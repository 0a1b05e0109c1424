import type { DiskError, DiskFileService } from "@effect-wal/core/node/DiskFile"
import { nodeDisk } from "@effect-wal/core/node/DiskFile"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PowerLossDisk from "../src/PowerLossDisk.ts"
import { bytes, modify, read, text, unsynced, write } from "./support/files.ts"

describe("PowerLossDisk and the real disk", () => {
  const freshDirectory = Effect.acquireRelease(
    Effect.promise(() => fs.mkdtemp(join(tmpdir(), "effect-wal-disk-"))),
    (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
  )

  const paths = ["/a", "/b", "/d", "/d/a", "/d/b", "/d/e", "/d/e/a", "/a/under", "/none/a"]

  /** Answers of one random call, without what differs between machines. */
  const step = (disk: DiskFileService, root: string, draw: (below: number) => number) => {
    const path = root + paths[draw(paths.length)]
    const other = root + paths[draw(paths.length)]
    const at = draw(40)
    const content = bytes("xyz".repeat(draw(20)))
    const calls = [
      ["create", () => write(disk, path, content, unsynced)],
      ["makeDirectory", () => disk.makeDirectory(path)],
      ["makeDirectory", () => disk.makeDirectory(path)],
      ["link", () => disk.link(path, other)],
      ["rename", () => disk.rename(path, other)],
      ["unlink", () => disk.unlink(path)],
      ["removeTree", () => draw(4) === 0 ? disk.removeTree(path) : Effect.void],
      ["syncDirectory", () => disk.syncDirectory(path)],
      ["write", () => modify(disk, path, (file) => Effect.andThen(file.write(content, at), file.syncData))],
      ["truncate", () => modify(disk, path, (file) => file.truncate(at))],
      [
        "readWrite",
        () => Effect.scoped(Effect.flatMap(disk.open(path, "read"), (file) => file.write(bytes("no"), 0)))
      ],
      ["read", () => Effect.map(read(disk, path), text)],
      ["list", () => Effect.map(disk.list(path), (all) => all.map(({ kind, name }) => `${kind} ${name}`).sort())],
      [
        "stat",
        () =>
          Effect.map(disk.stat(path), ({ kind, names, sizeBytes }) => kind === "file" ? { names, sizeBytes } : { kind })
      ],
      ["realPath", () => Effect.map(disk.realPath(path), (real) => real.slice(root.length))]
    ] as const
    const [name, run] = calls[draw(calls.length)] ?? calls[0]
    return Effect.suspend((): Effect.Effect<unknown, DiskError> => run()).pipe(
      Effect.catch((error) => Effect.succeed(error.code)),
      Effect.map((answer) => ({ name, path: path.slice(root.length), other: other.slice(root.length), answer }))
    )
  }

  it.effect("answers to random calls are the real disk's", () =>
    Effect.gen(function*() {
      for (let seed = 1; seed <= 20; seed++) {
        const root = yield* freshDirectory
        const machine = PowerLossDisk.make()
        let states = [seed, seed]
        const drawFor = (side: number) => (below: number) => {
          states = states.map((state, index) =>
            index === side ? (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0 : state
          )
          return Math.floor((states[side] ?? 0) / 2 ** 32 * below)
        }
        for (let count = 0; count < 150; count++) {
          const real = yield* step(nodeDisk, root, drawFor(0))
          const double = yield* step(machine.disk, "", drawFor(1))
          assert.deepStrictEqual(double, real, `seed ${seed}, call ${count}`)
        }
      }
    }))
})
