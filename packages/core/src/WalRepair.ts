/**
 * Mending a log: a lost manifest is made anew from the objects, damage is recorded so that the log opens and appends go on.
 *
 * First `plan`, which writes nothing and shows everything; then, once no writer runs, `apply`. Nothing is ever deleted: of
 * what is damaged or replaced a copy is kept below `repair/{id}/`. Records that damage has taken stay lost: readers fail
 * at them, or skip them and say which, and `verify` calls them known.
 */
import { Effect } from "effect"
import { lookContext, type LookOptions } from "./log/LookOptions.ts"
import { producerLimits } from "./log/Settings.ts"
import { applyPlan, type RepairReport } from "./repair/Apply.ts"
import { describeStretch } from "./repair/Evidence.ts"
import { makePlan, type PlanFailure } from "./repair/Plan.ts"
import type { RepairDecisions } from "./repair/Rebuild.ts"
import type { RepairStale } from "./repair/RepairError.ts"
import type { RepairAction, RepairPlan } from "./repair/RepairPlan.ts"
import type { ObjectStore } from "./store/ObjectStore.ts"
import { describeFinding } from "./verify/Finding.ts"
import { ConfigError, type InvalidId, type ManifestTooNew, type StoreError } from "./WalError.ts"

export type { RepairReport } from "./repair/Apply.ts"
export type { RepairDecisions } from "./repair/Rebuild.ts"
export { RepairChoice, RepairStale, RepairUndecided } from "./repair/RepairError.ts"
export type * from "./repair/RepairPlan.ts"

/** Which log, and how it is looked at. */
export interface PlanOptions extends LookOptions {
  /** What objects cannot say; `RepairUndecided` asks for it. */
  readonly decisions?: RepairDecisions
}

/**
 * `ConfigError` and `InvalidId` before any request; `RepairUndecided` where somebody has to decide; `ManifestMissing` where
 * there is no log; `ManifestTooNew` and `SegmentTooNew` where a newer program has to do it; what the store answers.
 */
export type PlanError = ConfigError | InvalidId | PlanFailure

/**
 * Reads the whole log, up to three times, and says what a repair would write and why, what is lost as exact numbers, and
 * what is kept. A plan without actions: nothing has to be repaired.
 */
export const plan = Effect.fnUntraced(
  function*(options: PlanOptions): Effect.fn.Return<RepairPlan, PlanError, ObjectStore> {
    const { decisions = {}, ...rest } = options
    const { lastSeq } = decisions
    if (lastSeq !== undefined && !(Number.isSafeInteger(lastSeq) && lastSeq >= 0)) {
      const rule = `must be a whole number, 0 to ${Number.MAX_SAFE_INTEGER}; it is ${lastSeq}`
      return yield* new ConfigError({ source: "options", problems: [{ path: "decisions.lastSeq", rule }] })
    }
    const { options: resolved, ...context } = yield* lookContext(rest)
    return yield* makePlan({ ...context, producers: producerLimits(resolved) }, decisions)
  }
)

/** How a plan is applied. */
export interface ApplyOptions extends LookOptions {
  /** The operator's word that no writer has the log open, here or elsewhere, and that none is started meanwhile. */
  readonly noWriterRuns: true
}

/** `RepairStale`: the log is not as it was when the repair was planned. `ConfigError` without the operator's word. */
export type ApplyError = ConfigError | InvalidId | RepairStale | ManifestTooNew | StoreError

/**
 * Does what the plan says. The word that no writer runs is needed, as nothing else keeps one from writing between the plan
 * and now. After a failure, or a crash in the middle, the same plan can be applied again; a log that was opened in between
 * makes it `RepairStale`.
 */
export const apply = Effect.fnUntraced(
  function*(planned: RepairPlan, options: ApplyOptions): Effect.fn.Return<RepairReport, ApplyError, ObjectStore> {
    const { noWriterRuns, ...rest } = options
    if (noWriterRuns !== true) {
      const rule = "must be true: stop all writers of the log first"
      return yield* new ConfigError({ source: "options", problems: [{ path: "noWriterRuns", rule }] })
    }
    const { options: _, ...context } = yield* lookContext(rest)
    return yield* applyPlan(context, planned)
  }
)

const describeAction = (action: RepairAction): string => {
  switch (action._tag) {
    case "Copy":
      return `copy ${action.from} to ${action.to}: ${action.why}`
    case "PutEndMarker":
      return `create the end marker ${action.key}: ${action.why}`
    case "PutArchive":
      return `create the archive ${action.key} of ${action.ends.length} ended epochs: ${action.why}`
    case "PutManifest":
      return `${action.replaces === undefined ? "create" : "replace"} ${action.key}: ${action.why}`
  }
}

/** The plan as lines for people: what is wrong, what is lost, what is kept, what is written. */
export const describePlan = (planned: RepairPlan): ReadonlyArray<string> => {
  const { kept } = planned
  return [
    ...planned.findings.map((finding) => `found: ${describeFinding(finding)}`),
    ...planned.damaged.map((stretch) => `lost: ${describeStretch(planned.prefix, stretch)}`),
    `kept: ${kept.records} records in ${kept.segments} segments after record ${kept.trimmedTo}; ` +
    `new records get numbers above ${kept.lastSeq}`,
    ...planned.notes.map((note) => `note: ${note}`),
    ...(planned.actions.length === 0
      ? ["nothing is written"]
      : planned.actions.map((one) => `will ${describeAction(one)}`))
  ]
}
