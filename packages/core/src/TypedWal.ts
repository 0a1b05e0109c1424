/**
 * A log whose records are values of a Schema: encoded when they are appended, decoded when they are read.
 *
 * `make` puts it over the `Wal` of the context, `over` over any log, `reads` over a reader; `Tag` makes a service of it. Old
 * records stay readable as long as the schema decodes them: add fields as optional ones or with a default.
 */
import { type Array, Context, Effect, Layer, Schema, Sink, Stream } from "effect"
import type { ObjectStore } from "./store/ObjectStore.ts"
import { json, problemOf, RecordDecodeError, type TypedRecord, type UndecodableRecord } from "./TypedRecord.ts"
import { Wal, type WalMakeOptions } from "./Wal.ts"
import {
  type AppendError,
  type BufferFull,
  InvalidRecord,
  type ReadError,
  RecordTooLarge,
  type WalOpenError
} from "./WalError.ts"
import { type AppendRecord, isLostRange, type LostRange, type SequenceNumber, type WalRecord } from "./WalRecord.ts"
import type {
  Appended,
  AppendOptions,
  LogReads,
  ReadOptions,
  ReplayOptions,
  SkipDamage,
  WalService
} from "./WalService.ts"

export * from "./TypedRecord.ts"

interface ValueOptions<A> {
  /** The record's key. Default: none. */
  readonly key?: (value: A) => string | undefined
  /** The record's headers. Default: none. */
  readonly headers?: (value: A) => Readonly<Record<string, string>> | undefined
  /** The record's own time, any finite number. Default: none. */
  readonly timestamp?: (value: A) => number | undefined
}

/** How values become records: with `schema` their payload is JSON, with `bytes` whatever that codec makes of them. */
export type TypedOptions<A, E, RD, RE> =
  & ValueOptions<A>
  & ({ readonly schema: Schema.Codec<A, E, RD, RE> } | { readonly bytes: Schema.Codec<A, Uint8Array, RD, RE> })

/** Records that do not decode are delivered as elements that say so. */
export interface SkipUndecodable {
  readonly onDecodeError: "skip"
}

/** A record that does not decode ends the stream with `RecordDecodeError`, after all before it; the default. */
export interface FailUndecodable {
  readonly onDecodeError?: "fail"
}

/** A way to read, with the policies for damage and for records that do not decode. */
export interface TypedRead<Options, A, RD> {
  (
    options: Options & SkipDamage & SkipUndecodable
  ): Stream.Stream<TypedRecord<A> | LostRange | UndecodableRecord, ReadError, RD>
  (
    options: Options & SkipDamage & FailUndecodable
  ): Stream.Stream<TypedRecord<A> | LostRange, ReadError | RecordDecodeError, RD>
  (options: Options & SkipUndecodable): Stream.Stream<TypedRecord<A> | UndecodableRecord, ReadError, RD>
  (options?: Options & FailUndecodable): Stream.Stream<TypedRecord<A>, ReadError | RecordDecodeError, RD>
}

/** As `LogReads`, of values. */
export interface TypedReads<A, RD> {
  readonly replay: TypedRead<ReplayOptions, A, RD>
  readonly read: TypedRead<ReadOptions, A, RD>
}

/** As `WalService`, of values. `InvalidRecord` names the first value that does not encode; then nothing was appended. */
export interface TypedWalService<A, RD = never, RE = never>
  extends TypedReads<A, RD>, Omit<WalService, "append" | "appendNow" | "sink" | "replay" | "read">
{
  /**
   * Encodes the values and appends them as `Wal`'s `append`; one that does not encode refuses the call:
   * `InvalidRecord`.
   */
  readonly append: (values: ReadonlyArray<A>, options?: AppendOptions) => Effect.Effect<Appended, AppendError, RE>
  /** The same, but fails `BufferFull` where there is no room now, and appends nothing. */
  readonly appendNow: (
    values: ReadonlyArray<A>,
    options?: AppendOptions
  ) => Effect.Effect<Appended, AppendError | BufferFull, RE>
  /**
   * The index of an `InvalidRecord` or of a `RecordTooLarge` counts from the first value of the sink; the chunks before
   * are appended.
   */
  readonly sink: Sink.Sink<SequenceNumber, A, never, AppendError, RE>
}

