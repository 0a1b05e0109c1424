/** `effect-wal inspect`: one object of a stored log, as it is. Nothing is written. */
import { Compression } from "@effect-wal/core/codec/Compression"
import { Digest } from "@effect-wal/core/codec/Digest"
import type { Boundary } from "@effect-wal/core/format/Boundary"
import { cursorsOf, linkOf, ownerOf } from "@effect-wal/core/format/Extensions"
import { decodeManifest, type Manifest } from "@effect-wal/core/format/ManifestCodec"
import { manifestKey, slotKey } from "@effect-wal/core/format/ObjectKey"
import { decodeCalls } from "@effect-wal/core/format/SegmentBody"
import { readSegment, recordsOf } from "@effect-wal/core/format/SegmentCodec"
import type { SegmentHeader } from "@effect-wal/core/format/SegmentHeader"
import { logPrefix } from "@effect-wal/core/LogId"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { retryWhilePassing, toStoreError } from "@effect-wal/core/store/StoreRetry"
import type { WalRecord } from "@effect-wal/core/WalRecord"
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { encodeElement } from "../../body/RecordEncoder.ts"
import type { StreamConfig } from "../../config/ServerConfig.ts"
import { CommandFailed } from "../Failure.ts"
import { type Column, fieldsView, joinViews, print, rowsView, type View } from "../Output.ts"
import { onStore } from "./DataHandler.ts"
import { recordedEnds } from "./RecordedEnds.ts"
import { openForReading } from "./StoreAccess.ts"
import { chosenConfig } from "./StoreStream.ts"
import { storeFlags, type StoreInput } from "./TargetFlags.ts"

/** Tries of one request while the store's answers may pass. */
const attempts = 8

/** An object of the log; fails where it is not there. */
const getObject = Effect.fnUntraced(function*(store: ObjectStore["Service"], { options }: StreamConfig, key: string) {
  return yield* retryWhilePassing(store.get(key), { backoff: options.retry, attempts }).pipe(
    Effect.mapError((error) =>
      error.reason === "NotFound"
        ? new CommandFailed({
          code: "object_not_found",
          message: `there is no ${key}`,
          next: "See `effect-wal inspect epochs` for what there is; `effect-wal verify` says what should be there.",
          exit: "notFound"
        })
        : toStoreError(error)
    )
  )
})

const getManifest = Effect.fnUntraced(function*(store: ObjectStore["Service"], stream: StreamConfig) {
  const key = manifestKey(logPrefix(stream.options))
  const { body } = yield* getObject(store, stream, key)
  return { key, body, manifest: yield* decodeManifest(key, body) }
})

const point = ({ epoch, seq, slot }: Boundary): string => `epoch ${epoch}, slot ${slot}, after record ${seq}`

const manifestColumns: ReadonlyArray<Column<Manifest>> = [
  { name: "version", kind: "id", value: (row) => row.version },
  { name: "log id", kind: "text", value: (row) => row.log_id },
  { name: "epoch", kind: "id", value: (row) => row.epoch },
  { name: "claimed by", kind: "text", value: (row) => row.host },
  { name: "epoch without end", kind: "text", value: (row) => row.live === 0 ? "none" : String(row.live) },
  { name: "window of slots", kind: "count", value: (row) => row.live_window },
  { name: "trim point", kind: "text", value: (row) => point(row.trim) },
  { name: "checkpoint", kind: "text", value: (row) => point(row.checkpoint) },
  { name: "recorded ends", kind: "count", value: (row) => row.ends.length },
  { name: "archive of ends", kind: "text", value: (row) => row.ends_archive?.key },
  { name: "index entries", kind: "count", value: (row) => row.index.length },
  { name: "producers", kind: "count", value: (row) => row.producers?.length ?? 0 },
  { name: "spool", kind: "text", value: (row) => row.spool === undefined ? undefined : row.spool.path },
  { name: "damage recorded", kind: "count", value: (row) => row.damage?.length ?? 0 }
]

