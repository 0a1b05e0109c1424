/**
 * The identity of a log: a node, a stream, and the prefix they live under.
 *
 * Ids become parts of object keys and file names, so their alphabet is what every store, file system and URL takes
 * unescaped; no `/`, so that `a/b` + `c` and `a` + `b/c` can never share a prefix.
 */
import { InvalidId } from "./WalError.ts"

/** What names a log: all its keys stand below `{prefix}/{nodeId}/{streamId}/`. */
export interface LogIdentity {
  /** Zero or more id-like parts joined by `/`; no slash at either end. */
  readonly prefix: string
  readonly nodeId: string
  readonly streamId: string
}

/** Longest id, in characters. */
export const maxIdLength = 128

const idPattern = /^[A-Za-z0-9._-]+$/

/** What an id must be, for error messages. */
export const idRule = `must be 1 to ${maxIdLength} characters of A-Z a-z 0-9 . _ - and neither "." nor ".."`

/** Whether `value` is an id. */
export const isId = (value: string): boolean =>
  value.length >= 1 && value.length <= maxIdLength && idPattern.test(value) && value !== "." && value !== ".."

/** What a prefix must be, for error messages. */
export const prefixRule =
  "must be ids joined by single slashes, without one at either end, at most 512 characters; or empty"

/** Whether `value` can stand before the node id in a key. */
export const isPrefix = (value: string): boolean => value === "" || value.length <= 512 && value.split("/").every(isId)

/** The first rule that the identity breaks; `undefined` when it is good. */
export const identityProblem = (identity: LogIdentity): InvalidId | undefined => {
  if (!isId(identity.nodeId)) return new InvalidId({ field: "node_id", value: identity.nodeId, rule: idRule })
  if (!isId(identity.streamId)) return new InvalidId({ field: "stream_id", value: identity.streamId, rule: idRule })
  if (!isPrefix(identity.prefix)) return new InvalidId({ field: "prefix", value: identity.prefix, rule: prefixRule })
  return undefined
}

/** Where all keys of the log start; ends with a slash, so that `main` never lists `main2`. */
export const logPrefix = (identity: LogIdentity): string =>
  `${identity.prefix === "" ? "" : `${identity.prefix}/`}${identity.nodeId}/${identity.streamId}/`
