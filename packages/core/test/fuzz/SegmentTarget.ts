/** The decoder of objects under fuzz: header, extensions, both checksums, unpacking, columns, calls. */
import { finding, type FuzzFinding, type FuzzOutcome, type FuzzTarget } from "@effect-wal/testing/fuzz/FuzzTarget"
import { Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { CompressionService } from "../../src/codec/Compression.ts"
import type { BodyFailure } from "../../src/format/BodyFailure.ts"
import { boundaryAfter } from "../../src/format/ChainHash.ts"
import * as Extensions from "../../src/format/Extensions.ts"
import { OpenColumns } from "../../src/format/OpenColumns.ts"
import { decodeBody, decodeCalls, encodeBody, type HeldCall } from "../../src/format/SegmentBody.ts"
import { type ReadSegment, readSegment, recordsOf } from "../../src/format/SegmentCodec.ts"
import {
  decodeHeader,
  encodedHeaderBytes,
  encodeHeader,
  type Extension,
  type SegmentHeader
} from "../../src/format/SegmentHeader.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { SegmentCorrupt, SegmentTooNew } from "../../src/WalError.ts"
import type { WalRecord } from "../../src/WalRecord.ts"
import { makeSegment, maxSegmentBytes, sealObject } from "./SegmentInput.ts"

const key = "n/s/segments/0000000003/000000000017.seg"

const rule = (holds: boolean, problem: string): Effect.Effect<void, FuzzFinding> =>
  holds ? Effect.void : Effect.fail(finding(problem))

/** The codecs, and how much they were asked to unpack to. */
const countingCompression = (asked: (bytes: number) => void): CompressionService => ({
  ...nodeCompression,
  decompress: (stored, codec, rawBytes) => {
    asked(rawBytes)
    return nodeCompression.decompress(stored, codec, rawBytes)
  }
})

const checkHeader = (header: SegmentHeader): Effect.Effect<void, FuzzFinding> => {
  const bytes = new Uint8Array(encodedHeaderBytes(header))
  encodeHeader(header, bytes, nodeDigest)
  const again = decodeHeader(bytes, nodeDigest, Extensions.knownCriticalExtensions)
  return rule(
    !("_tag" in again) && isDeepStrictEqual(again.header, header),
    "a header that was encoded again is another one"
  )
}

/** Each extension that was read is read as the same once it was written again. */
const checkExtensions = (header: SegmentHeader): Effect.Effect<void, FuzzFinding> => {
  const again = <A>(read: (header: SegmentHeader) => A | undefined, encode: (value: A) => Extension): boolean => {
    const value = read(header)
    if (value === undefined) return true
    // As JSON, which does not tell -0 from 0.
    return JSON.stringify(read({ ...header, extensions: [encode(value)] })) === JSON.stringify(value)
  }
  return rule(
    again(Extensions.cursorsOf, Extensions.encodeCursors) && again(Extensions.trimOf, Extensions.encodeTrim) &&
      again(Extensions.linkOf, Extensions.encodeLink) && again(Extensions.ownerOf, Extensions.encodeOwner) &&
      again(Extensions.callSpanOf, Extensions.encodeCallSpan) && again(Extensions.originsOf, Extensions.encodeOrigins),
    "an extension that was encoded again is another one"
  )
}

const columnsOf = (records: ReadonlyArray<WalRecord>, calls: ReadonlyArray<HeldCall>, first: number): OpenColumns => {
  const columns = new OpenColumns()
  for (const [index, record] of records.entries()) {
    const call = calls.find((one) => one.first === first + index)
    if (call !== undefined) columns.openCall({ ...call, count: call.last - call.first + 1 })
    columns.push(record, record.appendedAt)
  }
  return columns
}

const isFailure = <A extends object>(decoded: A | BodyFailure): decoded is BodyFailure =>
  "_tag" in decoded && decoded._tag === "BodyFailure"

const checkRecords = Effect.fnUntraced(function*(segment: ReadSegment, records: ReadonlyArray<WalRecord>) {
  const { body, header } = segment
  const isDense = records.every((record, index) => record.seq === header.firstSeq + index)
  yield* rule(records.length === header.count && isDense, "the numbers are not those of the header")
  yield* rule(records.every(({ seq }) => Number.isSafeInteger(seq)), "a number is beyond 2^53-1")
  yield* rule(
    records.every((one, index) => one.appendedAt >= (records[index - 1]?.appendedAt ?? Number.NEGATIVE_INFINITY)),
    "the times fall"
  )
  yield* rule(
    records.every(({ appendedAt, timestamp = 0 }) => Number.isFinite(appendedAt) && Number.isFinite(timestamp)),
    "a time is not finite"
  )
  const payloads = records.reduce((sum, { payload }) => sum + payload.length, 0)
  yield* rule(payloads <= body.length, "the payloads are larger than the body")
  const calls = decodeCalls(body, header)
  if (isFailure(calls)) return yield* Effect.fail(finding("the records decode and their calls do not"))
  yield* rule(
    calls.every(({ first, last }) =>
      header.firstSeq <= first && first <= last && last < header.firstSeq + header.count
    ),
    "a call has records that are not in the segment"
  )
  const encoded = encodeBody(columnsOf(records, calls, header.firstSeq))
  yield* rule(
    isDeepStrictEqual(decodeBody(encoded, header), records) && isDeepStrictEqual(decodeCalls(encoded, header), calls),
    "records that were encoded again are others"
  )
  const from = header.firstSeq + (header.count >>> 1)
  yield* rule(
    isDeepStrictEqual(decodeBody(body, header, from), records.filter(({ seq }) => seq >= from)),
    "reading from a record on gives other records"
  )
})

/** A refusal names a place in the object and says why, shortly. */
const refusal = (
  error: SegmentCorrupt | SegmentTooNew,
  length: number,
  allocatedBytes: number
): Effect.Effect<FuzzOutcome, FuzzFinding> => {
  if (error._tag === "SegmentTooNew") {
    return Effect.succeed({ refused: error._tag, reason: error.found, allocatedBytes })
  }
  const { offset, reason } = error
  const isPlace = Number.isSafeInteger(offset) && offset >= 0 && offset <= Math.max(length, 148)
  return Effect.as(
    rule(isPlace && reason.length > 0 && reason.length < 300, `the error is at ${offset} of ${length}: ${reason}`),
    { refused: error._tag, reason, allocatedBytes }
  )
}

const check = Effect.fnUntraced(function*(input: Uint8Array): Effect.fn.Return<FuzzOutcome, FuzzFinding> {
  let allocatedBytes = 0
  const compression = countingCompression((bytes) => {
    allocatedBytes = Math.max(allocatedBytes, bytes)
  })
  const read = yield* Effect.result(readSegment(key, input, { digest: nodeDigest, compression, maxSegmentBytes }))
  yield* rule(allocatedBytes <= maxSegmentBytes, `${allocatedBytes} bytes were to be unpacked`)
  if (Result.isFailure(read)) return yield* refusal(read.failure, input.length, allocatedBytes)
  const { body, header } = read.success
  yield* rule(body.length === header.rawBytes && body.length <= maxSegmentBytes, "the body has another length")
  yield* rule(body.buffer.byteLength <= Math.max(input.buffer.byteLength, 2 * maxSegmentBytes), "the body pins memory")
  yield* checkHeader(header)
  yield* checkExtensions(header)
  boundaryAfter(header, nodeDigest)
  const records = yield* Effect.result(recordsOf(key, read.success, 0))
  if (Result.isFailure(records)) return yield* refusal(records.failure, body.length, allocatedBytes)
  yield* checkRecords(read.success, records.success)
  return { allocatedBytes }
})

/** Objects of the store, read with a limit of 1 MiB a body. */
export const segmentTarget: FuzzTarget = { name: "segment", make: makeSegment, check, repair: sealObject }
