/** Short names for what tests do with the files of a disk. */
import type { DiskError, DiskFileService, DiskHandle } from "@effect-wal/core/node/DiskFile"
import { Effect } from "effect"
import * as PowerLossDisk from "../../src/PowerLossDisk.ts"

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (body: Uint8Array): string => new TextDecoder().decode(body)

/** Writes a file and does with it what `more` says. */
export const write = (
  disk: DiskFileService,
  path: string,
  content: Uint8Array | string,
  more: (file: DiskHandle) => Effect.Effect<void, DiskError> = (file) => file.sync
) =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* disk.open(path, "create")
    yield* file.write(typeof content === "string" ? bytes(content) : content, 0)
    yield* more(file)
  }))

export const unsynced = () => Effect.void

export const read = (disk: DiskFileService, path: string) =>
  Effect.scoped(Effect.flatMap(disk.open(path, "read"), (file) => file.read(1 << 20, 0)))

/** The bytes; or the code of the refusal. */
export const look = (disk: DiskFileService, path: string) =>
  Effect.map(read(disk, path), text).pipe(Effect.catch((error) => Effect.succeed(error.code)))

/** A disk with a file `/a` that is durable. */
export const withFile = Effect.fnUntraced(function*(content: Uint8Array | string) {
  const machine = PowerLossDisk.make()
  yield* write(machine.disk, "/a", content)
  yield* machine.disk.syncDirectory("/")
  return machine
})

export const modify = <A, E>(disk: DiskFileService, path: string, change: (file: DiskHandle) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(disk.open(path, "modify"), change))
