/**
 * Where the objects of a directory store lie on disk.
 *
 * ```
 * {root}/a/b/c.seg                                    the object a/b/c.seg, or its first version
 * {root}/a/manifest.json~versions/00000000000000000007  version 7 of a/manifest.json, once it was replaced
 * {root}/~tmp/{nonce}                                 a file that is being written, or a directory being removed
 * {root}/a/~journal/                                  the slots of a log below a/, which are no objects of this store
 * {root}/a/~spool/                                    what the log below a/ has spooled, where it does so in this directory
 * ```
 *
 * `~` is in no id of the log, so these names never meet a key of it. The number of a version is its tag; the highest is
 * the object. The first version stays where it is for as long as the object exists: it is what a second create runs into.
 */

/** The directory for temporary files, below the root. */
export const temporaryName = "~tmp"

/** The directory with the slots of a log that is kept in append-only files, below the prefix of the log. */
export const journalName = "~journal"

/** The directory with the segments of a log that wait for its store, below the prefix of the log. */
export const spoolName = "~spool"

/** What is behind a key in the name of the directory with its versions. */
export const versionsSuffix = "~versions"

/** How many versions older than the current one are kept, for readers that have just looked up the number of one. */
export const keptVersions = 8

/** The tag of an object that was never replaced. */
export const firstVersion = 1

const versionPattern = /^[0-9]{20}$/

/** The file name of a version. */
export const versionName = (version: number): string => String(version).padStart(20, "0")

/** The version that a file name stands for; `undefined` when it is no version. */
export const versionOf = (name: string): number | undefined => {
  const version = versionPattern.test(name) ? Number(name) : NaN
  return Number.isSafeInteger(version) ? version : undefined
}

/** The version that a tag names; `undefined` when this store gave no such tag. */
export const versionOfTag = (tag: string): number | undefined =>
  /^[1-9][0-9]{0,15}$/.test(tag) && Number.isSafeInteger(Number(tag)) ? Number(tag) : undefined

/** The tag of a version. */
export const tagOf = (version: number): string => String(version)

/** Whether a name in the directory of `isRoot` belongs to the store itself and is never listed. */
export const isReservedName = (name: string, isRoot: boolean): boolean =>
  name.endsWith(versionsSuffix) || name === journalName || name === spoolName || isRoot && name === temporaryName

/** Why `key` can't be a file below the root; `undefined` when it can. */
export const keyProblem = (key: string): string | undefined => {
  const parts = key.split("/")
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "has an empty, . or .. part"
  if (key.includes("\0")) return "has a zero character"
  if (parts.some((part, index) => isReservedName(part, index === 0))) return "uses a name of the store itself"
  return undefined
}

/** The directory part of a key, without a slash at the end; empty for a key at the root. */
export const parentOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf("/")))
