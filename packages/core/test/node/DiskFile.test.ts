/** The real disk: what durable storage asks of it, call by call. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { DiskHandle, OpenMode } from "../../src/node/DiskFile.ts"
import { nodeDisk } from "../../src/node/DiskFile.ts"
import { bytes, freshDirectory, text } from "./fixtures/disks.ts"

const freshFile = Effect.map(freshDirectory, (path) => join(path, "file"))
const contentOf = (path: string) => Effect.promise(() => fs.readFile(path))

const inFile = <A, E, R>(path: string, mode: OpenMode, use: (file: DiskHandle) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(nodeDisk.open(path, mode), use))

/** The methods that all open files of the process share. */
const sharedMethods = Effect.promise(async () => {
  const file = await fs.open(process.execPath, "r")
  await file.close()
  const methods: fs.FileHandle = Object.getPrototypeOf(file)
  return methods
})

type WriteMethod = (
  this: fs.FileHandle,
  body: Uint8Array,
  from: number,
  length: number,
  position: number
) => Promise<unknown>

/** Until the scope ends, each write of the process takes at most so many bytes. */
const shortWrites = (most: number) =>
  Effect.gen(function*() {
    const methods = yield* sharedMethods
    const { writev } = methods
    const write: WriteMethod = methods.write
    const sizes: Array<number> = []
    const take = (length: number) => {
      sizes.push(Math.min(most, length))
      return Math.min(most, length)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        Object.assign(methods, {
          write(this: fs.FileHandle, body: Uint8Array, from: number, length: number, position: number) {
            return write.call(this, body, from, take(length), position)
          },
          writev(this: fs.FileHandle, parts: ReadonlyArray<Uint8Array>, position: number) {
            const whole = Buffer.concat(parts)
            return write.call(this, whole, 0, take(whole.length), position)
          }
        })
      ),
      () => Effect.sync(() => Object.assign(methods, { write, writev }))
    )
    return sizes
  })

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => bytes(index % 7 === 0 ? "" : `${index};`))

describe("DiskFile, writing", () => {
  it.effect("writeMany puts the parts one behind the other, however many there are", () =>
    Effect.gen(function*() {
      for (const count of [0, 1, 1_023, 1_024, 1_025, 2_500, 5_000]) {
        const path = yield* freshFile
        const parts = numbered(count)
        yield* inFile(path, "create", (file) => Effect.andThen(file.write(bytes("head"), 0), file.writeMany(parts, 3)))
        const expected = Buffer.concat([bytes(count < 2 ? "head" : "hea"), ...parts])
        assert.isTrue((yield* contentOf(path)).equals(expected), String(count))
      }
    }))

  it.effect("writes that the system cuts short are brought to their end, in every part", () =>
    Effect.gen(function*() {
      for (const most of [1, 3, 1_000]) {
        const path = yield* freshFile
        const parts = numbered(1_300)
        const sizes = yield* Effect.scoped(Effect.gen(function*() {
          const sizes = yield* shortWrites(most)
          yield* inFile(path, "create", (file) =>
            Effect.andThen(file.writeMany(parts, 0), file.write(bytes("the tail"), Buffer.concat(parts).length)))
          return sizes
        }))
        assert.isAbove(sizes.length, 3)
        assert.isTrue((yield* contentOf(path)).equals(Buffer.concat([...parts, bytes("the tail")])), String(most))
      }
    }))

  it.effect("[case 20] a full disk answers ENOSPC with the call and the path", () =>
    Effect.gen(function*() {
      const write = yield* Effect.flip(inFile("/dev/full", "modify", (file) => file.write(bytes("x"), 0)))
      assert.deepInclude(write, { call: "write", code: "ENOSPC", path: "/dev/full" })
      const many = yield* Effect.flip(inFile("/dev/full", "modify", (file) => file.writeMany(numbered(1_500), 0)))
      assert.deepInclude(many, { call: "writev", code: "ENOSPC", path: "/dev/full" })
    }))

  it.effect("sync is fsync, syncData is fdatasync", () =>
    Effect.gen(function*() {
      const methods = yield* sharedMethods
      const calls: Array<string> = []
      const { datasync, sync } = methods
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          Object.assign(methods, {
            sync(this: fs.FileHandle) {
              calls.push("fsync")
              return sync.call(this)
            },
            datasync(this: fs.FileHandle) {
              calls.push("fdatasync")
              return datasync.call(this)
            }
          })
        ),
        () => Effect.sync(() => Object.assign(methods, { sync, datasync }))
      )
      const path = yield* freshFile
      yield* inFile(path, "create", (file) => Effect.andThen(file.syncData, file.sync))
      yield* nodeDisk.syncDirectory(join(path, ".."))
      assert.deepStrictEqual(calls, ["fdatasync", "fsync", "fsync"])
    }))

  it.effect("truncate cuts a file and lengthens it with zeros", () =>
    Effect.gen(function*() {
      const path = yield* freshFile
      yield* inFile(path, "create", (file) =>
        Effect.gen(function*() {
          yield* file.write(bytes("0123456789"), 0)
          yield* file.truncate(4)
          assert.strictEqual((yield* file.stat).sizeBytes, 4)
          yield* file.truncate(6)
          assert.strictEqual(text(yield* file.read(99, 0)), "0123\0\0")
        }))
    }))
})

