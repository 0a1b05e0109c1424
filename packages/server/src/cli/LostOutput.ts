/** What becomes of a command whose stdout or stderr cannot be written any more. Node would end the process by itself. */
import { Effect } from "effect"
import { exitCodes } from "./ExitCode.ts"
import { type Failure, failureText } from "./Failure.ts"
import { Json } from "./Output.ts"

type Listener = (error: unknown) => void

const onErrorOf = (streams: ReadonlyArray<NodeJS.WriteStream>, listener: Listener) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const stream of streams) stream.on("error", listener)
    }),
    // The error of the last write comes a turn later.
    () =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => {
          for (const stream of streams) stream.off("error", listener)
        })
      )
  )

const isClosedPipe = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EPIPE"

/** Nobody reads on, as behind `| head`: a command that only reads has nothing left to do, and ends well. */
export const endWithReader = onErrorOf([process.stdout], (error) => {
  if (isClosedPipe(error)) process.exit(0)
})

const cannotWrite = (error: unknown): Failure => ({
  code: "output_failed",
  message: `the output cannot be written: ${error instanceof Error ? error.message : String(error)}`,
  next: "Make room where it goes, or send it elsewhere.",
  exit: "failed"
})

/**
 * Nobody reads on: what a command says at its end is lost, what it does is not. Another error of stdout, such as a full
 * disk below a file, ends it: who reads the file would take it for the whole.
 */
export const outliveReaders = Effect.flatMap(Json, (json) =>
  Effect.andThen(
    onErrorOf([process.stderr], () => undefined),
    onErrorOf([process.stdout], (error) => {
      if (isClosedPipe(error)) return
      process.stderr.write(`${failureText(cannotWrite(error), json)}\n`)
      process.exit(exitCodes.failed.code)
    })
  ))

/** A server goes on whatever becomes of its log: a collector that is started again, a disk that is full. */
export const outliveOutput = onErrorOf([process.stdout, process.stderr], () => undefined)
