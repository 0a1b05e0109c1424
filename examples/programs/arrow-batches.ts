/**
 * Apache Arrow record batches in a log: each is one record, in the IPC stream format that every Arrow library reads. They
 * are appended as they come, handled as tables once they are durable, and compared with what went in.
 *
 *     node examples/programs/arrow-batches.ts
 *
 * WAL_PATH (./data/arrow-batches).
 */
import * as DurableInput from "@effect-wal/core/DurableInput"
import * as TypedWal from "@effect-wal/core/TypedWal"
import { Wal } from "@effect-wal/core/Wal"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Table, tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow"
import { Array, Config, Console, Effect, Layer, Schema, SchemaTransformation, Stream } from "effect"

/** A table as the bytes of an IPC stream. What is read is copied: Arrow keeps views of it for as long as the table lives. */
const ArrowTable = Schema.Uint8Array.pipe(
  Schema.decodeTo(
    Schema.instanceOf(Table),
    SchemaTransformation.transform({
      decode: (bytes: Uint8Array) => tableFromIPC(bytes.slice()),
      encode: (table: Table) => tableToIPC(table, "stream")
    })
  )
)

class Readings extends TypedWal.Tag("readings", { bytes: ArrowTable })<Readings>() {}

const rowsPerBatch = 1_000
const sensors = ["cellar", "kitchen", "roof"]

/** One batch of readings; in life they come from a source that gives batches, as Flight or a Kafka topic. */
const batch = (index: number): Table => {
  const first = index * rowsPerBatch
  return tableFromArrays({
    at: BigInt64Array.from({ length: rowsPerBatch }, (_, row) => 1_785_000_000_000n + BigInt((first + row) * 250)),
    sensor: Array.makeBy(rowsPerBatch, (row) => sensors[(first + row) % sensors.length] ?? ""),
    celsius: Float64Array.from(
      { length: rowsPerBatch },
      (_, row) => 20 + Math.round(50 * Math.sin((first + row) / 90)) / 10
    )
  })
}

/** Equal in schema and in every value. */
const isEqual = (left: Table, right: Table): boolean =>
  String(left.schema) === String(right.schema) && left.numRows === right.numRows &&
  left.schema.fields.every(({ name }) => {
    const [mine, other] = [left.getChild(name), right.getChild(name)]
    return mine !== null && [...mine].every((value, row) => value === other?.get(row))
  })

const program = Effect.gen(function*() {
  const readings = yield* Readings
  const given = Array.makeBy(3, batch)
  const before = (yield* readings.status).lastAccepted
  // A batch is large: a few on their way are enough.
  const input = DurableInput.typed(readings, Stream.fromIterable(given), { maxPending: 16 })
  yield* input.run((table, { seq }) => {
    const original = given[seq - before - 1]
    const columns = table.schema.fields.map(({ name, type }) => `${name} ${String(type)}`).join(", ")
    const verdict = original !== undefined && isEqual(table, original) ? "as given" : "not as given"
    return Console.log(`record ${seq}: ${table.numRows} rows (${columns}), ${verdict}`)
  })
})

const LogLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("WAL_PATH").pipe(Config.withDefault("./data/arrow-batches")),
  // Columns repeat themselves: compression pays.
  (path) => Wal.layerLocal({ path, nodeId: "node-0", streamId: "readings", compression: { type: "zstd", level: 3 } })
))

program.pipe(Effect.provide(Readings.layerOver(Wal).pipe(Layer.provide(LogLive))), NodeRuntime.runMain)
