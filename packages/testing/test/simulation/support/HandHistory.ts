/** Histories made by hand, and their verdict. */
import { assert } from "@effect/vitest"
import type { History } from "../../../src/simulation/History.ts"
import { checkLinearizable } from "../../../src/simulation/Linearizability.ts"
import { isLinearizable } from "./BruteForce.ts"

/** The verdict, where trying all orders comes to the same one. */
const judged = (history: History) => {
  const verdict = checkLinearizable(history)
  assert.strictEqual(verdict._tag, isLinearizable(history) ? "Linearizable" : "Violation")
  return verdict
}

/** Some order explains it. */
export const good = (history: History) => assert.strictEqual(judged(history)._tag, "Linearizable")

/** No order explains it, and the first line of the message says which rule is broken. */
export const bad = (history: History, rule: RegExp) => {
  const verdict = judged(history)
  assert.match(verdict._tag === "Violation" ? verdict.message.split("\n")[0] ?? "" : verdict._tag, rule)
}

/** An append that is answered before anything else happens. */
export const appended = (history: History, ids: ReadonlyArray<number>, first: number, process = "w1") =>
  history.durable(history.append(process, ids), first)

/** A read that ends before anything else happens, by default a strong one from 1. */
export const read = (
  history: History,
  ids: ReadonlyArray<number>,
  { from = 1, process = "w1", strength = "strong" }: {
    readonly from?: number
    readonly process?: string
    readonly strength?: "strong" | "weak"
  } = {}
) => history.seen(history.read(process), { from, ids, strength })

/** A commit of the default cursor that is answered before anything else happens. */
export const committed = (history: History, seq: number, process = "w1") =>
  history.acked(history.commit(process, "default", seq))

/** A look at the default cursor, or its opening, that ends before anything else happens. */
export const marked = (history: History, seq: number, process = "w1", opening = false) =>
  history.marked(history.mark(process, "default", { opening }), seq)
