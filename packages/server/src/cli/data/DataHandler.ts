/** What every data command has around its work: the target, errors of the client, a reader of stdout that has gone. */
import { Effect } from "effect"
import type { ExitCode } from "../ExitCode.ts"
import { CommandFailed, describeFailure, type TaggedFailure } from "../Failure.ts"
import { runHandler } from "../Handler.ts"
import { endWithReader } from "../LostOutput.ts"
import { tellClientError } from "./ServerTarget.ts"
import { Target } from "./Target.ts"
import { findStore, findTarget, type StoreInput, type TargetInput } from "./TargetFlags.ts"

/** What a command does to its target. */
export type Effecting = "reads" | "changes"

const around = <A, E extends TaggedFailure | ExitCode, R>(effecting: Effecting, work: Effect.Effect<A, E, R>) =>
  runHandler(Effect.scoped(
    Effect.andThen(effecting === "reads" ? endWithReader : Effect.void, work).pipe(Effect.mapError(tellClientError))
  ))

/** A log that a server has open can be worked on through that server. */
const adviseServer = (error: TaggedFailure | ExitCode): TaggedFailure | ExitCode => {
  if (error._tag !== "DirectoryLocked") return error
  const { code, exit, message } = describeFailure(error)
  return new CommandFailed({
    code,
    message,
    next: "If a server has it open, work through that server with `--url`; else stop the process that has it.",
    exit
  })
}

/** A command on a server or on a store. */
export const onTarget = <A, E extends TaggedFailure | ExitCode, R>(
  effecting: Effecting,
  input: TargetInput,
  work: Effect.Effect<A, E, R>
) =>
  around(
    effecting,
    Effect.flatMap(findTarget(input), (target) => Effect.provideService(work, Target, target)).pipe(
      Effect.mapError(adviseServer)
    )
  )

/** A command on a store only. */
export const onStore = <A, E extends TaggedFailure | ExitCode, R>(
  effecting: Effecting,
  input: StoreInput,
  work: Effect.Effect<A, E, R>
) => around(effecting, Effect.flatMap(findStore(input), (target) => Effect.provideService(work, Target, target)))
