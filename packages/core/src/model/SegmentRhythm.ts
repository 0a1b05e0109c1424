/**
 * How many records a segment gets, and how often one is uploaded: what loss, cost and latency all follow from.
 *
 * A model: records of one size that come evenly spaced, and PUTs that all take equally long.
 */
import { Duration } from "effect"
import type { WalOptions } from "../WalOptions.ts"
import { isFullFor } from "../write/SegmentLimits.ts"
import { segmentsWithin } from "./PutShare.ts"

/** What flows in. */
export interface Load {
  /** At or above 0. */
  readonly recordsPerSecond: number
  /** Payload, key, headers and content type, as `max_bytes` counts them; at or above 0. */
  readonly recordBytes: number
}

/** The world around the log. */
export interface Conditions {
  /** How long one PUT takes, milliseconds above 0. */
  readonly putLatencyMillis: number
  /** Callers wait for durability, so that segments are sealed on demand: after `linger`, once a worker is free. */
  readonly waiting: boolean
}

/** Options of a log that decide about its segments; those of an open log fit. */
export type SegmentSettings = Pick<
  WalOptions,
  "budget" | "manifest" | "maxSegmentBytes" | "parallelPut" | "segment" | "sync"
>

/** What seals the segments of a steady load; `free_worker`: the next worker that has nothing to do. */
export type SealedBy = "max_entries" | "max_bytes" | "flush_interval" | "linger" | "budget" | "free_worker"

/** How segments follow each other. */
export interface SegmentRhythm {
  /** On average where a free worker seals: what comes between two that get free need not be whole. */
  readonly recordsPerSegment: number
  readonly segmentsPerSecond: number
  /** What seals a segment. */
  readonly sealedBy: SealedBy
  /** From the first record of a segment to its sealing. */
  readonly fillMillis: number
  /** Segments are sealed faster than they can be uploaded: the queue fills, and append waits for room in the end. */
  readonly backlog: boolean
}

/** Records of a segment that is full by entries or bytes: the least number that takes no further one, asked of the code that fills. */
export const recordsWhenFull = (
  { maxSegmentBytes, segment }: Pick<SegmentSettings, "segment" | "maxSegmentBytes">,
  recordBytes: number
): number => {
  const limits = { maxEntries: segment.maxEntries, maxBytes: segment.maxBytes, maxSegmentBytes }
  let low = 1
  let high = segment.maxEntries
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isFullFor(limits, { entries: middle, contentBytes: middle * recordBytes }, recordBytes)) high = middle
    else low = middle + 1
  }
  return low
}

/** Records that come within a time that starts with the first of them. */
export const recordsWithin = (millis: number, recordsPerSecond: number): number =>
  Math.max(1, Math.ceil(recordsPerSecond * millis / 1_000))

/** PUTs that can be under way at one time. */
export const lanesOf = ({ parallelPut }: Pick<SegmentSettings, "parallelPut">): number =>
  parallelPut.workers * parallelPut.pipelineDepth

/** Segments a second that are within the budget. */
const mostSegments = ({ budget, manifest }: SegmentSettings): number =>
  budget === undefined ? Number.POSITIVE_INFINITY : segmentsWithin(budget.putsPerSecond, manifest)

/** How segments follow each other under a steady load; nothing flows at a rate of 0. */
export const segmentRhythm = (settings: SegmentSettings, load: Load, conditions: Conditions): SegmentRhythm => {
  const { recordBytes, recordsPerSecond } = load
  const laneMillis = conditions.putLatencyMillis / lanesOf(settings)
  const lanePutsPerSecond = 1_000 / laneMillis
  const full = recordsWhenFull(settings, recordBytes)
  const flushMillis = Duration.toMillis(settings.segment.flushInterval)
  const lingerMillis = Duration.toMillis(settings.segment.linger)
  const demand = conditions.waiting && settings.sync === "group_commit" && lingerMillis < flushMillis
  const sealedAfter = (millis: number, sealedBy: SealedBy): Omit<SegmentRhythm, "backlog"> => {
    const inTime = recordsWithin(millis, recordsPerSecond)
    const records = Math.min(full, inTime)
    const bySize = full < inTime
    return {
      recordsPerSegment: records,
      segmentsPerSecond: Math.min(recordsPerSecond / records, lanePutsPerSecond),
      sealedBy: bySize ? full === settings.segment.maxEntries ? "max_entries" : "max_bytes" : sealedBy,
      fillMillis: bySize ? (records - 1) * 1_000 / recordsPerSecond : millis
    }
  }
  const putsWithoutDemand = recordsPerSecond / Math.min(full, recordsWithin(flushMillis, recordsPerSecond))
  const backlog = putsWithoutDemand > lanePutsPerSecond
  const within = demand ? mostSegments(settings) : Number.POSITIVE_INFINITY
  const isStretched = sealedAfter(lingerMillis, "linger").segmentsPerSecond > within
  const stretchedMillis = isStretched ? 1_000 / within : lingerMillis
  const millis = demand ? Math.min(flushMillis, stretchedMillis) : flushMillis
  const lingering = sealedAfter(millis, millis === flushMillis ? "flush_interval" : isStretched ? "budget" : "linger")
  const lanesSuffice = recordsPerSecond / lingering.recordsPerSegment <= lanePutsPerSecond
  // All lanes are busy, and each that gets free takes what came since the last one did.
  const between = recordsPerSecond * laneMillis / 1_000
  const gathering: Omit<SegmentRhythm, "backlog"> = between >= full ? sealedAfter(laneMillis, "free_worker") : {
    recordsPerSegment: between,
    segmentsPerSecond: lanePutsPerSecond,
    sealedBy: "free_worker",
    fillMillis: laneMillis
  }
  return { ...(lanesSuffice ? lingering : gathering), backlog }
}
