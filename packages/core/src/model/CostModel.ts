/**
 * What a log costs on an object store: requests, storage and dollars of a steady load.
 *
 * Not counted: traffic, which S3 does not charge within a region; the bytes of the format around the records; tries after a
 * failure. `wal_store_requests_total` counts what a running log really asks.
 */
import { Duration } from "effect"
import { hoursPerMonth, s3StandardUsEast1, type StorePrices } from "../StorePrices.ts"
import type { WalOptions } from "../WalOptions.ts"
import { segmentsPerManifest } from "./PutShare.ts"
import { type Conditions, type Load, segmentRhythm, type SegmentSettings } from "./SegmentRhythm.ts"
import { throughputCeiling } from "./ThroughputCeiling.ts"

/** Options of a log that decide about its costs; those of an open log fit. */
export type CostSettings = SegmentSettings & Pick<WalOptions, "maxBufferedBytes">

export interface CostConditions extends Conditions {
  /** How long a record stays stored: until it is committed and trimmed, or as retention says. */
  readonly storedFor: Duration.Duration
  /** Raw bytes for each stored byte, above 0. Default 1: no compression. */
  readonly compressionRatio?: number
  /** Readers that fetch every segment from the store; one that keeps up inside the writer's process needs none. Default 0. */
  readonly storeReaders?: number
  /** Default: the log is opened once and stays open. */
  readonly openings?: { readonly perMonth: number; readonly replayedSegments: number }
  /** Default: `s3StandardUsEast1`. */
  readonly prices?: StorePrices
}

/** Requests of one kind in a time. */
export interface Requests {
  readonly segmentPuts: number
  readonly manifestPuts: number
  readonly gets: number
  readonly lists: number
}

/** What a steady load asks of the store, and what that costs. */
export interface Cost {
  /** While it runs, without openings. */
  readonly perHour: Requests
  /** 30 days, with openings; their writes count as those of the manifest. */
  readonly perMonth: Requests
  readonly requestsPerSegment: number
  /** In the store, once as much is deleted as is written. */
  readonly storedBytes: number
  readonly dollarsPerMonth: Requests & { readonly storage: number; readonly total: number }
}

/** The most that one opening asks where nothing is wrong; a test counts it. */
export const requestsOfOpening = { puts: 3, gets: 4, lists: 1 }

const monthOf = (hour: Requests, openings: CostConditions["openings"]): Requests => {
  const { perMonth, replayedSegments } = openings ?? { perMonth: 0, replayedSegments: 0 }
  return {
    segmentPuts: hour.segmentPuts * hoursPerMonth,
    manifestPuts: hour.manifestPuts * hoursPerMonth + perMonth * requestsOfOpening.puts,
    gets: hour.gets * hoursPerMonth + perMonth * (requestsOfOpening.gets + replayedSegments),
    lists: hour.lists * hoursPerMonth + perMonth * requestsOfOpening.lists
  }
}

/** What so many requests cost, in dollars, by kind and in all. */
export const requestDollars = (
  requests: Requests,
  prices: StorePrices = s3StandardUsEast1
): Requests & { readonly total: number } => {
  const segmentPuts = requests.segmentPuts * prices.per1000Puts / 1_000
  const manifestPuts = requests.manifestPuts * prices.per1000Puts / 1_000
  const gets = requests.gets * prices.per1000Gets / 1_000
  const lists = requests.lists * prices.per1000Lists / 1_000
  return { segmentPuts, manifestPuts, gets, lists, total: segmentPuts + manifestPuts + gets + lists }
}

const dollarsOf = (month: Requests, storedBytes: number, prices: StorePrices): Cost["dollarsPerMonth"] => {
  const requests = requestDollars(month, prices)
  const storage = storedBytes / prices.gigabyteBytes * prices.perGigabyteMonth
  return { ...requests, storage, total: requests.total + storage }
}

/** Requests, storage and dollars of a steady load. One beyond the ceiling counts as far as it is carried. */
export const costOf = (settings: CostSettings, load: Load, conditions: CostConditions): Cost => {
  const { segmentsPerSecond } = segmentRhythm(settings, load, conditions)
  const segmentPuts = segmentsPerSecond * 3_600
  const perHour: Requests = {
    segmentPuts,
    manifestPuts: segmentPuts / segmentsPerManifest(settings.manifest, segmentsPerSecond),
    gets: segmentPuts * (conditions.storeReaders ?? 0),
    lists: 0
  }
  const perMonth = monthOf(perHour, conditions.openings)
  const ceiling = throughputCeiling(settings, load.recordBytes, conditions).recordsPerSecond
  const bytesPerSecond = Math.min(load.recordsPerSecond, ceiling) * load.recordBytes
  const storedBytes = bytesPerSecond * Duration.toSeconds(conditions.storedFor) / (conditions.compressionRatio ?? 1)
  return {
    perHour,
    perMonth,
    requestsPerSegment: segmentPuts === 0 ? 0 : (segmentPuts + perHour.manifestPuts + perHour.gets) / segmentPuts,
    storedBytes,
    dollarsPerMonth: dollarsOf(perMonth, storedBytes, conditions.prices ?? s3StandardUsEast1)
  }
}
