/** Percentiles of what a histogram has counted between two moments. */
import type { Histogram } from "./Counters.ts"

/** What was counted after `before` was taken. A histogram that began anew in between counts whole. */
export const countedSince = (before: Histogram | undefined, now: Histogram): Histogram => {
  if (before === undefined || before.count > now.count) return now
  return {
    buckets: now.buckets.map(([bound, cumulated], index) => [bound, cumulated - (before.buckets[index]?.[1] ?? 0)]),
    count: now.count - before.count,
    sum: now.sum - before.sum
  }
}

/**
 * The value that the share `q` of the counts does not exceed, as Prometheus' `histogram_quantile` computes it: evenly
 * spread within a bucket, from 0 on in the first one. What lies above the last bound counts as that bound. 0 where nothing
 * was counted.
 */
export const quantile = ({ buckets, count }: Histogram, q: number): number => {
  if (count === 0) return 0
  const rank = q * count
  let low = 0
  let below = 0
  for (const [bound, cumulated] of buckets) {
    if (cumulated >= rank && cumulated > below) return low + (bound - low) * (rank - below) / (cumulated - below)
    low = bound
    below = cumulated
  }
  return low
}

/** The mean, exact; 0 where nothing was counted. */
export const mean = ({ count, sum }: Histogram): number => count === 0 ? 0 : sum / count
