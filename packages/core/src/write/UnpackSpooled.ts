/** A segment that comes back from the spool: it has its slot and is packed. */
import { Deferred, Effect } from "effect"
import type { DigestService } from "../codec/Digest.ts"
import { boundaryAfter } from "../format/ChainHash.ts"
import { emptyCursorSet } from "../format/CursorSet.ts"
import { cursorsOf } from "../format/Extensions.ts"
import { readHeader } from "../format/SegmentCodec.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { WalEnd } from "../WalError.ts"
import type { Packed } from "./PackSegment.ts"
import type { Settled, StampedSegment } from "./Segment.ts"

/** The segment of the object, without its records. A spool checks what it gives back, so one that does not read is a defect. */
export const unpackSpooled = Effect.fnUntraced(function*(key: string, object: Uint8Array, digest: DigestService) {
  const { header } = yield* Effect.orDie(readHeader(key, object, digest))
  const stamped: StampedSegment = {
    ticket: {
      settled: Deferred.makeUnsafe<Settled, WalEnd>(),
      demanded: true,
      spooledSeq: header.firstSeq + header.count - 1
    },
    bufferBytes: 0,
    openedAt: yield* monotonicNow,
    key,
    header,
    cursors: cursorsOf(header) ?? emptyCursorSet,
    after: boundaryAfter(header, digest)
  }
  const packed: Packed = { header, object, crc32: digest.crc32(object) }
  return { stamped, packed }
})
