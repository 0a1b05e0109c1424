import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Scope } from "effect"
import { drain, exitCodes, serveUntil } from "../src/Shutdown.ts"
import { append, call, connect, json } from "./support/Client.ts"
import { startServer } from "./support/TestServer.ts"
import { advanceUntil, turn, until } from "./support/Wait.ts"

const ndjson = "application/x-ndjson"

describe("shutdown", () => {
  it.effect("[case 26] is not ready first, then refuses appends and closes connections, then closes the logs", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ drainDelay: Duration.seconds(3) })
      const { lifecycle, port, streams } = server
      const stop = yield* Deferred.make<string>()
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Deferred.await(stop)), server.context))
      yield* Deferred.succeed(stop, "SIGTERM")
      yield* until(() => lifecycle.phase() === "leaving")
      assert.strictEqual((yield* call(port, "/readyz")).status, 503)
      const last = yield* call(port, "/v1/streams/orders/records", {
        method: "POST",
        // Without it node's client asks for the close itself.
        headers: { "content-type": ndjson, connection: "keep-alive" },
        body: "1\n"
      })
      assert.deepStrictEqual([last.status, last.headers.connection], [200, "close"])
      yield* append(port, ndjson, "2\n", "?ack=accepted")
      assert.strictEqual(yield* advanceUntil(code, "1 second"), exitCodes.drained)
      const status = yield* Effect.flatMap(streams.log("orders"), (log) => log.status)
      assert.deepStrictEqual([status.state, status.durable], ["closed", 2])
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
      const server = yield* startServer({
        drainTimeout: Duration.seconds(25),
        streams: ["orders", "payments"],
        log: { parallelPut: { shutdownTimeout: "60s" } }
      })
      yield* server.log.hold
      yield* append(server.port, ndjson, "1\n", "?ack=accepted")
      const reports = yield* Effect.forkChild(Effect.provideContext(drain, server.context))
      const [orders, payments] = yield* advanceUntil(reports, "1 second")
      assert.deepStrictEqual(orders, {
        streamId: "orders",
        durable: 0,
        lost: { from: 1, to: 1 },
        spooled: null,
        manifestWritten: false
      })
      assert.isNull(payments?.lost)
    }))

  it.effect("[case 26] an opening that cannot be interrupted holds up neither the other logs nor the end", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const server = yield* startServer({
        drainTimeout: Duration.seconds(25),
        streams: ["orders", "payments"],
        open: (id) => id === "orders" ? Effect.uninterruptible(Deferred.await(gate)) : Effect.void
      }).pipe(Scope.provide(scope))
      yield* until(() => server.streams.entries().some(({ state }) => state._tag === "Open"))
      const reports = yield* Effect.forkChild(Effect.provideContext(drain, server.context))
      assert.deepStrictEqual((yield* advanceUntil(reports, "1 second")).map(({ streamId }) => streamId), ["payments"])
      const end = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* advanceUntil(end, "100 millis")
      yield* Deferred.succeed(gate, undefined)
    }))

  it.effect("[case 26] appends that wait for durability are answered before the connections are closed", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ log: { parallelPut: { shutdownTimeout: "10s" } } })
      yield* server.log.hold
      const waiting = yield* Effect.forkChild(append(server.port, ndjson, "1\n"), { startImmediately: true })
      yield* until(() => server.log.records.length === 1)
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Effect.succeed("SIGTERM")), server.context))
      const answer = yield* advanceUntil(waiting, "1 second")
      assert.deepStrictEqual([answer.status, json(answer).error.data], [503, "unknown"])
      yield* advanceUntil(code, "1 second")
    }))

  it.effect("[case 26] an answer that is on its way is finished before the connections are closed", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ limits: { maxPageBytes: 67_108_864 } })
      const line = `"${"a".repeat(999_998)}"\n`
      for (let call = 0; call < 6; call++) yield* append(server.port, ndjson, line.repeat(5))
      const reader = yield* connect(server.port)
      reader.write("GET /v1/streams/orders/records HTTP/1.1\r\nhost: x\r\n\r\n")
      yield* reader.until("HTTP/1.1 200 OK")
      // More than the sockets hold: the answer cannot end while nobody reads.
      reader.socket.pause()
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Effect.succeed("SIGTERM")), server.context))
      const log = yield* server.streams.log("orders")
      const closed = yield* Effect.forkChild(log.ended)
      yield* until(() => closed.pollUnsafe() !== undefined)
      for (let turns = 0; turns < 20; turns++) yield* turn
      reader.socket.resume()
      yield* until(() => code.pollUnsafe() !== undefined)
      const text = yield* reader.closed
      const declared = Number(/content-length: (\d+)/.exec(text)?.[1])
      assert.strictEqual(text.length - text.indexOf("\r\n\r\n") - 4, declared)
      assert.isAbove(declared, 30_000_000)
    }))

  it.effect("ends with 70 when a log has died", () =>
    Effect.gen(function*() {
      const server = yield* startServer()
      const code = yield* Effect.forkChild(Effect.provideContext(serveUntil(Effect.never), server.context))
      yield* server.log.kill
      yield* append(server.port, ndjson, "1\n", "?ack=accepted")
      assert.strictEqual(yield* advanceUntil(code, "1 second"), exitCodes.dead)
    }))
})
