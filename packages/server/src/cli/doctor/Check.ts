/** What a check of `doctor` found, and how a row of it is told. */
import type { Effect } from "effect"
import { plainText } from "../HumanText.ts"
import { type JsonFlag, print } from "../Output.ts"

/** `skipped`: something that it needs has failed before. */
export type CheckStatus = "ok" | "warning" | "failed" | "skipped"

/** One row. */
export interface CheckResult {
  /** What was looked at, in a word or two. Names are stable. */
  readonly check: string
  readonly status: CheckStatus
  /** What was found. */
  readonly found: string
  /** What that means for a log; of a check that is not ok. */
  readonly means?: string
  /** What to do; of a check that is not ok. */
  readonly next?: string
  /** Numbers behind `found`, for programs. */
  readonly values?: Readonly<Record<string, number>>
}

/** Tells a row at once: the checks of a slow store take their time. */
export type Tell = (result: CheckResult) => Effect.Effect<void>

/** A check that found nothing wrong. */
export const good = (check: string, found: string, values?: CheckResult["values"]): CheckResult => ({
  check,
  status: "ok",
  found,
  ...values === undefined ? {} : { values }
})

/** A check that could not be made. */
export const skipped = (check: string, found: string): CheckResult => ({ check, status: "skipped", found })

const mark: Readonly<Record<CheckStatus, string>> = {
  ok: "ok",
  warning: "warning",
  failed: "FAILED",
  skipped: "skipped"
}

const statusWidth = 9
const checkWidth = 20

const rowText = ({ check, found, means, next, status }: CheckResult): string => {
  const indent = " ".repeat(statusWidth)
  return [
    `${mark[status].padEnd(statusWidth)}${check.padEnd(checkWidth)} ${plainText(found)}`,
    ...means === undefined ? [] : [`${indent}what it means: ${plainText(means)}`],
    ...next === undefined ? [] : [`${indent}what to do: ${plainText(next)}`]
  ].join("\n")
}

/** Prints a row of a stream. */
export const printResult = (stream: string, result: CheckResult): Effect.Effect<void, never, JsonFlag> =>
  print({ text: () => rowText(result), json: [{ stream, ...result }] })

/** How many rows there are of each status, in words. */
export const summary = (results: ReadonlyArray<CheckResult>): string =>
  (["failed", "warning", "skipped", "ok"] as const).flatMap((status) => {
    const count = results.filter((result) => result.status === status).length
    return count === 0 ? [] : [`${count} ${status === "warning" && count > 1 ? "warnings" : status}`]
  }).join(", ")
