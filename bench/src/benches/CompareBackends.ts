/** The table of the reference document that sets its local backend against S3, measured. */
import type { WalOpenError } from "@effect-wal/core/WalError"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, References, type Scope } from "effect"
import { join } from "node:path"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { BenchContext } from "../Bench.ts"
import type { Better, Measurement } from "../Line.ts"
import { pairedRatios, quantile, spreadOf } from "../Stats.ts"
import { withStore } from "../store/StoreProcess.ts"
import { serveEffect } from "../support/Callers.ts"
import { likeS3 } from "../support/LikeS3.ts"
import { acceptedMicros, durably, fill, fullSpeed, recordsAtRisk, replaySpeed } from "../support/LogLoad.ts"
import { openLocalLog } from "../support/OpenLocalLog.ts"
import { openLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withClient } from "../support/RemoteLog.ts"

const recordBytes = 1_024
const batch = 100
const callers = 64
const acceptedCalls = 3_000
const recordsPerSecond = 10_000
const restartMebibytes = 32

const megabytes = (records: number): number => records * recordBytes / 1e6

/** As they come, but for less memory: what waits at the end of a round is stored before the next one. */
const options = { maxBufferedBytes: "8MiB", maxRecordBytes: "1MiB", retention: { policy: "keep" } } as const

/** No ratio is judged here: a quick run has fewer. */
const roundsOf = ({ quick, rounds }: BenchContext): number => quick ? 2 : rounds

interface Row {
  readonly metric: string
  readonly unit: string
  readonly better: Better
  /** What the reference document says of its own. */
  readonly source?: { readonly local: string; readonly s3: string }
}

const rows = {
  accepted: { metric: "append of 1 record", unit: "µs", better: "lower", source: { local: "1 µs", s3: "50 µs" } },
  flush: { metric: "append and flush, p50", unit: "ms", better: "lower", source: { local: "2 ms", s3: "50 ms" } },
  p50: { metric: "durable, 1 caller, p50", unit: "ms", better: "lower" },
  p99: { metric: "durable, 1 caller, p99", unit: "ms", better: "lower" },
  one: { metric: `1 caller that waits for each ${batch} records`, unit: "MB/s", better: "higher" },
  many: { metric: `${callers} callers that wait for each ${batch} records`, unit: "MB/s", better: "higher" },
  full: {
    metric: "durable while nobody waits",
    unit: "MB/s",
    better: "higher",
    source: { local: "500 MB/s", s3: "150 MB/s" }
  },
  atRisk: {
    metric: "at risk at 10,000 records/s, p99",
    unit: "records",
    better: "lower",
    source: { local: "100 messages", s3: "1,000 messages" }
  },
  open: { metric: "opening after a restart", unit: "ms", better: "lower" },
  replay: { metric: `replay of ${restartMebibytes} MiB after a restart`, unit: "MB/s", better: "higher" }
} as const satisfies Record<string, Row>

/** What the rounds of one log came to, by row. */
class Figures {
  private readonly byRow = new Map<Row, Array<number>>()

  add(row: Row, value: number): void {
    const values = this.byRow.get(row) ?? []
    values.push(value)
    this.byRow.set(row, values)
  }

  of(row: Row): ReadonlyArray<number> {
    return this.byRow.get(row) ?? []
  }
}

/** A log that is compared. */
interface Backend {
  readonly figures: Figures
  /** Milliseconds of all that one caller has waited for. */
  readonly waits: Array<number>
  readonly open: Effect.Effect<WalService, WalOpenError, Scope.Scope>
}

const backendOf = (open: Backend["open"]): Backend => ({ figures: new Figures(), waits: [], open })

/** All loads one after the other on an open log, each for so long. */
const loadRound = Effect.fnUntraced(function*({ figures, waits }: Backend, wal: WalService, millis: number) {
  const single = recordsOf(payloadsOf(1, recordBytes))
  const records = recordsOf(payloadsOf(batch, recordBytes))
  figures.add(rows.accepted, yield* acceptedMicros(wal, single, acceptedCalls))
  const flushed = yield* serveEffect({ callers: 1, batch: 1 }, millis, Effect.andThen(wal.append(single), wal.flush))
  figures.add(rows.flush, quantile(flushed.waits, 0.5))
  const append = durably(wal, records)
  const one = yield* serveEffect({ callers: 1, batch }, millis, append)
  waits.push(...one.waits)
  figures.add(rows.p50, quantile(one.waits, 0.5))
  figures.add(rows.one, megabytes(one.recordsPerSecond))
  figures.add(rows.many, megabytes((yield* serveEffect({ callers, batch }, millis, append)).recordsPerSecond))
  const atRisk = yield* recordsAtRisk(wal, records, { millis, perSecond: recordsPerSecond })
  figures.add(rows.atRisk, quantile(atRisk, 0.99))
  figures.add(rows.full, (yield* fullSpeed(wal, records, millis)).megabytesPerSecond)
  yield* wal.flush
})

