/** An append whose key names a batch that is stored already, and is another one: what stands there, and how to go on. */
import { ProducerConflict } from "@effect-wal/core/WalError"
import { WalClientError } from "../../client/ClientError.ts"
import type { TaggedFailure } from "../Failure.ts"
import type { AppendEnd, Piece } from "./AppendRun.ts"

/** The numbers of the records that were appended under a key before. */
interface Stored {
  readonly first: number
  readonly last: number
}

const storedBefore = (error: TaggedFailure): Stored | undefined => {
  if (error instanceof ProducerConflict) return error
  if (!(error instanceof WalClientError) || error.reason._tag !== "producer_conflict") return undefined
  const { first, last } = error.reason.details
  return typeof first === "number" && typeof last === "number" ? { first, last } : undefined
}

/** How to start behind the first so many records of the batch; empty lines are no records, and where they are is not known. */
const startBehind = ({ batch }: Piece, count: number): string => {
  const { fromLine, payloads, toLine } = batch
  const isDense = toLine - fromLine + 1 === payloads.length && count <= payloads.length
  return isDense ? `\`--from-line ${fromLine + count}\`` : "`--from-line` at the line behind them"
}

/**
 * What to do where a key has other records: `undefined` of any other end. The usual advice would be wrong for both causes:
 * the input has grown or is cut in another way, and its first lines are stored; or the key was used for something else.
 */
export const conflictStep = (end: AppendEnd, raw: boolean): string | undefined => {
  if (end._tag !== "Failed" || end.refused === undefined) return undefined
  const stored = storedBefore(end.error)
  if (stored === undefined) return undefined
  const count = stored.last - stored.first + 1
  const look = `Look with \`effect-wal cat --from ${stored.first} --limit ${count}\` what has this key.`
  if (raw) return `${look} If it is something else, use another key.`
  const { batch, file } = end.refused
  const sameKey =
    `If it is how the input goes on at line ${batch.fromLine} of ${file}, go on behind it: the same command and key ` +
    `with ${startBehind(end.refused, count)}.`
  return `${look} ${sameKey} If it is something else, use another key with \`--from-line ${batch.fromLine}\`.`
}
