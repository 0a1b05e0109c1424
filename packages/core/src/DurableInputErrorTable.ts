/** The row of `docs/errors.md` about inputs; like typed logs they are met in the library only. */
import type { InputNotAlone } from "./DurableInputError.ts"
import type { TypedErrorEntry } from "./TypedErrorTable.ts"

/** One row for each error of `DurableInputError.ts`. */
export const inputErrors: Readonly<Record<InputNotAlone["_tag"], TypedErrorEntry>> = {
  InputNotAlone: {
    when: "somebody else appends to the log of an input with `handle: \"after-accepted\"`",
    then: "Give the input a log of its own, or handle after durability. What was accepted comes with the next run.",
    data: "unknown",
    retryable: true
  }
}
