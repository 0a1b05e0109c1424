/**
 * When a value is worth a look, and when it wakes somebody: the thresholds of docs/dashboard.md.
 *
 * The latency of a PUT has fixed ones. The others follow from the settings of the stream, as a preset's own normal state
 * must not trip them: what is a backlog for one preset is one segment of another.
 */
import { presets } from "@effect-wal/core/config/Presets"
import { queuedPerWorker } from "@effect-wal/core/model/LossWindow"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { Duration } from "effect"
import type { Judged, Level } from "./Snapshot.ts"

/** Above `warn`, above `page`; one that is absent does not apply. */
export interface Threshold {
  readonly warn?: number
  readonly page?: number
}

/** Slowest PUT of a hundred, in milliseconds. */
export const putThreshold: Threshold = { warn: 200, page: 500 }

/** How many sealed segments a log lets wait. */
export const queueSegments = ({ parallelPut }: WalOptions): number => queuedPerWorker * parallelPut.workers

/** A share of a room, of which a buffer that is fuller is not ready. */
const shares = { warn: 0.5, page: 0.9 }

/** Above half of the room, and above nine tenths of it. */
export const roomThreshold = (room: number): Threshold => ({ warn: room * shares.warn, page: room * shares.page })

/** Any at all. */
export const anyThreshold: Threshold = { warn: 0 }

/** A twentieth of the requests was one more try, and three of them at the least. */
export const retryThreshold = (puts: number): Threshold => ({ warn: Math.max(3, puts / 20) })

/** A segment of fewer records counts as one of so many, the smallest preset's: with one record each, all would be a backlog. */
const fewestEntries = presets.low_latency.maxEntries

const segmentEntries = ({ segment }: WalOptions): number => Math.max(fewestEntries, segment.maxEntries)

/** Ten full segments: 10,000 records with the preset `balanced`. */
export const lagThreshold = (options: WalOptions): Threshold => ({ warn: 10 * segmentEntries(options) })

/** One full segment that is open and one in each lane. More means that a queue has formed. */
export const riskThreshold = (options: WalOptions): Threshold => ({
  warn: segmentEntries(options) * (1 + options.parallelPut.workers * options.parallelPut.pipelineDepth)
})

/** A record waits for its interval and for one PUT; then it is late, and after `store_grace` the store is away. */
export const ageThreshold = ({ segment }: WalOptions, storeGraceMillis: number): Threshold => {
  const warn = Duration.toMillis(segment.flushInterval) + 2 * (putThreshold.page ?? 0)
  return { warn, page: Math.max(warn, storeGraceMillis) }
}

/**
 * Twice what the settings explain: a segment every `linger` while somebody waits, or as many as the load fills. Absent
 * without `linger`, where each call may be a segment.
 */
export const putRateThreshold = (
  { segment }: WalOptions,
  load: { readonly records: number; readonly bytes: number }
): Threshold => {
  const lingerMillis = Duration.toMillis(segment.linger)
  if (lingerMillis === 0) return {}
  return { warn: 2 * Math.max(1_000 / lingerMillis, load.records / segment.maxEntries, load.bytes / segment.maxBytes) }
}

/** `value` against a threshold. */
export const judge = (value: number, { page, warn }: Threshold): Judged => {
  const level: Level = page !== undefined && value > page ? "page" : warn !== undefined && value > warn ? "warn" : "ok"
  return { level, ...warn === undefined ? {} : { warn }, ...page === undefined ? {} : { page } }
}

const ranks: Readonly<Record<Level, number>> = { ok: 0, warn: 1, page: 2 }

/** The gravest; `ok` where there is none. */
export const worst = (levels: Iterable<Level>): Level => {
  let found: Level = "ok"
  for (const level of levels) {
    if (ranks[level] > ranks[found]) found = level
  }
  return found
}
