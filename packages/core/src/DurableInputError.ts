/** What can be wrong with the use of a `DurableInput`. */
import { Schema } from "effect"

/**
 * Somebody else appends to the log of an input that handles elements as soon as they are accepted. It would never deliver
 * those of others, so it ends; all that was accepted comes with the next run.
 */
export class InputNotAlone extends Schema.TaggedError<InputNotAlone>()("InputNotAlone", {
  /** The stream id of the log. */
  log: Schema.String,
  /** The number that the next element of the input should have got. */
  expected: Schema.Number,
  /** The number that it has got. */
  found: Schema.Number
}) {
  override get message(): string {
    return `log ${this.log}: the input expected number ${this.expected} and got ${this.found}: somebody else appends; ` +
      "give the input a log of its own, or handle after durability"
  }
}
