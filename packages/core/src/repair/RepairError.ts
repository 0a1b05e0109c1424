/** Why a repair is not planned, or not done. */
import { Schema } from "effect"

/** One answer that an operator can give. */
export const RepairChoice = Schema.Struct({
  /** The field of `decisions`, and its value. */
  option: Schema.String,
  value: Schema.String,
  /** What the repaired log is then. */
  means: Schema.String
})
export type RepairChoice = typeof RepairChoice.Type

/**
 * What is stored does not say what the log was: somebody who knows has to decide. Nothing was written. Plan again with one
 * of the choices in `decisions`.
 */
export class RepairUndecided extends Schema.TaggedError<RepairUndecided>()("RepairUndecided", {
  question: Schema.String,
  choices: Schema.Array(RepairChoice)
}) {
  override get message(): string {
    const choices = this.choices.map(({ means, option, value }) => `${option}: ${JSON.stringify(value)} (${means})`)
    return choices.length === 0
      ? `${this.question} Put objects or the manifest back from a copy.`
      : `${this.question} Decide: ${choices.join("; or ")}`
  }
}

/** Something has changed since the repair was planned. Nothing of the log was changed by this call; plan again. */
export class RepairStale extends Schema.TaggedError<RepairStale>()("RepairStale", {
  key: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.key}: ${this.reason}; nothing was replaced; plan the repair again`
  }
}
