/** The writer's own view of its log: live, with its newest segments in memory. */
import { Effect } from "effect"
import type { LogView } from "../read/LogView.ts"
import type { TailBuffer } from "../read/TailBuffer.ts"
import type { LogEngine, Opened } from "./LogEngine.ts"

/** What readers need of the parts of an engine. */
type ViewedParts = Pick<
  LogEngine,
  "coordinator" | "epochMap" | "fate" | "index" | "ledger" | "logId" | "options" | "watermark"
>

export const viewOf = (engine: ViewedParts, open: Opened, tail: TailBuffer): LogView => ({
  prefix: open.prefix,
  logId: engine.logId,
  store: open.store,
  digest: open.digest,
  compression: open.compression,
  backoff: engine.options.retry,
  maxSegmentBytes: engine.options.maxSegmentBytes,
  prefetch: engine.options.prefetch,
  trim: () => engine.coordinator.current.trim,
  durable: () => engine.ledger.durable,
  epochs: () => engine.epochMap.spans,
  index: engine.index,
  tail,
  ended: () => engine.fate.ended,
  beyond: (seq) => engine.watermark.beyond(seq),
  refresh: Effect.suspend(() => engine.coordinator.checkOwner)
})
