/**
 * A store as the target of data commands: read with `WalReader`, which changes no byte and disturbs no writer; changed by
 * opening the log, which fences a writer that still runs, and is refused where one may.
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { type ReaderStatus, WalReader } from "@effect-wal/core/WalReader"
import type { Appended, CloseReport, WalService } from "@effect-wal/core/WalService"
import { Context, Effect, Layer, Stream } from "effect"
import type { ServerConfig, StreamConfig } from "../../config/ServerConfig.ts"
import { LogOpener } from "../../LogOpener.ts"
import { Settings } from "../../Settings.ts"
import * as StoreLayer from "../../StoreLayer.ts"
import { CommandFailed, type TaggedFailure } from "../Failure.ts"
import { openForReading } from "./StoreAccess.ts"
import { cursorNotFound, startRead } from "./StoreRead.ts"
import {
  type AppendOrder,
  type CursorReport,
  type StreamReader,
  type StreamReport,
  type StreamWriter,
  type Target,
  type WriterOptions
} from "./Target.ts"
import { commandHost, lookForWriter, refuseAbsentLog, writerMayRun } from "./WriterSign.ts"

/** The options that a look at a log takes, of those that a writer has. */
export const lookOptionsOf = (options: WalOptions) => ({
  nodeId: options.nodeId,
  streamId: options.streamId,
  // Given and empty is refused: a variable that is not set would become that.
  ...options.prefix === "" ? {} : { prefix: options.prefix },
  maxSegmentBytes: options.maxSegmentBytes,
  prefetch: options.prefetch,
  retry: options.retry
})

const reportOf = (stream: StreamConfig, status: ReaderStatus): StreamReport => ({
  id: stream.id,
  state: "stored",
  node_id: stream.options.nodeId,
  log_id: status.logId,
  epoch: status.epoch,
  writer: status.host,
  durable: status.durable,
  trimmed_to: status.trimmedTo,
  cursors: Object.fromEntries(
    Object.entries(status.cursors).map((
      [name, seq]
    ) => [name, { seq, persisted: seq, lag: Math.max(0, status.durable - seq) }])
  )
})

/** A local log has one process: nothing becomes durable in it while a command holds it. */
const cannotFollow = (stream: StreamConfig) =>
  new CommandFailed({
    code: "local_log_not_followed",
    message: `stream ${stream.id} is a local log: while this command reads it, nobody can append to it`,
    next: "Follow it through its server with `--url`, or read what there is with `effect-wal cat`.",
    exit: "usage"
  })

const makeReader = Effect.fnUntraced(function*(stream: StreamConfig) {
  const store = yield* openForReading(stream)
  const reader = yield* Effect.provideService(WalReader.make(lookOptionsOf(stream.options)), ObjectStore, store)
  const service: StreamReader = {
    read: (order) =>
      order.follow && stream.store.type === "local"
        ? Stream.fail(cannotFollow(stream))
        : Stream.unwrap(startRead(reader, order)),
    report: Effect.map(reader.status, (status) => reportOf(stream, status))
  }
  return service
})

const takenBatch = (appended: Appended, ack: AppendOrder["ack"]) => {
  const { durable, epoch, first, isRepeat = false, last, spooled } = appended
  const wait = ack === "accepted" ? Effect.void : ack === "spooled" ? spooled : durable
  return { settled: Effect.as(wait, { first, last, epoch, isRepeat }) }
}

const append = Effect.fnUntraced(function*(log: WalService, ...[records, order]: Parameters<StreamWriter["append"]>) {
  if (order.ack === "spooled" && (yield* log.status).spool === undefined) {
    return yield* new CommandFailed({
      code: "ack_level_unavailable",
      message: "--ack spooled needs a spool, and this stream has none",
      next: "Use `--ack durable`, or configure a `spool`.",
      exit: "usage"
    })
  }
  const producer = order.key === undefined ? {} : { producer: { id: order.key, sequence: 0 } }
  return takenBatch(yield* log.append(records, producer), order.ack)
})

/** Where a cursor stands in an open log; fails where there is none. */
const cursorOf = Effect.fnUntraced(function*(log: WalService, name: string) {
  const { cursors } = yield* log.status
  const found = Object.hasOwn(cursors, name) ? cursors[name] : undefined
  return found === undefined
    ? yield* cursorNotFound(name)
    : { name, seq: found.mark, persisted: found.persisted, lag: found.lag } satisfies CursorReport
})