const codecOf = <A, E, RD, RE>(options: TypedOptions<A, E, RD, RE>): Schema.Codec<A, Uint8Array, RD, RE> =>
  "bytes" in options ? options.bytes : json(options.schema)

/** Encodes one value; `index` is what an error names. */
const encodeWith = <A, E, RD, RE>(options: TypedOptions<A, E, RD, RE>) => {
  const encode = Schema.encodeEffect(codecOf(options))
  return (value: A, index: number): Effect.Effect<AppendRecord, InvalidRecord, RE> =>
    encode(value).pipe(
      Effect.mapError((error) => new InvalidRecord({ index, ...problemOf(error) })),
      Effect.map((payload) => {
        const key = options.key?.(value)
        const headers = options.headers?.(value)
        const timestamp = options.timestamp?.(value)
        return {
          payload,
          ...(key === undefined ? {} : { key }),
          ...(headers === undefined ? {} : { headers }),
          ...(timestamp === undefined ? {} : { timestamp })
        }
      })
    )
}

const typed = <A>({ appendedAt, headers, key, seq, timestamp }: WalRecord, value: A): TypedRecord<A> => ({
  seq,
  appendedAt,
  value,
  ...(key === undefined ? {} : { key }),
  ...(headers === undefined ? {} : { headers }),
  ...(timestamp === undefined ? {} : { timestamp })
})

const reasonOf = (error: Schema.SchemaError): string => {
  const { field, rule } = problemOf(error)
  return `${field}: ${rule}`
}

/** One method of `LogReads`. */
interface Source<Options> {
  (options: Options & SkipDamage): Stream.Stream<WalRecord | LostRange, ReadError>
  (options?: Options): Stream.Stream<WalRecord, ReadError>
}

const readWith = <Options, A, RD, RE>(
  source: Source<Options>,
  codec: Schema.Codec<A, Uint8Array, RD, RE>
): TypedRead<Options, A, RD> => {
  type Element = TypedRecord<A> | LostRange | UndecodableRecord
  type Asked = Options & { readonly onDamage?: "skip"; readonly onDecodeError?: "fail" | "skip" }
  const decode = Schema.decodeEffect(codec)
  const decodeRecord = (record: WalRecord) => Effect.map(decode(record.payload), (value) => typed(record, value))
  const orFail = (record: WalRecord): Effect.Effect<Element, RecordDecodeError, RD> =>
    Effect.mapError(
      decodeRecord(record),
      (error) => new RecordDecodeError({ seq: record.seq, reason: reasonOf(error) })
    )
  const orSkip = (record: WalRecord): Effect.Effect<Element, never, RD> =>
    Effect.catch(
      decodeRecord(record),
      (error) =>
        Effect.succeed({ _tag: "UndecodableRecord" as const, seq: record.seq, reason: reasonOf(error), record })
    )
  const recordsOf = (options: Asked | undefined): Stream.Stream<WalRecord | LostRange, ReadError> =>
    options?.onDamage === "skip" ? source({ ...options, onDamage: "skip" }) : source(options)
  function read(
    options: Options & SkipDamage & SkipUndecodable
  ): Stream.Stream<TypedRecord<A> | LostRange | UndecodableRecord, ReadError, RD>
  function read(
    options: Options & SkipDamage & FailUndecodable
  ): Stream.Stream<TypedRecord<A> | LostRange, ReadError | RecordDecodeError, RD>
  function read(options: Options & SkipUndecodable): Stream.Stream<TypedRecord<A> | UndecodableRecord, ReadError, RD>
  function read(options?: Options & FailUndecodable): Stream.Stream<TypedRecord<A>, ReadError | RecordDecodeError, RD>
  function read(options?: Asked): Stream.Stream<Element, ReadError | RecordDecodeError, RD> {
    const decodeOne: (record: WalRecord) => Effect.Effect<Element, RecordDecodeError, RD> =
      options?.onDecodeError === "skip" ? orSkip : orFail
    return Stream.mapEffect(
      recordsOf(options),
      (element) => isLostRange(element) ? Effect.succeed(element) : decodeOne(element)
    )
  }
  return read
}

