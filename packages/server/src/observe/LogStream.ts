/**
 * The stream that a line of the log is about. A line of JSON has it as a field of its own; for people the words of the line
 * say it where it matters.
 */
import { Context } from "effect"

/** Absent where a line is about no stream, or about several. */
export const LogStream = Context.Reference<string | undefined>("@effect-wal/server/LogStream", {
  defaultValue: () => undefined
})
