/** Clients that take their answers slowly, or not at all. Slow heads and bodies: `limits.test.ts`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, FileSystem } from "effect"
import { readFileSync } from "node:fs"
import * as Net from "node:net"
import { Connections } from "../../src/Listener.ts"
import { append, call, json } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"
import { startServer } from "../support/TestServer.ts"
import { eventually, turn } from "../support/Wait.ts"

const path = "/v1/streams/orders/records"
const octets = "application/octet-stream"
const mebibyte = 1_048_576

interface Slow {
  readonly socket: Net.Socket
  /** Takes whatever is there now; answers how much that was. */
  readonly take: () => number
  readonly isClosed: () => boolean
}

/** Asks, and reads nothing but what it is told to take. */
const asking = (port: number, target: string, more = ""): Effect.Effect<Slow> =>
  Effect.callback<Slow>((resume) => {
    const socket = Net.connect(port, "127.0.0.1")
    let isClosed = false
    socket.on("close", () => {
      isClosed = true
    })
    socket.on("error", () => {})
    socket.on("connect", () => {
      socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n${more}\r\n`)
      resume(Effect.succeed({
        socket,
        take: () => {
          const chunk: unknown = socket.read()
          return chunk instanceof Uint8Array ? chunk.length : 0
        },
        isClosed: () => isClosed
      }))
    })
  })

const pageOf = 24 * mebibyte

/** A server with 24 MiB of records that one page holds. */
const withPages = Effect.fnUntraced(function*(limits: Parameters<typeof startServer>[0] = {}) {
  const server = yield* startServer({
    ...limits,
    limits: { maxPageBytes: 2 * pageOf, sendTimeout: Duration.millis(400), ...limits.limits },
    log: { retention: { policy: "keep" } }
  })
  for (let index = 0; index < 24; index++) {
    assert.strictEqual((yield* append(server.port, octets, Buffer.alloc(mebibyte, 0x61))).status, 200)
  }
  return server
})

const statusOf = (port: number, target: string) => Effect.map(call(port, target), ({ status }) => status)

describe("a client that takes nothing of its answer", () => {
  it.live("loses its connection after send_timeout", () =>
    Effect.gen(function*() {
      const { context, port } = yield* withPages()
      const stuck = yield* asking(port, path)
      yield* eventually(() => stuck.socket.readableLength > 0)
      yield* Context.get(context, Connections).answered
      // The end comes behind what lies in the socket, and that is not all of the page.
      let taken = 0
      yield* eventually(() => {
        taken += stuck.take()
        return stuck.isClosed()
      })
      assert.isBelow(taken, pageOf)
    }), 60_000)

  it.live(
    "does not keep other readers from reading for ever, nor anybody from appending",
    () =>
      Effect.gen(function*() {
        const { port } = yield* withPages({
          limits: { maxInFlightBodyBytes: 50 * mebibyte, sendTimeout: Duration.seconds(3) }
        })
        const stuck = yield* Effect.forEach([1, 2, 3, 4], () => asking(port, path))
        const refused = yield* Effect.repeat(call(port, path), { until: ({ status }) => status === 503 })
        assert.strictEqual(json(refused).error.code, "overloaded")
        assert.strictEqual(refused.headers["retry-after"], "1")
        assert.strictEqual((yield* append(port, octets, "x")).status, 200)
        assert.strictEqual(yield* statusOf(port, `${path}?from=25`), 200)
        yield* Effect.repeat(statusOf(port, path), { until: (status) => status === 200 })
        for (const { socket } of stuck) socket.destroy()
      }),
    60_000
  )
})

describe("a client that only takes its time", () => {
  it.live("gets all of a page, as long as it takes something of it", () =>
    Effect.gen(function*() {
      const { port } = yield* withPages({ limits: { sendTimeout: Duration.seconds(5) } })
      const slow = yield* asking(port, path, "connection: close\r\n")
      let taken = 0
      while (!slow.isClosed()) {
        taken += slow.take()
        yield* turn
      }
      assert.isAbove(taken, pageOf)
    }), 60_000)

  it.live("may wait for the server as long as that lets it", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ limits: { sendTimeout: Duration.millis(100) } })
      const waited = yield* call(port, `${path}?wait=1200ms`)
      assert.deepStrictEqual([waited.status, json(waited).records], [200, []])
    }))

  it.live("may rest between two requests for keep_alive_timeout, and no longer", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({
        limits: { sendTimeout: Duration.millis(50), keepAliveTimeout: Duration.seconds(1) }
      })
      const idle = yield* asking(port, "/healthz")
      yield* eventually(() => idle.take() > 0)
      yield* Effect.sleep("300 millis")
      assert.isFalse(idle.isClosed())
      yield* eventually(() => idle.take() === 0 && idle.isClosed())
    }))
})

describe("live tails that nobody reads", () => {
  it.live("hold no more of the server's memory, however much is appended", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped()
      const program = yield* startProgram({ args: ["--port", "0"], cwd })
      const port = yield* program.portOnce("log main open")
      const residentBytes = () =>
        1_024 * Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1])
      const atStart = residentBytes()
      const tails = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        asking(port, "/v1/streams/main/records?from=1", "accept: text/event-stream\r\n"))
      for (let index = 0; index < 64; index++) {
        const answer = yield* append(port, octets, Buffer.alloc(mebibyte, 0x61), "", "main")
        assert.strictEqual(answer.status, 200)
      }
      // Twenty tails of 64 MiB in base64 are 1.7 gigabytes.
      assert.isBelow(residentBytes() - atStart, 600 * mebibyte)
      for (const { socket } of tails) {
        socket.destroy()
      }
      assert.strictEqual(yield* statusOf(port, "/healthz"), 200)
    }).pipe(Effect.provide(NodeServices.layer)), 240_000)
})