/** Typed reading of a log or of a `WalReader`. */
export const reads = <A, E, RD, RE>(log: LogReads, options: TypedOptions<A, E, RD, RE>): TypedReads<A, RD> => {
  const codec = codecOf(options)
  return {
    replay: readWith<ReplayOptions, A, RD, RE>(log.replay, codec),
    read: readWith<ReadOptions, A, RD, RE>(log.read, codec)
  }
}

/** The error of a chunk, with the index in all that came. */
const behind = (error: AppendError, before: number): AppendError => {
  switch (error._tag) {
    case "InvalidRecord":
      return new InvalidRecord({ index: before + error.index, field: error.field, rule: error.rule })
    case "RecordTooLarge": {
      const { index, limitBytes, sizeBytes } = error
      return new RecordTooLarge({ index: before + index, sizeBytes, limitBytes })
    }
    default:
      return error
  }
}

/** A typed log over a log. */
export const over = <A, E, RD, RE>(
  wal: WalService,
  options: TypedOptions<A, E, RD, RE>
): TypedWalService<A, RD, RE> => {
  const encode = encodeWith(options)
  const sink = Sink.unwrap(Effect.sync(() => {
    let before = 0
    let count = 0
    return Sink.mapInputArrayEffect(wal.sink, (values: Array.NonEmptyReadonlyArray<A>) => {
      before = count
      count += values.length
      return Effect.forEach(values, encode)
    }).pipe(Sink.mapError((error) => behind(error, before)))
  }))
  return {
    ...wal,
    append: (values, given) => Effect.flatMap(Effect.forEach(values, encode), (records) => wal.append(records, given)),
    appendNow: (values, given) =>
      Effect.flatMap(Effect.forEach(values, encode), (records) => wal.appendNow(records, given)),
    sink,
    ...reads(wal, options)
  }
}

/** A typed log over the `Wal` of the context. */
export const make = <A, E, RD, RE>(
  options: TypedOptions<A, E, RD, RE>
): Effect.Effect<TypedWalService<A, RD, RE>, never, Wal> => Effect.map(Wal, (wal) => over(wal, options))

/** A typed log as a service class, with its layers. */
export interface NamedTypedWal<Self, A, RD, RE> extends Context.ServiceClass<Self, string, TypedWalService<A, RD, RE>> {
  /** Opens a log of its own for the life of the layer. */
  readonly layer: (options: WalMakeOptions) => Layer.Layer<Self, WalOpenError, ObjectStore>
  /** Over a log that another layer opens: `Wal`, or a `Wal.Tag`. */
  readonly layerOver: <I>(log: Context.Key<I, WalService>) => Layer.Layer<Self, never, I>
}

/**
 * A base class for a typed log of a program: `class Orders extends TypedWal.Tag("orders", { schema: Order })<Orders>() {}`,
 * then `Orders.layer(options)` or `Orders.layerOver(Wal)`.
 */
export const Tag =
  <A, E, RD, RE>(name: string, options: TypedOptions<A, E, RD, RE>) => <Self>(): NamedTypedWal<Self, A, RD, RE> => {
    const service = Context.Service<Self, TypedWalService<A, RD, RE>>()(`@effect-wal/core/TypedWal/${name}`)
    const layer: NamedTypedWal<Self, A, RD, RE>["layer"] = (log) =>
      Layer.effect(service, Effect.map(Wal.make(log), (wal) => over(wal, options)))
    const layerOver: NamedTypedWal<Self, A, RD, RE>["layerOver"] = (log) =>
      Layer.effect(service, Effect.map(log, (wal) => over(wal, options)))
    return Object.assign(service, { layer, layerOver })
  }