const manifestView = (manifest: Manifest, stored: unknown): View => {
  const marks = Object.entries(manifest.cursors.marks).map(([name, seq]) => ({ name, seq }))
  const view = joinViews([
    fieldsView(manifestColumns, manifest),
    rowsView([
      { name: "cursor", kind: "text", value: (row) => row.name },
      { name: "at", kind: "id", value: (row) => row.seq }
    ], marks)
  ])
  return { text: view.text, json: [stored] }
}

const inspectManifest = (input: StoreInput) =>
  onStore(
    "reads",
    input,
    Effect.gen(function*() {
      const stream = yield* chosenConfig(input)
      const { body, manifest } = yield* getManifest(yield* openForReading(stream), stream)
      const { unknown, ...fields } = manifest
      // As it is stored, fields of other versions too.
      yield* print(
        manifestView(manifest, { format: "effect-wal manifest", ...fields, ...unknown, size_bytes: body.length })
      )
    })
  )

/** One epoch. */
interface EpochRow {
  readonly epoch: number
  readonly end: number | null
  readonly lastSeq: number | null
  readonly at: number | null
}

const epochColumns: ReadonlyArray<Column<EpochRow>> = [
  { name: "epoch", kind: "id", value: (row) => row.epoch },
  { name: "end", title: "end (slot)", kind: "id", value: (row) => row.end },
  { name: "last_seq", title: "last record", kind: "id", value: (row) => row.lastSeq },
  { name: "last_appended_at", title: "appended at", kind: "time", value: (row) => row.at }
]

const inspectEpochs = (input: StoreInput) =>
  onStore(
    "reads",
    input,
    Effect.gen(function*() {
      const stream = yield* chosenConfig(input)
      const store = yield* openForReading(stream)
      const { manifest } = yield* getManifest(store, stream)
      const { damage, ends } = yield* recordedEnds(manifest, (key) => getObject(store, stream, key))
      const ended = ends.map(({ at, epoch, seq, slot }) => ({ epoch, end: slot, lastSeq: seq, at }))
      const live = manifest.live === 0 ? [] : [{ epoch: manifest.live, end: null, lastSeq: null, at: null }]
      yield* print(rowsView(epochColumns, [...ended, ...live], "no epoch above the trim point"))
      // What can be read helps to find what is wrong.
      if (damage !== undefined) return yield* Effect.fail(damage)
    })
  )

/** A segment with what its body holds. */
interface SegmentRow {
  readonly key: string
  readonly header: SegmentHeader
  readonly sizeBytes: number
  readonly calls: number
}

const segmentColumns: ReadonlyArray<Column<SegmentRow>> = [
  { name: "key", kind: "text", value: (row) => row.key },
  { name: "kind", kind: "text", value: (row) => row.header.kind },
  { name: "epoch", kind: "id", value: (row) => row.header.epoch },
  { name: "slot", kind: "id", value: (row) => row.header.slot },
  { name: "log_id", kind: "text", value: (row) => row.header.logId },
  { name: "nonce", kind: "text", value: (row) => row.header.nonce },
  { name: "first_seq", kind: "id", value: (row) => row.header.firstSeq },
  { name: "records", kind: "count", value: (row) => row.header.count },
  { name: "first_appended_at", kind: "time", value: (row) => row.header.count === 0 ? undefined : row.header.firstAt },
  { name: "last_appended_at", kind: "time", value: (row) => row.header.count === 0 ? undefined : row.header.lastAt },
  { name: "codec", kind: "text", value: (row) => row.header.codec },
  { name: "size_bytes", kind: "bytes", value: (row) => row.sizeBytes },
  { name: "raw_bytes", kind: "bytes", value: (row) => row.header.rawBytes },
  { name: "stored_bytes", kind: "bytes", value: (row) => row.header.storedBytes },
  { name: "durable_before", kind: "id", value: (row) => row.header.watermarkSeq },
  { name: "chain", kind: "text", value: (row) => row.header.chain },
  { name: "calls", title: "calls of producers", kind: "count", value: (row) => row.calls },
  { name: "owner", title: "ended by", kind: "text", value: (row) => ownerOf(row.header)?.host },
  { name: "follows", kind: "text", value: (row) => pointOf(linkOf(row.header)) },
  { name: "cursors", kind: "text", value: (row) => marksOf(row.header) }
]

