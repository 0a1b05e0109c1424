/** Requests that come in the first moments, when the port is open and the routes are still being made. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { DirectRoutes } from "../src/DirectRoutes.ts"
import { Lifecycle } from "../src/Lifecycle.ts"
import * as Listener from "../src/Listener.ts"
import { Settings } from "../src/Settings.ts"
import { call, connect } from "./support/Client.ts"
import { settingsOf } from "./support/TestServer.ts"
import { turn } from "./support/Wait.ts"

/** A server that listens and has no routes yet. */
const listen = Effect.gen(function*() {
  const context = yield* Layer.build(Listener.layer.pipe(
    Layer.provideMerge(Layer.merge(Lifecycle.layer, DirectRoutes.layer)),
    Layer.provideMerge(Layer.succeed(Settings, settingsOf({}))),
    Layer.provideMerge(NodeServices.layer)
  ))
  const server = Context.get(context, HttpServer.HttpServer)
  if (server.address._tag === "UnixPathAddress") return yield* Effect.die("not a port")
  return { server, port: server.address.port, connections: Context.get(context, Listener.Connections) }
})

describe("a request that comes before there are routes", () => {
  it.live("waits for them and is answered once", () =>
    Effect.gen(function*() {
      const { port, server } = yield* listen
      const early = yield* Effect.forkChild(call(port, "/early"), { startImmediately: true })
      const asking = yield* connect(port)
      asking.write("POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
      // Both have reached the server when a later connection has been taken.
      yield* connect(port)
      yield* turn
      assert.isUndefined(early.pollUnsafe())
      let count = 0
      yield* server.serve(Effect.sync(() => {
        count++
        return HttpServerResponse.text("here")
      }))
      assert.strictEqual((yield* Fiber.join(early)).body.toString(), "here")
      assert.include(yield* asking.until("here"), "HTTP/1.1 200 OK")
      assert.strictEqual((yield* call(port, "/late")).body.toString(), "here")
      assert.strictEqual(count, 3)
    }))

  it.live("is dropped where its client is gone by then", () =>
    Effect.gen(function*() {
      const { connections, port, server } = yield* listen
      const gone = yield* connect(port)
      gone.write("GET /gone HTTP/1.1\r\nhost: x\r\n\r\n")
      // It has reached the server when a later connection has been taken.
      yield* connect(port)
      yield* turn
      const closed = yield* Effect.forkChild(connections.answered, { startImmediately: true })
      assert.isUndefined(closed.pollUnsafe())
      gone.socket.destroy()
      yield* Fiber.join(closed)
      const staying = yield* connect(port)
      staying.write("GET /staying HTTP/1.1\r\nhost: x\r\n\r\n")
      const asked: Array<string> = []
      yield* server.serve(Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
        asked.push(url)
        return HttpServerResponse.text("here")
      }))
      yield* staying.until("here")
      assert.deepStrictEqual(asked, ["/staying"])
    }))
})