describe("DiskFile, opening", () => {
  it.effect("modify keeps what is there and makes nothing; create makes and never takes over; read does not write", () =>
    Effect.gen(function*() {
      const path = yield* freshFile
      assert.strictEqual((yield* Effect.flip(inFile(path, "modify", () => Effect.void))).code, "ENOENT")
      assert.strictEqual((yield* Effect.flip(inFile(path, "read", () => Effect.void))).code, "ENOENT")
      yield* inFile(path, "create", (file) => file.write(bytes("0123456789"), 0))
      assert.strictEqual((yield* Effect.flip(inFile(path, "create", () => Effect.void))).code, "EEXIST")
      yield* inFile(path, "modify", (file) =>
        Effect.gen(function*() {
          yield* file.write(bytes("xy"), 2)
          assert.strictEqual(text(yield* file.read(3, 1)), "1xy")
        }))
      assert.strictEqual((yield* Effect.flip(inFile(path, "read", (file) => file.write(bytes("no"), 0)))).code, "EBADF")
      assert.strictEqual((yield* contentOf(path)).toString(), "01xy456789")
    }))
})

/** Another process that asks for the lock and holds it until it is killed. */
const startHolder = (path: string, ...user: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const script = fileURLToPath(new URL("./fixtures/lock-holder.ts", import.meta.url))
      const child = spawn(process.execPath, [script, path, ...user], { stdio: ["pipe", "pipe", "inherit"] })
      const ended = once(child, "close")
      const [answer] = await once(createInterface({ input: child.stdout }), "line")
      const kill = Effect.promise(async () => {
        child.kill("SIGKILL")
        await ended
      })
      return { answer, held: answer === "true", kill, pid: child.pid ?? 0 }
    }),
    ({ kill }) => kill
  )

describe("DiskFile, locking", () => {
  it.effect("one scope of the process holds the lock at a time; the file stays", () =>
    Effect.gen(function*() {
      const path = yield* freshFile
      const scope = yield* Scope.make()
      assert.isTrue(yield* Scope.provide(nodeDisk.lock(path), scope))
      assert.isFalse(yield* Effect.scoped(nodeDisk.lock(path)))
      assert.isFalse(yield* Effect.scoped(nodeDisk.lock(join(path, "..", "file"))))
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* Effect.scoped(nodeDisk.lock(path)))
      assert.strictEqual((yield* contentOf(path)).length, 0)
    }))

  it.effect("a lock that can't be made is an error, not a lock that somebody holds", () =>
    Effect.gen(function*() {
      const path = yield* freshFile
      assert.strictEqual((yield* Effect.flip(Effect.scoped(nodeDisk.lock(join(path, "none"))))).call, "lock")
      yield* Effect.promise(() => fs.writeFile(path, "something that is no lock"))
      assert.strictEqual((yield* Effect.flip(Effect.scoped(nodeDisk.lock(path)))).path, path)
    }))

  it.effect(
    "a file that may only be read can't be locked: two readers would both hold it",
    () =>
      Effect.gen(function*() {
        const directory = yield* freshDirectory
        const path = join(directory, "lock")
        yield* Effect.promise(async () => {
          await fs.writeFile(path, "")
          await fs.chmod(path, 0o444)
          await fs.chmod(directory, 0o777)
        })
        // Who may do anything asks as somebody who may not.
        const user = process.getuid?.() === 0 ? ["65534"] : []
        for (let round = 0; round < 2; round++) {
          assert.strictEqual((yield* startHolder(path, ...user)).answer, "EACCES")
        }
        yield* Effect.promise(() => fs.chmod(path, 0o666))
        assert.isTrue((yield* startHolder(path, ...user)).held)
        assert.isFalse((yield* startHolder(path, ...user)).held)
      }),
    30_000
  )

  it.effect(
    "whoever holds a lock must not open its file: closing that gives the lock away",
    () =>
      Effect.gen(function*() {
        const path = yield* freshFile
        assert.isTrue(yield* nodeDisk.lock(path))
        assert.isFalse((yield* startHolder(path)).held)
        yield* inFile(path, "read", () => Effect.void)
        assert.isTrue((yield* startHolder(path)).held)
      }),
    30_000
  )

  it.effect(
    "a process that is killed leaves no lock, and nothing in the file that could mean a process of the same id",
    () =>
      Effect.gen(function*() {
        const path = yield* freshFile
        const holder = yield* startHolder(path)
        assert.isTrue(holder.held)
        assert.isFalse(yield* Effect.scoped(nodeDisk.lock(path)))
        assert.isFalse((yield* startHolder(path)).held)
        yield* holder.kill
        // The file is what it was before anybody held it: no id of a process is looked at, so none can be mistaken.
        assert.strictEqual((yield* contentOf(path)).length, 0)
        assert.isTrue(yield* nodeDisk.lock(path))
        assert.isFalse((yield* startHolder(path)).held)
      }),
    30_000
  )
})
