/** The status of an open log, put together from its parts. */
import { monotonicMillis } from "../internal/Monotonic.ts"
import type { WalStatus } from "../WalService.ts"
import type { PendingSegment } from "../write/Segment.ts"
import type { LogEngine } from "./LogEngine.ts"

/** When the oldest record that a crash would lose came, in milliseconds of the monotonic clock. */
const oldestAt = (engine: LogEngine, spooled: number): number | undefined => {
  const inFlight = engine.ledger.outstanding.find((segment) => segment.after.seq > spooled)
  if (inFlight !== undefined) return inFlight.openedAt
  const open: PendingSegment | undefined = engine.queue.oldest ?? engine.segmenter.openSegment
  return open === undefined ? engine.unsentSinceMillis : open.openedAt
}

const fencedBy = (engine: LogEngine): { readonly newOwner?: string } => {
  const ended = engine.fate.refusal
  return ended?._tag === "WriterFenced" && ended.byHost !== undefined ? { newOwner: ended.byHost } : {}
}

/** What is buffered and not on disk. */
const atRiskBytes = (engine: LogEngine, spooled: number): number =>
  engine.ledger.outstanding.reduce(
    (bytes, segment) => segment.after.seq <= spooled ? bytes - segment.bufferBytes : bytes,
    engine.segmenter.bufferedBytes - (engine.spooler?.keptBytes ?? 0)
  )

const spoolOf = (engine: LogEngine, records: number): Pick<WalStatus, "spool"> => {
  const { spool, spooler } = engine
  if (spooler === undefined || spool === undefined) return {}
  const problem = spooler.problem
  return {
    spool: {
      path: spool.path,
      records,
      segments: spooler.segments,
      bytes: spool.usedBytes(),
      limitBytes: spool.maxBytes,
      ...(problem === undefined ? {} : { problem })
    }
  }
}

export const statusOf = (engine: LogEngine): WalStatus => {
  const { coordinator, fate, ledger, options, segmenter, stats } = engine
  const durable = ledger.durable.seq
  const spooled = engine.spooler?.seq ?? durable
  const oldest = oldestAt(engine, spooled)
  const lowest = engine.cursors.lowest()
  const now = monotonicMillis(engine.clock)
  return {
    nodeId: options.nodeId,
    streamId: options.streamId,
    state: fate.state,
    ...(fate.refusal === undefined ? {} : { stateReason: fate.refusal.message }),
    ...fencedBy(engine),
    logId: engine.logId,
    epoch: engine.epoch,
    lastAccepted: segmenter.lastAccepted,
    durable,
    spooled,
    trimmedTo: coordinator.current.trim.seq,
    cursors: engine.cursors.statuses(),
    ...(options.retention.policy === "committed" && lowest.mark < durable ? { heldBackBy: lowest.name } : {}),
    atRisk: {
      records: segmenter.lastAccepted - spooled,
      bytes: atRiskBytes(engine, spooled),
      oldestAgeMillis: oldest === undefined ? 0 : Math.max(0, now - oldest)
    },
    buffered: {
      bytes: segmenter.bufferedBytes,
      limitBytes: options.maxBufferedBytes,
      queuedSegments: engine.queue.size
    },
    segments: { durable: stats.segmentsDurable, inFlight: ledger.inFlight },
    ...spoolOf(engine, spooled - durable),
    ...(stats.failingSinceMillis === undefined
      ? {}
      : { storeFailingSinceMillis: engine.clock.currentTimeMillisUnsafe() - (now - stats.failingSinceMillis) }),
    ...(stats.lastStoreError === undefined ? {} : { lastStoreError: stats.lastStoreError }),
    epochs: [
      ...engine.epochMap.ends.map((end) => ({ epoch: end.epoch, end: end.slot, lastSeq: end.seq })),
      { epoch: engine.epoch, end: null, lastSeq: null }
    ]
  }
}
