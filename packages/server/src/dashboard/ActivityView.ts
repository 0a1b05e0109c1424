/** What the counters of a log say of the last minute. */
import { requestDollars } from "@effect-wal/core/model/CostModel"
import { hoursPerMonth, s3StandardUsEast1 } from "@effect-wal/core/StorePrices"
import type { WalStatus } from "@effect-wal/core/WalService"
import type { StreamSetup } from "../LogOpener.ts"
import type { Histogram, RequestName } from "./Counters.ts"
import { countedSince, mean, quantile } from "./Quantiles.ts"
import { perSecond, type Sample, type SampleWindow, windowMillis } from "./SampleWindow.ts"
import type { Activity, Occurrences, PutLatency, RequestView } from "./Snapshot.ts"
import { queueSegments } from "./Thresholds.ts"

interface Span {
  readonly from: Sample
  readonly to: Sample
}

/** Two digits behind the point: enough to read, and equal numbers stay equal text. */
const rounded = (value: number): number => Math.round(value * 100) / 100

const secondsPerMonth = hoursPerMonth * 3_600

const latencyOf = (counted: Histogram): PutLatency | null => {
  if (counted.count === 0) return null
  const millis = (seconds: number) => rounded(seconds * 1_000)
  return {
    count: counted.count,
    mean_ms: millis(mean(counted)),
    p50_ms: millis(quantile(counted, 0.5)),
    p95_ms: millis(quantile(counted, 0.95)),
    p99_ms: millis(quantile(counted, 0.99))
  }
}

const occurrences = ({ from, to }: Span, read: (sample: Sample) => number): Occurrences => ({
  window: read(to) - read(from),
  total: read(to)
})

const retriesOf = (span: Span): Activity["retries"] =>
  Object.fromEntries(
    Object.entries(span.to.counters.retries).filter(([, total]) => total > 0).map(([name]) => [
      name,
      occurrences(span, ({ counters }) => counters.retries[name] ?? 0)
    ])
  )

const requestsOf = (span: Span, store: StreamSetup["store"] | undefined): RequestView => {
  const { requests } = span.to.counters
  const aMonth = (...names: ReadonlyArray<RequestName>) =>
    Math.round(
      names.reduce((sum, name) => sum + perSecond(span, ({ counters }) => counters.requests[name]), 0) *
        secondsPerMonth
    )
  const month = { puts: aMonth("create", "replace"), gets: aMonth("get"), lists: aMonth("list") }
  const dollars = requestDollars({ segmentPuts: month.puts, manifestPuts: 0, gets: month.gets, lists: month.lists })
  return {
    total: {
      puts: requests.create + requests.replace,
      gets: requests.get,
      lists: requests.list,
      removes: requests.remove
    },
    per_month: month,
    ...store === "s3"
      ? {
        dollars_per_month: rounded(dollars.total),
        prices: `${s3StandardUsEast1.name}, ${s3StandardUsEast1.asOf}`
      }
      : {}
  }
}

/** Seconds until a room is used up; infinite while nothing grows. */
const secondsLeft = (room: number, growth: number): number =>
  room <= 0 ? 0 : growth <= 0 ? Number.POSITIVE_INFINITY : room / growth

/**
 * Seconds until no more is taken in, at the rate of the window; null while nothing grows. Small segments fill the queue long
 * before the bytes of the buffer are used up.
 */
const fullIn = (span: Span, { buffered, spool }: WalStatus, setup: StreamSetup | undefined): number | null => {
  const growth = (read: (sample: Sample) => number) => perSecond(span, read)
  const seconds = spool !== undefined && spool.problem === undefined
    ? secondsLeft(spool.limitBytes - spool.bytes, growth(({ spoolBytes }) => spoolBytes))
    : Math.min(
      secondsLeft(buffered.limitBytes - buffered.bytes, growth(({ bufferedBytes }) => bufferedBytes)),
      setup === undefined
        ? Number.POSITIVE_INFINITY
        : secondsLeft(
          queueSegments(setup.options) - buffered.queuedSegments,
          growth(({ queuedSegments }) => queuedSegments)
        )
    )
  return Number.isFinite(seconds) ? Math.round(seconds) : null
}

/** Whole seconds, and tens from ten on: a number that changes with each look would be told with each. */
const windowSeconds = ({ from, to }: Span): number => {
  const seconds = Math.min(windowMillis, Math.round(to.at - from.at)) / 1_000
  return seconds < 10 ? Math.round(seconds) : Math.round(seconds / 10) * 10
}

/** `undefined` before the first sample. */
export const activityOf = (
  window: SampleWindow,
  status: WalStatus,
  setup: StreamSetup | undefined
): Activity | undefined => {
  const minute = window.ends
  const recent = window.recent
  if (minute === undefined || recent === undefined) return undefined
  const { from: { counters: before }, to: { counters } } = minute
  const sizes = countedSince(before.size, counters.size)
  return {
    window_s: windowSeconds(minute),
    rates: {
      accepted: rounded(perSecond(recent, (sample) => sample.counters.appended)),
      durable: rounded(perSecond(recent, (sample) => sample.counters.durable)),
      bytes: rounded(perSecond(recent, (sample) => sample.counters.rawBytes)),
      puts: rounded(perSecond(recent, (sample) => sample.counters.segments))
    },
    put: latencyOf(countedSince(before.put, counters.put)),
    retries: retriesOf(minute),
    conflicts: occurrences(minute, (sample) => sample.counters.manifestConflicts),
    manifest_commits: counters.manifestCommits,
    takeovers: counters.takeovers,
    compression: {
      raw_bytes: counters.rawBytes,
      stored_bytes: counters.storedBytes,
      ratio: counters.storedBytes === 0 ? null : rounded(counters.rawBytes / counters.storedBytes)
    },
    segment_bytes: {
      window: sizes.count === 0 ? null : Math.round(mean(sizes)),
      total: counters.size.count === 0 ? null : Math.round(mean(counters.size))
    },
    requests: requestsOf(minute, setup?.store),
    full_in_s: fullIn(recent, status, setup)
  }
}