const close = Effect.fnUntraced(function*(log: WalService): Effect.fn.Return<CloseReport, CommandFailed> {
  const report = yield* log.close
  const { lost } = report
  if (lost === null) return report
  return yield* new CommandFailed({
    code: "records_left",
    message: `records ${lost.from} to ${lost.to} were accepted and are not stored; durable up to ${report.durable}`,
    next: "See what the store answers with `effect-wal doctor`; then append them again.",
    exit: "recordsLeft",
    details: { ...lost, durable: report.durable }
  })
})

/** A log moves a mark in memory, and stores it later: at its end at the latest, which says whether it could. */
const commit = Effect.fnUntraced(function*(log: WalService, cursor: string, seq: number) {
  yield* log.commit(seq, { cursor })
  if ((yield* close(log)).manifestWritten) return yield* cursorOf(log, cursor)
  const end = yield* log.ended
  if (end._tag !== "WalClosed") return yield* end
  return yield* new CommandFailed({
    code: "cursor_not_stored",
    message: `cursor ${JSON.stringify(cursor)} may be where it was: the store did not take the manifest in time`,
    next: "See what the store answers with `effect-wal doctor`; then set the cursor again.",
    exit: "unavailable"
  })
})

const writerOf = (log: WalService): StreamWriter => ({
  append: (records, order) => append(log, records, order),
  commit: (cursor, seq) => commit(log, cursor, seq),
  removeCursor: (cursor) => Effect.andThen(cursorOf(log, cursor), log.removeCursor(cursor)),
  flush: log.flush,
  trim: (seq) => log.trim(seq),
  close: Effect.asVoid(close(log))
})

/** What a look at the store says against opening the log for writing. */
const refuseOpening = Effect.fnUntraced(function*(stream: StreamConfig, { creates, takeOver }: WriterOptions) {
  // A local log needs no look for a writer: its lock says whether somebody has it.
  const mayHaveWriter = !takeOver && stream.store.type !== "local"
  if (creates && !mayHaveWriter) return
  const store = yield* openForReading(stream).pipe(
    // No store yet: opening makes it.
    Effect.catchTag("CommandFailed", (error) => creates ? Effect.undefined : Effect.fail(error))
  )
  if (store === undefined) return
  if (!creates) yield* refuseAbsentLog(store, stream.options)
  const sign = mayHaveWriter ? yield* lookForWriter(store, stream.options) : undefined
  if (sign !== undefined) return yield* writerMayRun(stream.id, sign)
}, Effect.scoped)

const makeWriter = Effect.fnUntraced(
  function*(config: ServerConfig, stream: StreamConfig, order: WriterOptions) {
    yield* refuseOpening(stream, order)
    const options = { ...stream.options, host: yield* commandHost(order.command) }
    const context = yield* Layer.build(
      StoreLayer.layer([{ ...stream, options }]).pipe(Layer.provide(Layer.succeed(Settings, config.settings)))
    )
    return writerOf(yield* Context.get(context, LogOpener).open(stream.id))
  }
)

/** The streams of a configuration, with their stores. */
export const makeStoreTarget = (config: ServerConfig): Target["Service"] => {
  const configOf = (id: string) => config.streams.find((stream) => stream.id === id)
  const configured = <A, E extends TaggedFailure, R>(
    id: string,
    use: (stream: StreamConfig) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | CommandFailed, R> => {
    const stream = configOf(id)
    if (stream !== undefined) return use(stream)
    const ids = config.streams.map((each) => each.id)
    return Effect.fail(
      new CommandFailed({
        code: "stream_not_found",
        message: `no stream ${JSON.stringify(id)} is configured in ${config.source}`,
        next: `It has: ${ids.join(", ")}.`,
        exit: "notFound"
      })
    )
  }
  return {
    kind: "store",
    place: config.source,
    streamIds: Effect.succeed(config.streams.map((stream) => stream.id)),
    reader: (id) => configured(id, makeReader),
    writer: (id, options) => configured(id, (stream) => makeWriter(config, stream, options)),
    configOf
  }
}
