/** The configured stream that a command on a store is about. */
import { Effect } from "effect"
import { CommandFailed } from "../Failure.ts"
import { Target } from "./Target.ts"
import { chooseStreamId, type StoreInput } from "./TargetFlags.ts"

/** Its configuration. */
export const chosenConfig = Effect.fnUntraced(function*(input: StoreInput) {
  const target = yield* Target
  const id = yield* chooseStreamId(input.stream)
  const stream = target.configOf(id)
  if (stream !== undefined) return stream
  return yield* new CommandFailed({
    code: "stream_not_found",
    message: `${target.place} has no stream ${JSON.stringify(id)}`,
    next: `Name one of ${(yield* target.streamIds).join(", ")} with --stream.`,
    exit: "notFound"
  })
})
