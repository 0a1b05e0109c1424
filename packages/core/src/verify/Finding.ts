/**
 * What `verify` tells: findings one by one, how far it is, and a last report. Plain values: they print as JSON.
 */
import type { Boundary } from "../format/Boundary.ts"
import { slotKey } from "../format/ObjectKey.ts"

/**
 * What is wrong.
 *
 * - `segment-missing`: no object where a durable segment was.
 * - `segment-corrupt`: the object does not read: header, lengths, checksums, body, or numbers that contradict each other.
 * - `segment-too-new`: this program does not know its version or a critical extension; nothing is known to be damaged.
 * - `segment-misplaced`: it reads, and is the object of another place: another slot, another log, another writer, a marker.
 * - `sequence-doubled`: it gives out numbers that segments before it have.
 * - `sequence-gap`: numbers are missing between two neighbouring segments.
 * - `chain-broken`: its numbers fit, its chain hash does not: this or the segment before was swapped or rewritten.
 * - `end-marker-missing`: nothing stands at a recorded end: a late segment could land there.
 * - `data-at-end`: something other than the end marker stands at a recorded end.
 * - `boundary-wrong`: a point in the manifest is not what the segments say.
 * - `cursor-beyond-durable`: a cursor lies above everything that is stored.
 * - `manifest-missing`, `manifest-corrupt`, `manifest-foreign` (of another log), `manifest-inconsistent` (contradicts
 *   itself), `manifest-rolled-back` (older than the objects are).
 * - `archive-lost`: an archive of ended epochs that the manifest leads to is gone or does not decode.
 * - `unrecorded-epoch`: there is data in an epoch of which the manifest knows nothing.
 */
export type FindingKind =
  | "segment-missing"
  | "segment-corrupt"
  | "segment-too-new"
  | "segment-misplaced"
  | "sequence-doubled"
  | "sequence-gap"
  | "chain-broken"
  | "end-marker-missing"
  | "data-at-end"
  | "boundary-wrong"
  | "cursor-beyond-durable"
  | "manifest-missing"
  | "manifest-corrupt"
  | "manifest-foreign"
  | "manifest-inconsistent"
  | "manifest-rolled-back"
  | "archive-lost"
  | "unrecorded-epoch"

/** Numbers that a reader does not get. */
export interface LostNumbers {
  /** First lost sequence number, inclusive. */
  readonly from: number
  /** Last lost sequence number, inclusive. */
  readonly to: number
  /** False: nothing that is left knows how far the loss goes; at least up to `to`. */
  readonly exact: boolean
}

/** One thing that is wrong. */
export interface Finding {
  readonly _tag: "Finding"
  readonly kind: FindingKind
  /** The object that it is about. */
  readonly key: string
  readonly epoch?: number
  readonly slot?: number
  /** What is lost with it; where several slots in a row are, the first one says it for all of them. */
  readonly lost?: LostNumbers
  /** What the segments say of the point that the manifest has wrong. */
  readonly actual?: Boundary
  /** For people, without the key. */
  readonly reason: string
  /** A repair has recorded this damage: it is no news. */
  readonly known: boolean
}

/** How far `verify` is. */
export interface VerifyProgress {
  readonly _tag: "Progress"
  /** Slots that were checked, and all that there were when it started; those of a log in use become more. */
  readonly segments: number
  readonly segmentsTotal: number
  readonly records: number
  /** Bytes of the objects that were read. */
  readonly bytes: number
}

/** The end of `verify`. */
export interface VerifyReport extends Omit<VerifyProgress, "_tag"> {
  readonly _tag: "Report"
  /** Nothing was found but what a repair has recorded. */
  readonly intact: boolean
  /** The log's id, where anything said it. */
  readonly logId: string | undefined
  /** Epochs that were read. */
  readonly epochs: number
  /** Everything at or below this number has been deleted. */
  readonly trimmedTo: number
  /** The last number that belongs to the log. */
  readonly durable: number
  /** Exact counts of all findings, new ones and those that a repair has recorded. */
  readonly findings: number
  readonly knownFindings: number
  readonly byKind: Readonly<Partial<Record<FindingKind, number>>>
  /** Objects of this log that are no part of it and no damage: below the trim point, and beyond recorded ends. */
  readonly garbage: { readonly belowTrim: number; readonly beyondEnds: number }
  /** Objects below the prefix that are not the log's. */
  readonly foreign: number
}

/** What `verify` tells, one after the other; the report is the last. */
export type VerifyEvent = VerifyProgress | Finding | VerifyReport

const lookAfterCopy = "put it back from a copy or an earlier version; else WalRepair records the loss"
const rebuild = "stop all writers, then rebuild the manifest with WalRepair"
const readOnly = "no data is lost by it; WalRepair writes it anew"

/** What to do about each kind. */
const advice: Readonly<Record<FindingKind, string>> = {
  "segment-missing": `find out who deletes below the prefix; ${lookAfterCopy}`,
  "segment-corrupt": lookAfterCopy,
  "segment-too-new": "verify with a program of the version that wrote it",
  "segment-misplaced": `find out who writes below the prefix; ${lookAfterCopy}`,
  "sequence-doubled": lookAfterCopy,
  "sequence-gap": lookAfterCopy,
  "chain-broken": `find out who writes below the prefix; ${lookAfterCopy}`,
  "end-marker-missing": "opening the log puts it back, and so does WalRepair",
  "data-at-end": "find out who writes below the prefix; WalRepair keeps a copy and lets the log open",
  "boundary-wrong": readOnly,
  "cursor-beyond-durable":
    "the records up to the cursor are lost, or the manifest is of another log; see the other findings",
  "manifest-missing": rebuild,
  "manifest-corrupt": `put it back from a copy; else ${rebuild}`,
  "manifest-foreign": `put the right one back; else ${rebuild}`,
  "manifest-inconsistent": rebuild,
  "manifest-rolled-back": `do not open the log for writing; ${rebuild}`,
  "archive-lost": `put it back from a copy; else ${rebuild}`,
  "unrecorded-epoch": `do not open the log for writing; ${rebuild}`
}

/** What to do about a finding, as half a sentence. */
export const adviceOf = (finding: Finding): string =>
  finding.known ? "nothing: a repair has recorded it" : advice[finding.kind]

/** The finding in one line, for people. */
export const describeFinding = (finding: Finding): string => {
  const { lost } = finding
  const records = lost === undefined
    ? ""
    : `; records ${lost.from} to ${lost.to}${lost.exact ? "" : " at least"} are lost`
  return `${finding.key}: ${finding.kind}: ${finding.reason}${records}`
}

/** A finding about a slot. */
export const slotFinding = (
  prefix: string,
  place: { readonly epoch: number; readonly slot: number },
  finding: Pick<Finding, "kind" | "reason" | "lost" | "actual">
): Finding => ({
  _tag: "Finding",
  key: slotKey(prefix, place.epoch, place.slot),
  epoch: place.epoch,
  slot: place.slot,
  ...finding,
  known: false
})

/** A finding about another object. */
export const objectFinding = (key: string, kind: FindingKind, reason: string): Finding => ({
  _tag: "Finding",
  key,
  kind,
  reason,
  known: false
})
