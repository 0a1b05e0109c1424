/**
 * Follows a file of lines as it grows and is rotated (`app.ndjson` is renamed to `app.ndjson.1`, and a new one begun), and
 * handles each line. Here that is printing it, with its number.
 *
 *     node examples/programs/tail-file.ts app.ndjson
 *
 * Each record carries the file and the place of its line, so the log itself knows how far the file was read: what is
 * durable is not read again, and what a crash took from the log is. The producer says the same to the log, so that even a
 * line that is read again is appended once. WAL_PATH (./data/tail-file).
 */
import * as DurableInput from "@effect-wal/core/DurableInput"
import { Wal, type WalService } from "@effect-wal/core/Wal"
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, Console, Effect, Layer, Option, Stream } from "effect"
import { chunkAt, filesOf, type Place, type Position } from "./tail/RotatedFiles.ts"

/** A line of a file. */
interface Line extends AppendRecord {
  readonly headers: { readonly file: string; readonly from: string; readonly to: string }
}

/** A second cursor, which stays one record behind: so the newest record is never deleted, and says where to go on. */
const cursor = "position"

/** Where the newest record of the log ends; `undefined` in a log that is empty. */
const lastPosition = Effect.fnUntraced(function*(wal: WalService) {
  yield* wal.commit(0, { cursor })
  const { cursors } = yield* wal.status
  const newest = yield* Stream.runLast(wal.read({ from: (cursors[cursor]?.mark ?? 0) + 1 }))
  return Option.match(newest, {
    onNone: () => undefined,
    onSome: ({ headers }): Position => ({ file: headers?.["file"] ?? "", offset: Number(headers?.["to"]) })
  })
})

const pollInterval = "100 millis"

/** The lines of one chunk, and where the next one begins. */
const linesOf = ({ bytes, file, offset }: Place) => {
  const lines: Array<Line> = []
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(10, start)
    const end = newline < 0 ? bytes.length : newline
    const next = Math.min(end + 1, bytes.length)
    lines.push({
      payload: bytes.subarray(start, end),
      headers: { file, from: String(offset + start), to: String(offset + next) }
    })
    start = next
  }
  return { lines, next: { file, offset: offset + bytes.length } }
}

/** A rename can hide a file from one look, not from so many. */
const looksUntilGone = 10

interface Reading {
  readonly position: Position | undefined
  /** Looks in a row that have not found the file of the position. */
  readonly missed: number
}

/** The lines of a file and of those that it was rotated to, from a position on, for ever. */
const follow = (path: string, from: Position | undefined) =>
  Stream.paginate(
    { position: from, missed: 0 },
    Effect.fnUntraced(function*({ missed, position }: Reading) {
      const files = yield* filesOf(path)
      const isThere = position === undefined || files.some(({ id }) => id === position.file)
      const place = isThere ? yield* chunkAt(files, position) : undefined
      if (place !== undefined) {
        const { lines, next } = linesOf(place)
        return [lines, Option.some<Reading>({ position: next, missed: 0 })] as const
      }
      yield* Effect.sleep(pollInterval)
      if (isThere || missed < looksUntilGone) {
        return [[], Option.some<Reading>({ position, missed: isThere ? 0 : missed + 1 })] as const
      }
      yield* Effect.logWarning(`${position.file} is gone: what it held after byte ${position.offset} is not read`)
      return [[], Option.some<Reading>({ position: undefined, missed: 0 })] as const
    })
  )

const LogLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("WAL_PATH").pipe(Config.withDefault("./data/tail-file")),
  (path) => Wal.layerLocal({ path, nodeId: "node-0", streamId: "lines" })
))

const program = Effect.gen(function*() {
  const path = process.argv[2] ?? "app.ndjson"
  const wal = yield* Wal
  const from = yield* lastPosition(wal)
  yield* Console.log(
    from === undefined ? `${path}: from its start` : `${path}: from byte ${from.offset} of ${from.file}`
  )
  const input = DurableInput.make(wal, follow(path, from), {
    producer: ({ headers }) => ({ id: `tail-${headers.file}`, sequence: Number(headers.from) }),
    onDurable: () => Effect.flatMap(wal.status, ({ durable }) => wal.commit(durable - 1, { cursor }))
  })
  yield* input.run(({ payload }, { seq }) => Console.log(`${seq}: ${new TextDecoder().decode(payload)}`))
})

program.pipe(Effect.provide(Layer.merge(LogLive, NodeServices.layer)), NodeRuntime.runMain)
