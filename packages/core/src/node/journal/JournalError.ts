/**
 * What a journal can fail with, and the translation of the operating system's answers into it.
 */
import { Schema } from "effect"
import { StoreUnavailable, SyncFailed } from "../../WalError.ts"
import type { DiskError } from "../DiskFile.ts"

/**
 * A call of a journal that did not succeed.
 *
 * - `full`: no room on the disk or in the quota; nothing of the call is stored, and it can be repeated as soon as there is.
 * - `sync-failed`: bytes were written and their sync failed; whether they are stored is unknown. The file is given up: the
 *   same call, repeated, writes all bytes again into another file.
 * - `failed`: anything else; whether the bytes of an append are stored is unknown.
 */
export class JournalError extends Schema.TaggedError<JournalError>()("JournalError", {
  reason: Schema.Literals(["full", "sync-failed", "failed"]),
  /** The file, or the directory, that the call was about. */
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.path}: ${this.detail}`
  }
}

const noRoom: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"])

/** Whether the operating system says that the disk or the quota is used up. */
export const isNoRoom = (error: DiskError): boolean => noRoom.has(error.code)

const fromDisk = (reason: JournalError["reason"], error: DiskError, path: string): JournalError =>
  new JournalError({ reason, path, detail: `${error.call}: ${error.detail}` })

/** The error for a call that wrote nothing that counts: `full` or `failed`. A file may be open under an earlier name. */
export const journalError = (error: DiskError, path = error.path): JournalError =>
  fromDisk(isNoRoom(error) ? "full" : "failed", error, path)

/** The error for a call that may have left bytes behind, whatever the operating system said: `failed`. */
export const failedError = (error: DiskError, path = error.path): JournalError => fromDisk("failed", error, path)

/** The error for a failed sync, whatever the operating system said: `sync-failed`. */
export const syncError = (error: DiskError, path = error.path): JournalError => fromDisk("sync-failed", error, path)

/** What a log that cannot open its journal fails with. */
export const openError = (error: JournalError): SyncFailed | StoreUnavailable =>
  error.reason === "sync-failed"
    ? new SyncFailed({ path: error.path, detail: error.detail })
    : new StoreUnavailable({ operation: "open", key: error.path, detail: error.detail })
