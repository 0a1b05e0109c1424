import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, FileSystem, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hasPostgres, postgresUser, startPostgres } from "../../bench/src/peers/PostgresServer.ts"
import { example, start, until } from "./support/Examples.ts"

/** A PostgreSQL for one test: how the program gets at it, and the test itself. */
const makeDatabase = Effect.fnUntraced(function*(directory: string) {
  const fs = yield* FileSystem.FileSystem
  const host = `${directory}/pg`
  yield* fs.makeDirectory(host)
  yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres(host)),
    (server) => Effect.promise(() => server.stop("SIGINT"))
  )
  return {
    env: { PGHOST: host, PGUSER: postgresUser },
    client: PgClient.layer({ host, port: 5432, username: postgresUser, database: "postgres" })
  }
})

const Totals = Schema.Struct({ rows: Schema.Int, ids: Schema.Int, cents: Schema.Int })

/** Rows, different ids among them, and the sum of their amounts. */
const totals = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids, coalesce(sum(cents), 0)::int AS cents FROM orders`
  return yield* Schema.decodeUnknownEffect(Totals)(row)
})

/** Makes the table beforehand, with a trigger that runs this on each row that is written. */
const onInsert = Effect.fnUntraced(function*(body: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE orders (id bigint, item text NOT NULL, cents bigint NOT NULL)`
  yield* sql.unsafe(`CREATE FUNCTION on_insert() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN ${body}; RETURN NEW; END $$`)
  yield* sql`CREATE TRIGGER on_insert BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION on_insert()`
})

/** Makes the table beforehand, with a lock that a transaction waits for when it writes this order. The result opens it. */
const holdAt = Effect.fnUntraced(function*(id: number) {
  const sql = yield* SqlClient.SqlClient
  yield* onInsert(`IF NEW.id = ${id} THEN PERFORM pg_advisory_xact_lock(1); END IF`)
  const [locked, opened] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  yield* sql`SELECT pg_advisory_xact_lock(1)`.pipe(
    Effect.andThen(Deferred.succeed(locked, undefined)),
    Effect.andThen(Deferred.await(opened)),
    sql.withTransaction,
    Effect.forkScoped
  )
  yield* Deferred.await(locked)
  return opened
})

/** For `NODE_OPTIONS`: a process whose clock goes a day ahead. */
const aDayLater = `--import=data:text/javascript,${
  encodeURIComponent("const now = Date.now; Date.now = () => now() + 86_400_000")
}`

/** A transaction waits for the lock. */
const isHeld = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`).length > 0
})

const count = 1_500
const orders = Array.from({ length: count }, (_, index) => ({ id: index + 1, item: `item ${index}`, cents: index + 1 }))
const input = orders.map((order) => `${JSON.stringify(order)}\n`).join("")
const all = { rows: count, ids: count, cents: count * (count + 1) / 2 }

if (!hasPostgres()) {
  process.stderr.write(
    "\nLEFT OUT: examples/test/outbox.test.ts needs PostgreSQL: apt-get install postgresql, and run it again.\n\n"
  )
  describe.skip("outbox, into a real PostgreSQL", () => {
    it("needs PostgreSQL", () => undefined)
  })
} else {
  describe("outbox, into a real PostgreSQL", () => {
    example(
      "writes each order exactly once, although it is killed in the middle of a transaction",
      (cwd) =>
        Effect.gen(function*() {
          const { client, env } = yield* makeDatabase(cwd)
          const run = start("outbox", { cwd, env, input })
          yield* Effect.gen(function*() {
            const gate = yield* holdAt(700)
            const first = yield* run
            yield* until(isHeld)
            first.kill("SIGKILL")
            assert.strictEqual(yield* first.ended, "SIGKILL")
            const before = yield* totals
            assert.isBelow(before.rows, 700)
            yield* Deferred.succeed(gate, undefined)

            // Its source gives all of them again.
            const second = yield* run
            assert.strictEqual(yield* second.ended, 0, second.output())
            assert.deepStrictEqual(yield* totals, all)

            // However late that is: a day later the log still knows them.
            const third = yield* start("outbox", { cwd, env: { ...env, NODE_OPTIONS: aDayLater }, input })
            assert.strictEqual(yield* third.ended, 0, third.output())
            assert.deepStrictEqual(yield* totals, all)
          }).pipe(Effect.provide(client))
        })
    )

    example("says each time that the database refuses, and writes once it takes", (cwd) =>
      Effect.gen(function*() {
        const { client, env } = yield* makeDatabase(cwd)
        yield* Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE closed (id bigint)`
          yield* onInsert("IF to_regclass('closed') IS NOT NULL THEN RAISE EXCEPTION 'closed'; END IF")
          const run = yield* start("outbox", { cwd, env, input })
          yield* run.until("tried again")
          yield* sql`DROP TABLE closed`
          assert.strictEqual(yield* run.ended, 0, run.output())
          assert.deepStrictEqual(yield* totals, all)

          // What it can never take does not get into the log, where the orders behind it would wait for it.
          const bad = yield* start("outbox", { cwd, env, input: `{"id":9999,"item":"a\\u0000b","cents":1}\n` })
          assert.strictEqual(yield* bad.ended, 1, bad.output())
          assert.include(bad.output(), "a text without \\u0000")
          const good = yield* start("outbox", { cwd, env, input })
          assert.strictEqual(yield* good.ended, 0, good.output())
          assert.deepStrictEqual(yield* totals, all)
        }).pipe(Effect.provide(client))
      }))

    example(
      "fails where its position is lost, and commits nothing that is not written",
      (cwd) =>
        Effect.gen(function*() {
          const { client, env } = yield* makeDatabase(cwd)
          yield* Effect.gen(function*() {
            yield* onInsert("IF NEW.id = 1 THEN DELETE FROM outbox_position; END IF")
            const first = yield* start("outbox", { cwd, env, input })
            assert.strictEqual(yield* first.ended, 1, first.output())
            assert.include(first.output(), "outbox_position has no row")
            const { rows } = yield* totals
            assert.isBelow(rows, count)

            // With its place given back it goes on there.
            const sql = yield* SqlClient.SqlClient
            const [, log] = /no row of log (\w+)/.exec(first.output()) ?? []
            yield* sql`INSERT INTO outbox_position ${sql.insert({ log, seq: rows })}`
            const second = yield* start("outbox", { cwd, env, input })
            assert.strictEqual(yield* second.ended, 0, second.output())
            assert.deepStrictEqual(yield* totals, all)
          }).pipe(Effect.provide(client))
        })
    )
  })
}
