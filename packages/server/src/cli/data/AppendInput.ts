/** What `append` reads: files and stdin, as streams of bytes, and the batches that they are cut into. */
import { Cause, type Duration, Effect, FileSystem, Option, Queue, type Scope, Stdio, Stream } from "effect"
import { CommandFailed, type TaggedFailure } from "../Failure.ts"
import { type Batch, type BatchLimits, LineBatches, maxLineBytes } from "./LineBatches.ts"

/** One input. */
export interface AppendInput {
  /** The file, or `stdin`. */
  readonly name: string
  readonly bytes: Stream.Stream<Uint8Array, TaggedFailure>
  /** Where it is known. */
  readonly sizeBytes: number | undefined
}

const unreadable = (name: string) => (error: TaggedFailure): CommandFailed =>
  new CommandFailed({
    code: "input_unreadable",
    message: `${name} cannot be read: ${error.message}`,
    next: "Check the path and its permissions.",
    exit: "usage",
    details: { file: name }
  })

/** Bytes that are read from a file at a time. */
const chunkBytes = 262_144

/** The named files, `-` being stdin; stdin where none is named. Fails for one that is not there, before anything is sent. */
export const openInputs = Effect.fnUntraced(function*(files: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const stdio = yield* Stdio.Stdio
  const stdin: AppendInput = {
    name: "stdin",
    bytes: Stream.mapError(stdio.stdin, unreadable("stdin")),
    sizeBytes: undefined
  }
  return yield* Effect.forEach(
    files.length === 0 ? ["-"] : files,
    (name) =>
      name === "-" ? Effect.succeed(stdin) : fs.stat(name).pipe(
        Effect.mapError(unreadable(name)),
        Effect.flatMap((info) =>
          info.type === "Directory"
            ? Effect.fail(unreadable(name)({ _tag: "IsDirectory", message: "it is a directory" }))
            : Effect.succeed<AppendInput>({
              name,
              bytes: Stream.mapError(fs.stream(name, { chunkSize: chunkBytes }), unreadable(name)),
              // Pipes and devices do not say how much comes.
              sizeBytes: info.type === "File" ? Number(info.size) : undefined
            })
        )
      )
  )
})

/** How an input is cut. */
export interface CutOptions {
  readonly limits: BatchLimits
  readonly fromLine: number
  /** After so long without input, what has come is a batch; absent: only full ones, so that they are the same each time. */
  readonly linger?: Duration.Duration
}

/** What the next look at an input brings; `undefined`: it has ended. */
export type Cut = { readonly batches: ReadonlyArray<Batch>; readonly problem?: TaggedFailure } | undefined

/** Chunks that are read ahead. */
const readAhead = 4

type Chunk = Option.Option<Uint8Array> | "end"

/** What stands before a line that is wrong is good, and goes. */
const withRest = (lines: LineBatches, found: NonNullable<Cut>): Cut => {
  const held = found.problem === undefined ? undefined : lines.flush()
  return held === undefined ? found : { ...found, batches: [...found.batches, held] }
}

const cutChunk = (lines: LineBatches, chunk: Chunk): Cut => {
  if (chunk === "end") return lines.end()
  if (Option.isSome(chunk)) return withRest(lines, lines.push(chunk.value))
  const held = lines.flush()
  return { batches: held === undefined ? [] : [held] }
}

/** The batches of an input: each run of the effect waits for what comes next. */
export const cutLines = (
  input: AppendInput,
  { fromLine, limits, linger }: CutOptions
): Effect.Effect<{ readonly next: Effect.Effect<Cut> }, never, Scope.Scope> =>
  Effect.map(Stream.toQueue(input.bytes, { capacity: readAhead }), (chunks) => {
    const lines = new LineBatches({ name: input.name, fromLine }, limits)
    let isOver = false
    const one = Effect.map(Queue.take(chunks), Option.some)
    const chunk = Effect.suspend(() =>
      linger === undefined || !lines.holds
        ? one
        : Effect.timeoutOrElse(one, { duration: linger, orElse: () => Effect.succeed(Option.none()) })
    )
    const found = chunk.pipe(
      Effect.catchIf(Cause.isDone, () => {
        isOver = true
        return Effect.succeed("end" as const)
      }),
      Effect.map((each: Chunk) => cutChunk(lines, each)),
      Effect.catch((problem) => Effect.succeed(withRest(lines, { batches: [], problem })))
    )
    return { next: Effect.suspend(() => isOver ? Effect.succeed<Cut>(undefined) : found) }
  })

/** The whole input as one record. */
export const readWhole = (input: AppendInput): Effect.Effect<Batch, TaggedFailure> => {
  const collected: { readonly parts: Array<Uint8Array>; bytes: number } = { parts: [], bytes: 0 }
  return Stream.runForEach(input.bytes, (chunk): Effect.Effect<void, CommandFailed> => {
    collected.parts.push(chunk)
    collected.bytes += chunk.length
    return collected.bytes <= maxLineBytes
      ? Effect.void
      : Effect.fail(
        new CommandFailed({
          code: "record_too_large",
          message: `${input.name} is longer than ${maxLineBytes} bytes, more than any record can have`,
          next: "Split it.",
          exit: "usage",
          details: { file: input.name }
        })
      )
  }).pipe(
    Effect.map(() => ({ payloads: [Buffer.concat(collected.parts)], bytes: collected.bytes, fromLine: 1, toLine: 1 }))
  )
}
