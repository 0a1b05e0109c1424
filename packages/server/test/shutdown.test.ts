import { WalFailed } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { drain, exitCodes, serveUntil } from "../src/Shutdown.ts"
import { append, call, json } from "./support/Client.ts"
import { startServer } from "./support/TestServer.ts"
import { advanceUntil, until } from "./support/Wait.ts"

const ndjson = "application/x-ndjson"

describe("shutdown", () => {
  it.effect("[case 26] is not ready first, then refuses appends and closes connections, then closes the logs", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ drainDelay: Duration.seconds(3) })
      const { lifecycle, log, port } = server
      const stop = yield* Deferred.make<string>()
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Deferred.await(stop)), server.context))
      yield* Deferred.succeed(stop, "SIGTERM")
      yield* until(() => lifecycle.phase() === "leaving")
      assert.strictEqual((yield* call(port, "/readyz")).status, 503)
      const last = yield* append(port, ndjson, "1\n")
      assert.deepStrictEqual([last.status, last.headers.connection], [200, "close"])
      yield* log.hold
      yield* append(port, ndjson, "2\n", "?ack=accepted")
      yield* log.release
      assert.strictEqual(yield* advanceUntil(code, "1 second"), exitCodes.drained)
      assert.strictEqual((yield* log.status).state, "closed")
    }))

  it.effect("[case 26] refuses appends while it drains: 503 and Connection: close", () =>
    Effect.gen(function*() {
      const { lifecycle, log, port } = yield* startServer()
      yield* lifecycle.leave
      yield* lifecycle.drain
      const answer = yield* append(port, ndjson, "1\n")
      assert.deepStrictEqual([answer.status, answer.headers.connection, json(answer).error.code], [
        503,
        "close",
        "draining"
      ])
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[case 26] what is left has its exact range in the report and a code of its own", () =>
    Effect.gen(function*() {
      const server = yield* startServer()
      yield* append(server.port, ndjson, "1\n2\n")
      yield* server.log.hold
      yield* append(server.port, ndjson, "3\n4\n5\n", "?ack=accepted")
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Effect.succeed("SIGTERM")), server.context))
      assert.strictEqual(yield* advanceUntil(code, "1 second"), exitCodes.recordsLeft)
    }))

  it.effect("[case 26] a log that does not close in time is reported, and the process goes on to end", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ drainTimeout: Duration.seconds(25), streams: ["orders", "payments"] })
      yield* server.log.hold
      yield* append(server.port, ndjson, "1\n", "?ack=accepted")
      yield* server.log.stick
      const reports = yield* Effect.forkChild(Effect.provideContext(drain, server.context))
      const [orders, payments] = yield* advanceUntil(reports, "1 second")
      assert.deepStrictEqual(orders, {
        streamId: "orders",
        durable: 0,
        lost: { from: 1, to: 1 },
        manifestWritten: false
      })
      assert.isNull(payments?.lost)
    }))

  it.effect("[case 26] appends that wait for durability are answered before the connections are closed", () =>
    Effect.gen(function*() {
      const server = yield* startServer()
      yield* server.log.hold
      const waiting = yield* Effect.forkChild(append(server.port, ndjson, "1\n"), { startImmediately: true })
      yield* until(() => server.log.records.length === 1)
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Effect.succeed("SIGTERM")), server.context))
      const answer = yield* Fiber.join(waiting)
      assert.deepStrictEqual([answer.status, json(answer).error.data], [503, "unknown"])
      yield* advanceUntil(code, "1 second")
    }))

  it.effect("ends with 70 when a log has died", () =>
    Effect.gen(function*() {
      const server = yield* startServer()
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Effect.never), server.context))
      yield* server.log.end(new WalFailed({ streamId: "orders", cause: "boom" }))
      assert.strictEqual(yield* advanceUntil(code, "1 second"), exitCodes.dead)
    }))
})
