/**
 * What a failed call of the operating system means as an answer of a store.
 */
import type { Operation, Reason } from "../../store/ObjectStoreError.ts"
import { ObjectStoreError } from "../../store/ObjectStoreError.ts"
import type { DiskError } from "../DiskFile.ts"

const reasons: Readonly<Record<string, Reason>> = {
  ENOSPC: "StoreFull",
  EDQUOT: "StoreFull",
  EACCES: "AccessDenied",
  EPERM: "AccessDenied",
  EROFS: "AccessDenied",
  ENAMETOOLONG: "UnexpectedResponse",
  ENOTDIR: "UnexpectedResponse",
  EISDIR: "UnexpectedResponse"
}

/** An answer of the store that a call of the operating system stands behind. */
export const storeError = (operation: Operation, key: string, reason: Reason, cause: DiskError): ObjectStoreError =>
  new ObjectStoreError({ operation, key, reason, detail: cause.message, code: cause.code })

/**
 * The answer for a call that failed before anything of the operation could be seen: `StoreFull` for a full disk or quota,
 * `AccessDenied` for a permission or a read-only disk, `UnexpectedResponse` for a key that the file system can't hold, else
 * `Unavailable`.
 */
export const beforeCommit = (operation: Operation, key: string) => (cause: DiskError): ObjectStoreError =>
  storeError(operation, key, reasons[cause.code] ?? "Unavailable", cause)

/** The answer for a call that failed when the write may already be seen: `Unavailable`, whose outcome is unknown. */
export const afterCommit = (operation: Operation, key: string) => (cause: DiskError): ObjectStoreError =>
  storeError(operation, key, "Unavailable", cause)

/** Whether the path does not exist, or runs through something that is no directory. */
export const isAbsent = (cause: DiskError): boolean => cause.code === "ENOENT" || cause.code === "ENOTDIR"
