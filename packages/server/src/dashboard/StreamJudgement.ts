/** One stream against its thresholds. */
import type { WalStatus } from "@effect-wal/core/WalService"
import { Duration } from "effect"
import type { StreamSetup } from "../LogOpener.ts"
import type { Activity, Judged, JudgedName, Level, StreamView } from "./Snapshot.ts"
import {
  ageThreshold,
  anyThreshold,
  judge,
  lagThreshold,
  putRateThreshold,
  putThreshold,
  queueSegments,
  retryThreshold,
  riskThreshold,
  roomThreshold
} from "./Thresholds.ts"

type Judgements = Partial<Record<JudgedName, Judged>>

/** The worst lag of a cursor. */
export const worstLag = ({ cursors }: WalStatus): number => Math.max(0, ...Object.values(cursors).map(({ lag }) => lag))

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

const ofActivity = (activity: Activity): Judgements => {
  const puts = activity.put?.count ?? 0
  const retries = sum(Object.values(activity.retries).map(({ window }) => window))
  return {
    ...activity.put === null ? {} : { put_p99_ms: judge(activity.put.p99_ms, putThreshold) },
    retries: judge(retries, retryThreshold(puts)),
    conflicts: judge(activity.conflicts.window, anyThreshold)
  }
}

const ofSettings = (
  { options }: StreamSetup,
  status: WalStatus,
  activity: Activity | undefined,
  storeGrace: Duration.Duration
): Judgements => ({
  lag: judge(worstLag(status), lagThreshold(options)),
  at_risk: judge(status.atRisk.records, riskThreshold(options)),
  oldest_age_ms: judge(status.atRisk.oldestAgeMillis, ageThreshold(options, Duration.toMillis(storeGrace))),
  queue: judge(status.buffered.queuedSegments, roomThreshold(queueSegments(options))),
  ...activity === undefined ? {} : {
    puts_per_second: judge(
      activity.rates.puts,
      putRateThreshold(options, { records: activity.rates.durable, bytes: activity.rates.bytes })
    )
  }
})

/** Every value that has a threshold. Without the settings of the stream, those that follow from them are left out. */
export const judgementsOf = (
  status: WalStatus,
  activity: Activity | undefined,
  setup: StreamSetup | undefined,
  storeGrace: Duration.Duration
): Judgements => ({
  buffer: judge(status.buffered.bytes, roomThreshold(status.buffered.limitBytes)),
  ...status.spool === undefined ? {} : { spool: judge(status.spool.bytes, roomThreshold(status.spool.limitBytes)) },
  ...activity === undefined ? {} : ofActivity(activity),
  ...setup === undefined ? {} : ofSettings(setup, status, activity, storeGrace)
})

/** How grave the state of a stream is by itself. `failingMillis`: how long PUTs have failed. */
export const stateLevel = (
  state: StreamView["status"]["state"],
  isFailing: { readonly millis: number; readonly graceMillis: number; readonly isSpooling: boolean } | undefined
): Level => {
  if (state === "refused" || state === "failed" || state === "fenced") return "page"
  if (isFailing !== undefined) {
    return !isFailing.isSpooling && isFailing.millis >= isFailing.graceMillis
      ? "page"
      : "warn"
  }
  return state === "open" ? "ok" : "warn"
}
