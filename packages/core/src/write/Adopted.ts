/** What a spooled segment of an ended epoch holds, on its way into a new one. */
import type { SpoolPlace } from "../format/Extensions.ts"
import { encodedCallBytes } from "../format/ProducerCalls.ts"
import type { HeldCall } from "../format/SegmentBody.ts"
import type { WalRecord } from "../WalRecord.ts"
import { contentBytesOf, recordOverheadBytes } from "./RecordCheck.ts"

export interface Adopted {
  /** Under their old numbers. */
  readonly records: ReadonlyArray<WalRecord>
  /** The calls of producers among them, ascending. */
  readonly calls: ReadonlyArray<HeldCall>
  readonly copyOf: SpoolPlace
}

/** What it takes of the buffer. */
export const adoptedBytes = ({ calls, records }: Adopted): number =>
  records.reduce((sum, record) => sum + contentBytesOf(record) + recordOverheadBytes, 0) +
  calls.reduce((sum, call) => sum + encodedCallBytes(call.id), 0)

/** Without the calls that the log has already: their producers have repeated them to another writer meanwhile. */
export const withoutKnown = (adopted: Adopted, isKnown: (call: HeldCall, records: number) => boolean): Adopted => {
  const known = adopted.calls.filter((call) => isKnown(call, call.last - call.first + 1))
  if (known.length === 0) return adopted
  const isDropped = (seq: number) => known.some((call) => seq >= call.first && seq <= call.last)
  return {
    copyOf: adopted.copyOf,
    records: adopted.records.filter((record) => !isDropped(record.seq)),
    calls: adopted.calls.filter((call) => !known.includes(call))
  }
}

interface Unit {
  readonly record: WalRecord
  /** What it takes as content, with the call that starts with it. */
  readonly bytes: number
  readonly starts: HeldCall | undefined
  readonly ends: HeldCall | undefined
}

/** The records, each with the calls that start and end with it. */
export function* unitsOf({ calls, records }: Adopted): Generator<Unit> {
  let next = 0
  for (const record of records) {
    const call = calls[next]
    const starts = call?.first === record.seq ? call : undefined
    const ends = call?.last === record.seq ? call : undefined
    if (ends !== undefined) next++
    const bytes = contentBytesOf(record) + (starts === undefined ? 0 : encodedCallBytes(starts.id))
    yield { record, bytes, starts, ends }
  }
}
