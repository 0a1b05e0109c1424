/**
 * What each error of the log means for who sits at a command line: the exit code, and what to do next where the advice of
 * the core's `errorTable` speaks to a program.
 */
import type { WalErrorTag } from "@effect-wal/core/ErrorTable"
import type { ExitCodeName } from "./ExitCode.ts"

/** One row; without `next` the advice is that of `errorTable`. */
export interface FailureEntry {
  readonly exit: ExitCodeName
  readonly next?: string
}

const damaged = (next: string): FailureEntry => ({ exit: "damaged", next })
const refused = (next?: string): FailureEntry => ({ exit: "refused", ...next === undefined ? {} : { next } })
const unavailable = (next?: string): FailureEntry => ({ exit: "unavailable", ...next === undefined ? {} : { next } })
const denied = (next: string): FailureEntry => ({ exit: "denied", next })
const usage = (next?: string): FailureEntry => ({ exit: "usage", ...next === undefined ? {} : { next } })
const failed: FailureEntry = { exit: "failed" }

const lookThenRepair =
  "See what is wrong with `effect-wal verify`, then what would mend it with `effect-wal repair --dry-run`."
const lostRange =
  "Put the object back from a copy; or read on behind it with `--on-damage skip`, which says what is lost."

/** One row for each tag; the compiler refuses a tag without a row. */
export const failureTable: Readonly<Record<WalErrorTag, FailureEntry>> = {
  WalClosed: failed,
  WalFailed: { exit: "dead", next: "Start it again; what is durable is found again. Please report the defect." },
  WriterFenced: refused(),
  AlreadyOpen: refused(),
  OpenTimeout: unavailable(
    "Look what the store answers with `effect-wal doctor`, or raise `open_timeout`; nothing is half-done."
  ),
  EndMarkerLost: damaged(lookThenRepair),
  ManifestMissing: damaged(lookThenRepair),
  ManifestVanished: damaged(
    "Find out who deletes below the prefix. Put the manifest back, or see `effect-wal repair --dry-run`."
  ),
  ManifestCorrupt: damaged(
    "Put the manifest back from a copy, or see what would rebuild it: `effect-wal repair --dry-run`."
  ),
  ManifestTooNew: failed,
  ManifestContention: unavailable(),
  SegmentConflict: damaged("Find out who writes below the prefix, then run `effect-wal verify`."),
  SegmentCorrupt: damaged(lostRange),
  SegmentMissing: damaged(lostRange),
  SegmentTooNew: failed,
  SequenceGap: damaged(`See what is wrong with \`effect-wal verify\`. ${lostRange}`),
  SequenceExhausted: failed,
  ConditionalWritesUnsupported: {
    exit: "failed",
    next: "Run `effect-wal doctor`: it says which condition fails, and what would do."
  },
  StoreUnavailable: unavailable("Look what the store answers with `effect-wal doctor`, and try again."),
  CredentialsUnavailable: denied(
    "Give credentials in the configuration or in the environment; `effect-wal doctor` tries them one by one."
  ),
  AccessDenied: denied("See which permission is missing with `effect-wal doctor`; check the bucket's name and region."),
  UnexpectedResponse: { exit: "failed", next: "Run `effect-wal doctor`: it tries each kind of request by itself." },
  RecordTooLarge: usage(),
  InvalidRecord: usage(),
  DiskFull: unavailable(),
  // Commands that can ask a server say so too: `DataHandler`.
  DirectoryLocked: refused("Stop the process that has it open, a running `effect-wal serve` for instance."),
  SyncFailed: unavailable(),
  SpoolUndecided: failed,
  InvalidProducer: usage(),
  ProducerConflict: failed,
  ProducerSequenceTooOld: failed,
  ProducerCallTooLarge: usage(),
  BufferFull: unavailable("The store is slower than the input, or down: see `effect-wal status`, and try again."),
  Trimmed: { exit: "notFound", next: "Read from the first record that is still there; `effect-wal status` shows it." },
  InvalidCursor: usage(),
  CursorTooFarAhead: failed,
  CommitBeyondDurable: {
    exit: "failed",
    next: "Commit only what is durable; `effect-wal status` shows how far that is."
  },
  InvalidId: usage(),
  ConfigError: usage("Correct what is named above; `effect-wal config check` looks again without starting anything.")
}
