/**
 * What the dashboard shows, kept up to date.
 *
 * Owns: the samples of the last minute and the points of the last ten, for each stream; the JSON of each stream as it was
 * last looked at. Does not own: who may see it.
 *
 * A sample asks each open log for its status and the registry for its counters, both in memory: no request goes to a
 * store. It is taken every second at most, however many look, and every five seconds while nobody does, so that who opens
 * the page in an outage sees how it began. Streams and points are bounded, so the memory is.
 */
import type { WalStatus } from "@effect-wal/core/WalService"
import { Cause, Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { elapsedMillis } from "../ElapsedTime.ts"
import { openedStatus, streamStatus } from "../handlers/StatusJson.ts"
import type { Lifecycle } from "../Lifecycle.ts"
import { LogOpener, type StreamSetup } from "../LogOpener.ts"
import { isSpooling, notReadyReasons } from "../Readiness.ts"
import { Settings } from "../Settings.ts"
import { type StreamEntry, Streams } from "../Streams.ts"
import { activityOf } from "./ActivityView.ts"
import { type Counters, logKey, readCounters } from "./Counters.ts"
import { SampleWindow } from "./SampleWindow.ts"
import type { History, ServerView, StreamView } from "./Snapshot.ts"
import { StreamHistory } from "./StreamHistory.ts"
import { judgementsOf, stateLevel, worstLag } from "./StreamJudgement.ts"
import { settingsView } from "./StreamSettingsView.ts"
import { worst } from "./Thresholds.ts"

/** How often at most a sample is taken, and how often while nobody looks. */
const intervals = { leastMillis: 900, unwatchedMillis: 5_000 }

/** So many epochs of a stream are shown. */
const mostEpochs = 8

/** One stream as it was last looked at. */
export interface SeenStream {
  readonly id: string
  /** A `StreamView` in JSON; the same string while nothing has changed. */
  readonly text: string
  readonly history: () => History
}

/** All streams as they were last looked at. */
export interface Seen {
  /** Epoch milliseconds. */
  readonly at: number
  readonly streams: ReadonlyArray<SeenStream>
  /** Why the server is not ready. */
  readonly reasons: ServerView["reasons"]
}

interface Moment {
  readonly at: number
  readonly monotonic: number
  readonly counters: ReadonlyMap<string, Counters>
}

/** What is kept of one stream. */
class Tracked {
  readonly history = new StreamHistory()
  text = ""
  private readonly window = new SampleWindow()
  private readonly setup: StreamSetup | undefined
  private readonly storeGrace: Duration.Duration

  constructor(setup: StreamSetup | undefined, storeGrace: Duration.Duration) {
    this.setup = setup
    this.storeGrace = storeGrace
  }

  /** A stream that has no open log. */
  seeStatus(status: StreamView["status"]): void {
    const view: StreamView = {
      id: status.id,
      level: stateLevel(status.state, undefined),
      status,
      epochs: [],
      epochs_total: 0,
      ...this.settings,
      judged: {}
    }
    this.text = JSON.stringify(view)
  }

  /** A stream whose log is, or was, open. */
  seeLog(id: string, status: WalStatus, moment: Moment): void {
    const counters = moment.counters.get(logKey(status.nodeId, status.streamId))
    // The series of a log go when it closes.
    if (counters !== undefined) {
      this.window.add({
        at: moment.monotonic,
        counters,
        bufferedBytes: status.buffered.bytes,
        spoolBytes: status.spool?.bytes ?? 0,
        queuedSegments: status.buffered.queuedSegments
      })
    }
    const activity = activityOf(this.window, status, this.setup)
    const judged = judgementsOf(status, activity, this.setup, this.storeGrace)
    const byState = stateLevel(status.state, failingOf(status, moment.at, this.storeGrace))
    const view: StreamView = {
      id,
      level: worst([byState, ...Object.values(judged).map(({ level }) => level)]),
      status: openedStatus(id, status),
      epochs: status.epochs.slice(-mostEpochs).map(({ end, epoch, lastSeq }) => ({ epoch, end, last_seq: lastSeq })),
      epochs_total: status.epochs.length,
      ...this.settings,
      ...activity === undefined ? {} : { activity },
      judged
    }
    this.history.add(moment.at, {
      accepted: activity?.rates.accepted ?? 0,
      at_risk: status.atRisk.records,
      put_p99_ms: activity?.put?.p99_ms ?? 0,
      lag: worstLag(status)
    })
    this.text = JSON.stringify(view)
  }

  private get settings(): Pick<StreamView, "settings"> {
    return this.setup === undefined ? {} : { settings: settingsView(this.setup) }
  }
}

/** How long PUTs have failed; `undefined` while they do not. */
const failingOf = (status: WalStatus, now: number, storeGrace: Duration.Duration) =>
  status.storeFailingSinceMillis === undefined ? undefined : {
    millis: now - status.storeFailingSinceMillis,
    graceMillis: Duration.toMillis(storeGrace),
    isSpooling: isSpooling(status)
  }

export class DashboardData extends Context.Service<DashboardData, {
  /** Everything as it is now, or was less than a second ago. */
  readonly look: Effect.Effect<Seen>
}>()("@effect-wal/server/DashboardData") {
  static readonly layer = Layer.effect(
    DashboardData,
    Effect.gen(function*() {
      const streams = yield* Streams
      const opener = yield* LogOpener
      const { storeGrace } = yield* Settings
      const services = yield* Effect.context<Settings | Lifecycle | Streams>()
      const tracked = new Map<string, Tracked>()
      let seen: Seen = { at: 0, streams: [], reasons: [] }
      let sampledAt = Number.NEGATIVE_INFINITY

      const trackedOf = (id: string): Tracked => {
        const known = tracked.get(id) ?? new Tracked(opener.setup?.(id), storeGrace)
        tracked.set(id, known)
        return known
      }
      const see = Effect.fnUntraced(function*(entry: StreamEntry, moment: Moment) {
        const kept = trackedOf(entry.id)
        if (entry.state._tag === "Open") kept.seeLog(entry.id, yield* entry.state.log.status, moment)
        else kept.seeStatus(yield* streamStatus(entry))
        return { id: entry.id, text: kept.text, history: () => kept.history.view }
      })
      const sample = Effect.fnUntraced(function*(monotonic: number) {
        const at = yield* Clock.currentTimeMillis
        const moment: Moment = { at, monotonic, counters: readCounters(services) }
        seen = {
          at,
          streams: yield* Effect.forEach(streams.entries(), (entry) => see(entry, moment)),
          reasons: yield* Effect.provideContext(notReadyReasons, services)
        }
      })
      const look = Effect.gen(function*() {
        const monotonic = elapsedMillis(yield* Clock.Clock)
        if (monotonic - sampledAt >= intervals.leastMillis) {
          sampledAt = monotonic
          yield* sample(monotonic)
        }
        return seen
      })
      // A defect here must not end the samples for good: the next one may go well, and who looks is told of it besides.
      const unwatched = Effect.catchCause(
        look,
        (cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.logError("the dashboard took no sample", cause)
      )
      yield* Effect.forkScoped(Effect.repeat(unwatched, Schedule.spaced(intervals.unwatchedMillis)))
      return DashboardData.of({ look })
    })
  )
}
