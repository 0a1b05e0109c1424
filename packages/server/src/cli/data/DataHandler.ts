/** What every data command has around its work: the target, errors of the client, a reader of stdout that has gone. */
import { Effect } from "effect"
import type { ExitCode } from "../ExitCode.ts"
import type { TaggedFailure } from "../Failure.ts"
import { runHandler } from "../Handler.ts"
import { tellClientError } from "./ServerTarget.ts"
import { Target } from "./Target.ts"
import { findStore, findTarget, type StoreInput, type TargetInput } from "./TargetFlags.ts"

const isClosedPipe = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EPIPE"

const onStdoutError = (listener: (error: unknown) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => process.stdout.on("error", listener)),
    () => Effect.sync(() => process.stdout.off("error", listener))
  )

/** Nobody reads on, as behind `| head`: a command that only reads has nothing left to do, and ends well. */
const endWithReader = onStdoutError((error) => {
  if (isClosedPipe(error)) process.exit(0)
})

/** A command that changes something goes on: what it says at its end is lost, what it does is not. */
const outliveReader = onStdoutError(() => undefined)

/** What a command does to its target. */
export type Effecting = "reads" | "changes"

const around = <A, E extends TaggedFailure | ExitCode, R>(effecting: Effecting, work: Effect.Effect<A, E, R>) =>
  runHandler(Effect.scoped(
    Effect.andThen(effecting === "reads" ? endWithReader : outliveReader, work).pipe(Effect.mapError(tellClientError))
  ))

/** A command on a server or on a store. */
export const onTarget = <A, E extends TaggedFailure | ExitCode, R>(
  effecting: Effecting,
  input: TargetInput,
  work: Effect.Effect<A, E, R>
) => around(effecting, Effect.flatMap(findTarget(input), (target) => Effect.provideService(work, Target, target)))

/** A command on a store only. */
export const onStore = <A, E extends TaggedFailure | ExitCode, R>(
  effecting: Effecting,
  input: StoreInput,
  work: Effect.Effect<A, E, R>
) => around(effecting, Effect.flatMap(findStore(input), (target) => Effect.provideService(work, Target, target)))
