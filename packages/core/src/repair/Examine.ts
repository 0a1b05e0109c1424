/** One verification with everything kept that a repair is planned from. */
import { Effect, Stream } from "effect"
import type { Census } from "../verify/Census.ts"
import type { Finding, FindingKind, VerifyReport } from "../verify/Finding.ts"
import { type VerifyContext, verifyLog } from "../verify/Verify.ts"
import { SegmentTooNew } from "../WalError.ts"
import { Evidence } from "./Evidence.ts"

/** Findings that a plan shows. */
const keptFindings = 1_000

export interface Examined {
  readonly evidence: Evidence
  /** Of each kind the first one, however many there are. */
  readonly firstOf: ReadonlyMap<FindingKind, Finding>
  /** The first ones of all kinds. */
  readonly findings: ReadonlyArray<Finding>
  /** Recorded ends at which something is wrong: no marker, or something else. */
  readonly ends: ReadonlyArray<Finding>
  readonly report: VerifyReport
  readonly census: Census
}

/** Reads the whole log. Fails as a verification does, and `SegmentTooNew`: what a newer program wrote is no damage. */
export const examine = Effect.fnUntraced(function*(context: VerifyContext) {
  const evidence = new Evidence()
  const firstOf = new Map<FindingKind, Finding>()
  const findings: Array<Finding> = []
  const ends: Array<Finding> = []
  let report: VerifyReport | undefined
  let census: Census | undefined
  const observer: VerifyContext["observer"] = {
    onStep: (step) => evidence.step(step),
    onCensus: (taken, { trim }) => {
      census = taken
      if (trim !== undefined) evidence.sawTrim(trim)
    }
  }
  yield* Stream.runForEach(verifyLog({ ...context, observer }), (event) =>
    Effect.suspend(() => {
      if (event._tag === "Report") report = event
      if (event._tag !== "Finding") return Effect.void
      if (event.kind === "segment-too-new") return new SegmentTooNew({ key: event.key, found: event.reason })
      if (!firstOf.has(event.kind)) firstOf.set(event.kind, event)
      if (findings.length < keptFindings) findings.push(event)
      if (event.kind === "end-marker-missing" || event.kind === "data-at-end") ends.push(event)
      return Effect.void
    }))
  // Both are told before the stream ends.
  if (report === undefined || census === undefined) {
    return yield* Effect.die(new Error("a verification ended without a report"))
  }
  return { evidence, firstOf, findings, ends, report, census } satisfies Examined as Examined
})
