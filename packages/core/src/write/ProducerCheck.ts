/** What a call with a producer must be before anything of it is accepted. */
import type { DigestService } from "../codec/Digest.ts"
import { viewOf } from "../format/Bytes.ts"
import { encodedCallBytes, isProducerId, producerIdRule } from "../format/ProducerCalls.ts"
import { InvalidProducer, ProducerCallTooLarge } from "../WalError.ts"
import type { AppendRecord } from "../WalRecord.ts"
import type { Producer } from "../WalService.ts"
import { type Measured, recordOverheadBytes } from "./RecordCheck.ts"
import { largestContent, type SegmentLimits } from "./SegmentLimits.ts"

/** A call as it is looked up and kept. */
export interface ProducerCall extends Producer {
  /** What tells it from another call under the same sequence: CRC-32 over its payloads, each after its length as `u32`. */
  readonly fingerprint: number
  /** What all its records take of a segment. */
  readonly contentBytes: number
}

const sequenceRule = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`

const producerProblem = ({ id, sequence }: Producer): InvalidProducer | undefined => {
  if (typeof id !== "string" || !isProducerId(id)) {
    return new InvalidProducer({ field: "id", value: String(id), rule: producerIdRule })
  }
  return Number.isSafeInteger(sequence) && sequence >= 0
    ? undefined
    : new InvalidProducer({ field: "sequence", value: String(sequence), rule: sequenceRule })
}

const fingerprintOf = (records: ReadonlyArray<AppendRecord>, digest: DigestService): number => {
  const length = new Uint8Array(4)
  const view = viewOf(length)
  let crc = 0
  for (const { payload } of records) {
    view.setUint32(0, payload.length, true)
    crc = digest.crc32(payload, digest.crc32(length, crc))
  }
  return crc
}

export interface CallLimits extends SegmentLimits {
  /** No call with several records takes more of the buffer. */
  readonly bufferBytes: number
}

/**
 * The measured records as one call that is kept whole. It must fit into one segment and into the buffer; a single record
 * always does.
 */
export const measureCall = (
  measured: Measured,
  producer: Producer,
  limits: CallLimits,
  digest: DigestService
): Measured | InvalidProducer | ProducerCallTooLarge => {
  const problem = producerProblem(producer)
  if (problem !== undefined) return problem
  const { records } = measured
  const callBytes = encodedCallBytes(producer.id)
  const recordBytes = measured.contentBytes.reduce((sum, size) => sum + size, 0)
  const limitBytes = Math.min(
    largestContent({ ...limits, maxSegmentBytes: limits.maxSegmentBytes - callBytes }, records.length),
    limits.bufferBytes - records.length * recordOverheadBytes - callBytes
  )
  if (records.length > limits.maxEntries || records.length > 1 && recordBytes > limitBytes) {
    return new ProducerCallTooLarge({
      records: records.length,
      limitRecords: limits.maxEntries,
      sizeBytes: recordBytes,
      limitBytes: Math.max(0, limitBytes)
    })
  }
  return {
    records,
    // The first record carries what the call itself takes.
    contentBytes: measured.contentBytes.map((size, index) => index === 0 ? size + callBytes : size),
    bufferBytes: measured.bufferBytes + callBytes,
    call: {
      id: producer.id,
      sequence: producer.sequence,
      fingerprint: fingerprintOf(records, digest),
      contentBytes: recordBytes + callBytes
    }
  }
}
