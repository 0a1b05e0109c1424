import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, FileSystem, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hasPostgres, postgresUser, startPostgres } from "../../bench/src/peers/PostgresServer.ts"
import { example, start, until } from "./support/Examples.ts"

/** A PostgreSQL for one test. */
const makeDatabase = Effect.fnUntraced(function*(directory: string) {
  const fs = yield* FileSystem.FileSystem
  const host = `${directory}/pg`
  yield* fs.makeDirectory(host)
  yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres(host)),
    (server) => Effect.promise(() => server.stop("SIGINT"))
  )
  return host
})

const Totals = Schema.Struct({ rows: Schema.Int, ids: Schema.Int, cents: Schema.Int })

/** Rows, different ids among them, and the sum of their amounts. */
const totals = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids, coalesce(sum(cents), 0)::int AS cents FROM orders`
  return yield* Schema.decodeUnknownEffect(Totals)(row)
})

/** Makes the table beforehand, with a lock that a transaction waits for when it writes this order. The result opens it. */
const holdAt = Effect.fnUntraced(function*(id: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE orders (id bigint, item text NOT NULL, cents bigint NOT NULL)`
  yield* sql.unsafe(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.id = ${id} THEN PERFORM pg_advisory_xact_lock(1); END IF; RETURN NEW; END $$`)
  yield* sql`CREATE TRIGGER hold BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION hold()`
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
          const host = yield* makeDatabase(cwd)
          const run = start("outbox", { cwd, env: { PGHOST: host, PGUSER: postgresUser }, input })
          const client = PgClient.layer({ host, port: 5432, username: postgresUser, database: "postgres" })
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
          }).pipe(Effect.provide(client))
        })
    )
  })
}
