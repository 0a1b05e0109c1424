/** From what is stored to a plan. Writes nothing. */
import { Effect } from "effect"
import { archiveKey } from "../epoch/EndsArchive.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { manifestKey, slotKey } from "../format/ObjectKey.ts"
import { NonceSource } from "../Nonce.ts"
import type { FindingKind } from "../verify/Finding.ts"
import type { ManifestMissing, ManifestTooNew, SegmentTooNew, StoreError } from "../WalError.ts"
import { amend } from "./Amend.ts"
import { examine, type Examined } from "./Examine.ts"
import type { Proposal } from "./Proposal.ts"
import { rebuild, type RebuildContext, type RepairDecisions } from "./Rebuild.ts"
import type { RepairUndecided } from "./RepairError.ts"
import type { RepairAction, RepairPlan } from "./RepairPlan.ts"
import { fingerprint, readStored, type StoredManifest } from "./StoredLog.ts"

/** With one of these the manifest is no ground to build on. */
const rebuilt: ReadonlyArray<FindingKind> = [
  "manifest-missing",
  "manifest-corrupt",
  "manifest-foreign",
  "manifest-inconsistent",
  "manifest-rolled-back",
  "archive-lost",
  "unrecorded-epoch"
]

/** With one of these the manifest is older than the log: the trim point may have been further. */
const older: ReadonlyArray<FindingKind> = ["manifest-inconsistent", "manifest-rolled-back", "unrecorded-epoch"]

/** Why no plan can be made. */
export type PlanFailure = StoreError | ManifestMissing | ManifestTooNew | SegmentTooNew | RepairUndecided

/** Where the copy of an object is kept. */
const copyKey = (prefix: string, id: string, key: string): string => `${prefix}repair/${id}/${key.slice(prefix.length)}`

const propose = Effect.fnUntraced(
  function*(context: RebuildContext, stored: StoredManifest | undefined, first: Examined, request: {
    readonly decisions: RepairDecisions
    readonly nonce: string
  }) {
    const manifest = stored?.manifest
    const isForeign = first.firstOf.has("manifest-foreign")
    if (manifest !== undefined && !rebuilt.some((kind) => first.firstOf.has(kind))) {
      return yield* amend(context, manifest, first)
    }
    const base = isForeign ? undefined : manifest
    const isTrimKnown = base !== undefined && !older.some((kind) => first.firstOf.has(kind))
    return yield* rebuild(context, { first, base, isTrimKnown, nonce: request.nonce }, request.decisions)
  }
)

const copies = (prefix: string, id: string, proposal: Proposal): ReadonlyArray<RepairAction> =>
  [...new Map(proposal.damagedKeys.map((one) => [one.key, one.reason]))].map(([from, why]) => ({
    _tag: "Copy",
    from,
    to: copyKey(prefix, id, from),
    why
  }))

/** The archive of what has no room in the manifest, and the manifest that leads to it. */
const manifestActions = (
  prefix: string,
  ids: { readonly id: string; readonly commitId: string },
  proposal: Proposal,
  stored: StoredManifest | undefined
): ReadonlyArray<RepairAction> => {
  const { archived, manifest } = proposal
  if (manifest === undefined) return []
  const key = manifestKey(prefix)
  const through = archived.at(-1)?.epoch ?? 0
  const pointer: Manifest["ends_archive"] = archived.length === 0
    ? manifest.ends_archive
    : { key: archiveKey(prefix, through, ids.id), through }
  const why = "what the log is from now on"
  return [
    ...(stored === undefined
      ? []
      : [{ _tag: "Copy" as const, from: key, to: copyKey(prefix, ids.id, key), why: "it is replaced" }]),
    ...(archived.length === 0 || pointer === null
      ? []
      : [{ _tag: "PutArchive" as const, key: pointer.key, ends: archived, why: "the manifest has no room for them" }]),
    {
      _tag: "PutManifest",
      key,
      replaces: stored?.tag,
      manifest: { ...manifest, commit_id: ids.commitId, nonce: ids.id, ends_archive: pointer },
      why
    }
  ]
}

/** Everything that the plan creates beside copies and the manifest. */
export const createdKeys = (actions: ReadonlyArray<RepairAction>): ReadonlySet<string> =>
  new Set(
    actions.flatMap((action) => action._tag === "PutEndMarker" || action._tag === "PutArchive" ? [action.key] : [])
  )

/** Plans the repair of a log. */
export const makePlan = Effect.fnUntraced(function*(context: RebuildContext, decisions: RepairDecisions) {
  const freshNonce = yield* NonceSource
  const { prefix } = context
  // Before anything is looked at: what changes meanwhile makes the plan stale.
  const objects = yield* fingerprint(context, new Set())
  const stored = yield* readStored(context)
  const first = yield* examine(context)
  const id = yield* freshNonce
  const proposal = yield* propose(context, stored, first, { decisions, nonce: id })
  const markers = proposal.markers.map(({ epoch, slot, why }): RepairAction => ({
    _tag: "PutEndMarker",
    key: slotKey(prefix, epoch, slot),
    epoch,
    slot,
    why
  }))
  const manifest = manifestActions(prefix, { id, commitId: yield* freshNonce }, proposal, stored)
  // What a repair has kept a copy of before, and has recorded, is not copied again.
  const kept = manifest.length === 0 ? [] : copies(prefix, id, proposal)
  return {
    id,
    prefix,
    logId: proposal.manifest?.log_id ?? stored?.manifest?.log_id ?? "",
    findings: proposal.findings,
    // The marker first: until it stands, a late segment could land where the log is about to end.
    actions: [...kept, ...markers, ...manifest],
    damaged: proposal.stretches,
    kept: { ...proposal.kept, trimmedTo: (proposal.manifest ?? stored?.manifest)?.trim.seq ?? 0 },
    notes: proposal.notes,
    manifestTag: stored?.tag,
    stored: objects
  } satisfies RepairPlan as RepairPlan
})
