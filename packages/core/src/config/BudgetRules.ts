/**
 * The rules of the `budget` block, what it comes to, and when it cannot be kept to.
 *
 * Pure; each rule names the places that it reads, as in `BackendRules.ts`.
 */
import { Duration } from "effect"
import { putsPerSecondFor } from "../StorePrices.ts"
import type { PutBudgetOptions, WalOptions } from "../WalOptions.ts"
import type { Problem } from "./DecodeTree.ts"
import { formatDuration } from "./DurationText.ts"
import type { BackendKind, LogSettings } from "./OptionsSchema.ts"

type Budget = LogSettings["budget"]

const sourceRules = (
  { dollars_per_month: dollars, puts_per_second: puts }: NonNullable<Budget>
): ReadonlyArray<Problem> => {
  if (dollars !== undefined && puts !== undefined) {
    return [{
      path: ["budget", "dollars_per_month"],
      reads: [["budget", "puts_per_second"]],
      rule: "stands beside puts_per_second; give one of the two"
    }]
  }
  return dollars !== undefined || puts !== undefined ? [] : [{
    path: ["budget"],
    reads: [["budget", "dollars_per_month"], ["budget", "puts_per_second"]],
    rule: "is empty; give puts_per_second or dollars_per_month"
  }]
}

/** The rules of a log's budget; `sync` is what is in force, wherever it stands. Paths start at the backend. */
export const budgetRules = (
  { budget }: LogSettings,
  kind: BackendKind | undefined,
  sync: LogSettings["sync"]
): ReadonlyArray<Problem> => {
  if (budget === undefined) return []
  const path = ["budget"]
  return [
    ...sourceRules(budget),
    ...(kind === "local"
      ? [{
        path,
        reads: [["type"]],
        rule: "does not go with type: local, whose disk takes no money for a PUT; remove it"
      }]
      : []),
    ...(sync === "periodic"
      ? [{
        path,
        reads: [["sync"]],
        rule: "has no effect with sync: periodic, which seals on the interval only; remove one of the two"
      }]
      : [])
  ]
}

/** PUTs a second of a checked block; absent where there is none. */
export const resolveBudget = (budget: Budget): Pick<WalOptions, "budget"> => {
  const { dollars_per_month: dollars, puts_per_second: puts } = budget ?? {}
  const putsPerSecond = puts ?? (dollars === undefined ? undefined : putsPerSecondFor(dollars))
  return putsPerSecond === undefined ? {} : { budget: { putsPerSecond } satisfies PutBudgetOptions }
}

/** A budget that the interval alone exceeds is no error: it still stretches `linger`. But it is said. */
export const budgetNotices = ({ budget, segment }: WalOptions): ReadonlyArray<string> => {
  const intervalRate = 1_000 / Duration.toMillis(segment.flushInterval)
  if (budget === undefined || budget.putsPerSecond >= intervalRate) return []
  const interval = formatDuration(segment.flushInterval)
  return [
    `budget: ${
      Number(budget.putsPerSecond.toPrecision(3))
    } PUTs a second are fewer than flush_interval ${interval} makes ` +
    `while records come, ${Number(intervalRate.toPrecision(3))} a second; only a longer flush_interval keeps to it`
  ]
}