/** Opens what is stored, and reads it. */
const restartRound = Effect.fnUntraced(function*({ figures, open }: Backend) {
  const startedAt = nowMillis()
  const wal = yield* open
  figures.add(rows.open, nowMillis() - startedAt)
  figures.add(rows.replay, yield* replaySpeed(wal))
}, Effect.scoped)

const loads = Effect.fnUntraced(function*(context: BenchContext, backends: ReadonlyArray<Backend>) {
  const opened = yield* Effect.forEach(backends, (backend) => Effect.map(backend.open, (wal) => ({ backend, wal })))
  // Once before it counts: the first calls are compiled while they run.
  const single = recordsOf(payloadsOf(1, recordBytes))
  for (const { wal } of opened) yield* acceptedMicros(wal, single, acceptedCalls)
  const rounds = roundsOf(context)
  for (let round = 0; round < rounds; round++) {
    context.progress(0.35 * round / rounds, "local and S3 under load")
    for (const { backend, wal } of opened) yield* loadRound(backend, wal, context.roundMillis / 2)
  }
  for (const { figures, waits } of backends) figures.add(rows.p99, quantile(waits, 0.99))
}, Effect.scoped)

const restarts = Effect.fnUntraced(
  function*(context: BenchContext, backends: ReadonlyArray<Backend>, onFilled: Effect.Effect<void>) {
    const records = recordsOf(payloadsOf(batch, recordBytes))
    for (const { open } of backends) {
      yield* Effect.scoped(Effect.flatMap(open, (wal) => fill(wal, records, restartMebibytes * 1_048_576)))
    }
    yield* onFilled
    const rounds = roundsOf(context)
    for (let round = 0; round < rounds; round++) {
      context.progress(0.35 + 0.15 * round / rounds, "local and S3 after a restart")
      for (const backend of backends) yield* restartRound(backend)
    }
  },
  Effect.provideService(References.MinimumLogLevel, "None")
)

/** The row of both, and the one through the other. */
const linesOf = (row: Row, local: Figures, s3: Figures): ReadonlyArray<Measurement> => {
  const { better, metric, source, unit } = row
  const [localRounds, s3Rounds] = [local.of(row), s3.of(row)]
  const said = (text: string | undefined) => text === undefined ? {} : { note: `the source document says ${text}` }
  const localSpread = spreadOf(localRounds)
  return [
    { metric: `local: ${metric}`, value: localSpread, unit, better, ...said(source?.local) },
    { metric: `S3: ${metric}`, value: spreadOf(s3Rounds), unit, better, ...said(source?.s3) },
    {
      metric: `S3 against local: ${metric}`,
      value: spreadOf(pairedRatios(s3Rounds, localRounds)),
      unit: "x",
      better,
      peer: { name: "local", value: localSpread.median, unit }
    }
  ]
}

/** Takes the first half of the bench. Both logs as they come: the preset `balanced`, one worker. */
export const compareBackends = async (context: BenchContext): Promise<ReadonlyArray<Measurement>> => {
  const local = backendOf(openLocalLog(join(context.folder, "load"), options))
  const loaded = await withStore({ ...likeS3, keepsSegments: false }, (store) =>
    withClient(store, (client) => {
      const s3 = backendOf(openLog(client, options))
      return Effect.as(loads(context, [local, s3]), s3)
    }))
  const localAgain = { ...local, open: openLocalLog(join(context.folder, "restart"), options) }
  await withStore(
    { ...likeS3, latency: { kind: "none" }, keepsSegments: true },
    (store) =>
      withClient(store, (client) => {
        const s3Again = { ...loaded, open: openLog(client, options) }
        return restarts(context, [localAgain, s3Again], Effect.promise(() => store.setLatency(likeS3.latency)))
      })
  )
  return Object.values(rows).flatMap((row) => linesOf(row, local.figures, loaded.figures))
}
