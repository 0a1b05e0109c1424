/** The flag that names one stream of a configuration, and which one that is. */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import type { ServerConfig, StreamConfig } from "../config/ServerConfig.ts"
import { CommandFailed } from "./Failure.ts"

/** `--stream ID`. */
export const streamFlag = Flag.String("stream").pipe(
  Flag.withDescription("Id of the stream; not needed where the configuration has one only"),
  Flag.optional
)

/** The named stream, or the only one. Fails with the ids that there are. */
export const chooseStream = (
  { source, streams }: Pick<ServerConfig, "source" | "streams">,
  wanted: Option.Option<string>
): Effect.Effect<StreamConfig, CommandFailed> => {
  const ids = streams.map(({ id }) => id).join(", ")
  const found = Option.match(wanted, {
    onNone: () => streams.length === 1 ? streams[0] : undefined,
    onSome: (id) => streams.find((each) => each.id === id)
  })
  if (found !== undefined) return Effect.succeed(found)
  return Effect.fail(
    Option.match(wanted, {
      onNone: () =>
        new CommandFailed({
          code: "stream_not_named",
          message: `${source} has ${streams.length === 0 ? "no streams" : `several streams: ${ids}`}`,
          next: streams.length === 0 ? "Add a stream to `streams`." : "Name one with --stream.",
          exit: "usage"
        }),
      onSome: (id) =>
        new CommandFailed({
          code: "stream_not_found",
          message: `${source} has no stream ${id}`,
          next: streams.length === 0 ? "Add it to `streams`." : `Name one of ${ids} with --stream.`,
          exit: "notFound"
        })
    })
  )
}
