/** One verification with everything kept that a repair is planned from. */
import { Effect, Stream } from "effect"
import type { Census } from "../verify/Census.ts"
import type { Finding, FindingKind, VerifyReport } from "../verify/Finding.ts"
import { type VerifyContext, verifyLog } from "../verify/Verify.ts"
import { Evidence } from "./Evidence.ts"

/** Findings that a plan shows. */
const keptFindings = 1_000

export interface Examined {
  readonly evidence: Evidence
  readonly kinds: ReadonlySet<FindingKind>
  /** The first ones. */
  readonly findings: ReadonlyArray<Finding>
  /** Recorded ends at which something is wrong: no marker, or something else. */
  readonly ends: ReadonlyArray<Finding>
  readonly report: VerifyReport
  readonly census: Census
}

/** Reads the whole log. Fails as a verification does. */
export const examine = Effect.fnUntraced(function*(context: VerifyContext) {
  const evidence = new Evidence()
  const kinds = new Set<FindingKind>()
  const findings: Array<Finding> = []
  const ends: Array<Finding> = []
  let report: VerifyReport | undefined
  let census: Census | undefined
  const observer: VerifyContext["observer"] = {
    onStep: (step) => evidence.step(step),
    onCensus: (taken) => {
      census = taken
    }
  }
  yield* Stream.runForEach(verifyLog({ ...context, observer }), (event) =>
    Effect.sync(() => {
      if (event._tag === "Report") report = event
      if (event._tag !== "Finding") return
      kinds.add(event.kind)
      if (findings.length < keptFindings) findings.push(event)
      if (event.kind === "end-marker-missing" || event.kind === "data-at-end") ends.push(event)
    }))
  // Both are told before the stream ends.
  if (report === undefined || census === undefined) {
    return yield* Effect.die(new Error("a verification ended without a report"))
  }
  return { evidence, kinds, findings, ends, report, census } satisfies Examined as Examined
})
