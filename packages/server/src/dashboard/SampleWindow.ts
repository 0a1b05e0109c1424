/**
 * The samples of the last minute of one stream: what rates and percentiles are differences of.
 *
 * Bounded: one sample a second at most, and none older than the window.
 */
import type { Counters } from "./Counters.ts"

/** What was read of a log at one moment. */
export interface Sample {
  /** Milliseconds of the monotonic clock. */
  readonly at: number
  readonly counters: Counters
  readonly bufferedBytes: number
  readonly spoolBytes: number
  readonly queuedSegments: number
}

/** How far back percentiles, requests and cost look. */
export const windowMillis = 60_000

/** How far back rates look. */
const rateMillis = 5_000

/** So much later than asked counts as on time. */
const slackMillis = 500

export class SampleWindow {
  private readonly samples: Array<Sample> = []

  /** Samples come in order of time. Counters that have gone back are those of a log that was opened anew. */
  add(sample: Sample): void {
    const last = this.samples.at(-1)
    if (last !== undefined && last.counters.appended > sample.counters.appended) this.samples.length = 0
    this.samples.push(sample)
    const oldest = sample.at - windowMillis - slackMillis
    const kept = this.samples.findIndex(({ at }) => at >= oldest)
    this.samples.splice(0, kept)
  }

  get size(): number {
    return this.samples.length
  }

  /** The oldest and the newest sample; `undefined` where there is none. */
  get ends(): { readonly from: Sample; readonly to: Sample } | undefined {
    const from = this.samples[0]
    const to = this.samples.at(-1)
    return from === undefined || to === undefined ? undefined : { from, to }
  }

  /** The newest sample, and the newest one that is five seconds older, or else the oldest. */
  get recent(): { readonly from: Sample; readonly to: Sample } | undefined {
    const { ends } = this
    if (ends === undefined) return undefined
    const from = this.samples.findLast(({ at }) => ends.to.at - at >= rateMillis - slackMillis)
    return { from: from ?? ends.from, to: ends.to }
  }
}

/** How much more a second; 0 where no time has passed. */
export const perSecond = (
  { from, to }: { readonly from: Sample; readonly to: Sample },
  read: (sample: Sample) => number
): number => to.at > from.at ? (read(to) - read(from)) * 1_000 / (to.at - from.at) : 0
