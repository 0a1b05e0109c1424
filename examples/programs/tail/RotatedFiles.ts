/**
 * A file and those that it was rotated to: `app.ndjson`, `app.ndjson.1`, `app.ndjson.2`, the higher the older.
 *
 * A file is known by its inode and its first line, which never change, and not by its name, which does. So a file has to be
 * renamed: one that is emptied and written again in its place, with the same first line, cannot be told from itself.
 */
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { crc32 } from "node:zlib"

/** How far a file was read. */
export interface Position {
  /** The file's identity. */
  readonly file: string
  /** In bytes. */
  readonly offset: number
}

/** Bytes of a file, whole lines except perhaps at the end of a file that is not written to any more. */
export interface Place extends Position {
  readonly bytes: Uint8Array
}

interface FoundFile {
  readonly path: string
  readonly id: string
}

/** A line does not end within what is read at once. */
class LineTooLong extends Schema.TaggedError<LineTooLong>()("LineTooLong", {
  file: Schema.String,
  offset: Schema.Number
}) {}

/** A file is shorter than what was read of it. What it holds now may be new or not, so nothing of it is skipped. */
class FileCut extends Schema.TaggedError<FileCut>()("FileCut", { file: Schema.String, offset: Schema.Number }) {
  override get message() {
    return `${this.file} was read to byte ${this.offset} and is shorter now: move what it holds to a new file, and start again`
  }
}

const readBytes = 1_048_576
const newline = 10

const readAt = (file: FileSystem.File, offset: number) =>
  Effect.map(
    file.readAlloc(readBytes, { position: BigInt(offset) }),
    Option.getOrElse(() => new Uint8Array(0))
  )

/** `undefined` for a file that has nothing to read yet: no complete line, and no newer file that ends its last one. */
const identityOf = Effect.fnUntraced(function*(file: FileSystem.File, path: string, isOver: boolean) {
  const { ino } = yield* file.stat
  const head = yield* readAt(file, 0)
  const end = head.indexOf(newline)
  if (end < 0 && head.length === readBytes) return yield* new LineTooLong({ file: path, offset: 0 })
  if (end < 0 && (!isOver || head.length === 0)) return undefined
  return `${Option.getOrElse(ino, () => 0n)}-${crc32(end < 0 ? head : head.subarray(0, end))}`
})

const openFile = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.open(path))

/** All of them, the oldest first. One that is renamed meanwhile is found with the next look. */
export const filesOf = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const { basename, dirname } = yield* Path.Path
  const name = basename(path)
  const age = (entry: string): number => entry === name ? 0 : Number(entry.slice(name.length + 1))
  const entries = (yield* fs.readDirectory(dirname(path)))
    .filter((entry) => entry === name || entry.startsWith(`${name}.`) && /^\d+$/.test(entry.slice(name.length + 1)))
    .toSorted((left, right) => age(left) - age(right))
  const files: Array<FoundFile> = []
  for (const entry of entries) {
    const at = `${dirname(path)}/${entry}`
    const isOver = files.length > 0
    const id = yield* Effect.scoped(Effect.flatMap(openFile(at), (file) => identityOf(file, at, isOver))).pipe(
      Effect.catchTag("PlatformError", () => Effect.undefined)
    )
    // The newest is looked at first, so one that is renamed meanwhile is seen twice, and none is missed for it.
    if (id !== undefined && !files.some((found) => found.id === id)) files.push({ path: at, id })
  }
  return files.toReversed()
})

/** The lines at a position; `undefined` where the file is not there any more under this name. */
const read = (file: FoundFile, offset: number, isOver: boolean) =>
  Effect.scoped(Effect.gen(function*() {
    const open = yield* openFile(file.path)
    if ((yield* identityOf(open, file.path, isOver)) !== file.id) return undefined
    if (offset > (yield* open.stat).size) return yield* new FileCut({ file: file.path, offset })
    const bytes = yield* readAt(open, offset)
    const end = bytes.lastIndexOf(newline) + 1
    if (end === 0 && bytes.length === readBytes) return yield* new LineTooLong({ file: file.path, offset })
    // A last line without an end is taken as it is once a newer file has begun.
    return isOver && end === 0 ? bytes : bytes.subarray(0, end)
  })).pipe(Effect.catchTag("PlatformError", () => Effect.undefined))

/** What comes at a position, or in the next file where this one is read to its end; `undefined` where nothing does yet. */
export const chunkAt = Effect.fnUntraced(function*(files: ReadonlyArray<FoundFile>, position: Position | undefined) {
  const current = files.findIndex(({ id }) => id === position?.file)
  for (const [index, file] of files.entries()) {
    if (index < current) continue
    const offset = index === current ? position?.offset ?? 0 : 0
    const bytes = yield* read(file, offset, index < files.length - 1)
    if (bytes === undefined) return undefined
    if (bytes.length > 0) return { file: file.id, offset, bytes } satisfies Place
  }
  return undefined
})
