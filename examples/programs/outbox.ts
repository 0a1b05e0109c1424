/**
 * Orders in, rows in PostgreSQL out, each exactly once: a row and the number of its record are written in one transaction,
 * so a record that comes again after a crash finds its number there and changes nothing.
 *
 *     PGHOST=/var/run/postgresql PGUSER=me node examples/programs/outbox.ts < orders.ndjson
 *
 * A line is `{"id":1,"item":"a cup","cents":450}`, with ids that rise: they make the source idempotent, so a file that is
 * given again from its start is stored once too. PGPORT (5432), PGDATABASE (postgres), WAL_PATH (./data/outbox).
 */
import * as DurableInput from "@effect-wal/core/DurableInput"
import * as TypedWal from "@effect-wal/core/TypedWal"
import { Wal } from "@effect-wal/core/Wal"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { PgClient } from "@effect/sql-pg"
import { Array, Config, Console, Effect, Layer, Schedule, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"

/** The text types of PostgreSQL hold every character but this one: refused here, before the log has it. */
const Text = Schema.String.check(
  Schema.makeFilter((text) => !text.includes("\0"), { expected: "a text without \\u0000" })
)

const Order = Schema.Struct({ id: Schema.Int, item: Text, cents: Schema.Int })

class Orders extends TypedWal.Tag("orders", { schema: Order })<Orders>() {}

class InputFailed extends Schema.TaggedError<InputFailed>()("InputFailed", { cause: Schema.Defect() }) {}

/** Nobody knows any more how far this log is written. */
class PositionMissing extends Schema.TaggedError<PositionMissing>()("PositionMissing", { log: Schema.String }) {
  override get message() {
    return `outbox_position has no row of log ${this.log}: give it the newest number that is written, and start again`
  }
}

const decodeOrder = Schema.decodeEffect(Schema.fromJsonString(Order))

/** Orders from the standard input, one a line. */
const incoming = NodeStream.fromReadable({
  evaluate: () => process.stdin,
  onError: (cause) => new InputFailed({ cause })
}).pipe(
  Stream.decodeText(),
  Stream.splitLines,
  Stream.filter((line) => line !== ""),
  Stream.mapEffect((line) => decodeOrder(line))
)

const createTables = Effect.fnUntraced(function*(logId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS orders (id bigint, item text NOT NULL, cents bigint NOT NULL)`
  // The log's own id: a log that is begun anew counts from 1 again.
  yield* sql`CREATE TABLE IF NOT EXISTS outbox_position (log text PRIMARY KEY, seq bigint NOT NULL)`
  yield* sql`INSERT INTO outbox_position (log, seq) VALUES (${logId}, 0) ON CONFLICT DO NOTHING`
})

/** Writes what is not written yet, and how far it came, together or not at all. */
const write = Effect.fnUntraced(
  function*(logId: string, orders: ReadonlyArray<DurableInput.Delivery<typeof Order.Type>>) {
    const sql = yield* SqlClient.SqlClient
    const [position] = yield* sql`SELECT seq FROM outbox_position WHERE log = ${logId} FOR UPDATE`
    if (position === undefined) return yield* new PositionMissing({ log: logId })
    const fresh = orders.filter(({ seq }) => seq > Number(position["seq"]))
    if (!Array.isReadonlyArrayNonEmpty(fresh)) return
    yield* sql`INSERT INTO orders ${sql.insert(Array.map(fresh, ({ value }) => value))}`
    yield* sql`UPDATE outbox_position SET seq = ${Array.lastNonEmpty(fresh).seq} WHERE log = ${logId}`
  }
)

/** A database that is away comes back, and one that refuses is mended; the orders wait for that, in their order. */
const untilWritten = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

const program = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const orders = yield* Orders
  const { logId } = yield* orders.status
  yield* createTables(logId)
  const input = DurableInput.typed(orders, incoming, { producer: ({ id }) => ({ id: "orders", sequence: id }) })

  // One transaction for many orders, and one after the other: the position says that all up to it is written.
  yield* input.deliveries.pipe(
    Stream.groupedWithin(500, "20 millis"),
    Stream.runForEach((chunk) =>
      sql.withTransaction(write(logId, chunk)).pipe(
        Effect.tapErrorTag("SqlError", (error) => Effect.logWarning("Not written yet, and tried again:", error)),
        Effect.retry({ schedule: untilWritten, while: ({ _tag }) => _tag === "SqlError" }),
        Effect.andThen(Effect.forEach(chunk, ({ commit }) => commit, { discard: true })),
        Effect.andThen(Console.log(`orders to record ${chunk.at(-1)?.seq} are written`))
      )
    )
  )
})

const DatabaseLive = Layer.unwrap(Effect.gen(function*() {
  const host = yield* Config.NonEmptyString("PGHOST")
  const port = yield* Config.Port("PGPORT").pipe(Config.withDefault(5432))
  const username = yield* Config.NonEmptyString("PGUSER")
  const database = yield* Config.NonEmptyString("PGDATABASE").pipe(Config.withDefault("postgres"))
  return PgClient.layer({ host, port, username, database })
}))

const LogLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("WAL_PATH").pipe(Config.withDefault("./data/outbox")),
  (path) =>
    Wal.layerLocal({
      path,
      nodeId: "node-0",
      streamId: "orders",
      preset: "low_latency",
      // For ever, as long as that can be: a file may be given again at any time.
      producers: { ttl: "36500d" }
    })
))

program.pipe(
  Effect.provide(Layer.merge(Orders.layerOver(Wal).pipe(Layer.provide(LogLive)), DatabaseLive)),
  NodeRuntime.runMain
)