const pointOf = (boundary: Boundary | undefined): string | undefined =>
  boundary === undefined ? undefined : point(boundary)

const marksOf = (header: SegmentHeader): string | undefined => {
  const cursors = cursorsOf(header)
  return cursors === undefined
    ? undefined
    : Object.entries(cursors.marks).map(([name, seq]) => `${name} ${seq}`).join(", ")
}

const printRecords = (records: ReadonlyArray<WalRecord>) =>
  Effect.forEach(records, (record) => Console.log(encodeElement(record).toString("utf8")), { discard: true })

interface SegmentInput extends StoreInput {
  readonly epoch: number
  readonly slot: number
  readonly records: boolean
}

const inspectSegment = (input: SegmentInput) =>
  onStore(
    "reads",
    input,
    Effect.gen(function*() {
      const stream = yield* chosenConfig(input)
      const key = slotKey(logPrefix(stream.options), input.epoch, input.slot)
      const { body } = yield* getObject(yield* openForReading(stream), stream, key)
      const segment = yield* readSegment(key, body, {
        digest: yield* yield* Digest,
        compression: yield* yield* Compression,
        maxSegmentBytes: stream.options.maxSegmentBytes
      })
      const { header } = segment
      const isSegment = header.kind === "segment"
      const records = isSegment ? yield* recordsOf(key, segment, 0) : []
      if (input.records) return yield* printRecords(records)
      const calls = isSegment ? decodeCalls(segment.body, header) : []
      const row = { key, header, sizeBytes: body.length, calls: "_tag" in calls ? 0 : calls.length }
      yield* print(fieldsView(segmentColumns.filter(({ value }) => value(row) !== undefined), row))
    })
  )

const manifestCommand = Command.make("manifest", storeFlags, inspectManifest).pipe(
  Command.withDescription(
    "Show the manifest: who claimed the log last, trim point, checkpoint, cursors. JSON: as stored."
  ),
  Command.withShortDescription("Show the manifest"),
  Command.withExamples([{ command: "effect-wal inspect manifest --config wal.yaml", description: "For people" }])
)

const epochsCommand = Command.make("epochs", storeFlags, inspectEpochs).pipe(
  Command.withDescription(
    "List the epochs above the trim point with their ends, as the manifest and the archive of ends record them. The one " +
      "without an end is that of the last writer, whether it still runs or not."
  ),
  Command.withShortDescription("List the epochs"),
  Command.withExamples([{
    command: "effect-wal inspect epochs --config wal.yaml",
    description: "Each opening of the log"
  }])
)

const segmentCommand = Command.make("segment", {
  ...storeFlags,
  epoch: Argument.Int("epoch").pipe(Argument.withDescription("Its epoch")),
  slot: Argument.Int("slot").pipe(Argument.withDescription("Its slot, from 0")),
  records: Flag.Boolean("records").pipe(
    Flag.withDescription("Print its records, as `cat` does"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  )
}, inspectSegment).pipe(
  Command.withDescription("Read one segment or end marker, check it, and show its header"),
  Command.withExamples([
    { command: "effect-wal inspect segment --config wal.yaml 3 0", description: "The first segment of epoch 3" },
    { command: "effect-wal inspect segment --config wal.yaml 3 0 --records", description: "What is in it" }
  ])
)

/** The command. */
export const inspectCommand = Command.make("inspect").pipe(
  Command.withDescription(
    "Look at the objects of a stored log. Works on stores only, and changes nothing. A local log must have no writer: stop " +
      "its server first."
  ),
  Command.withShortDescription("Look at the objects of a stored log"),
  Command.withSubcommands([manifestCommand, segmentCommand, epochsCommand])
)
