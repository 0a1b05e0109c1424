/** Clients that are refused and keep their side of the connection open: they must not keep the server's. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Net from "node:net"
import * as Tls from "node:tls"
import { fileURLToPath } from "node:url"
import { startServer } from "../support/TestServer.ts"
import { eventually } from "../support/Wait.ts"

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
const files = { certFile: fixture("tls-cert.pem"), keyFile: fixture("tls-key.pem") }

/** Only one connection at a time, so that the next one is served when the one before is gone. */
const tight = {
  limits: { maxConnections: 1, headerTimeout: Duration.seconds(1), requestTimeout: Duration.seconds(1) }
}

interface Client {
  readonly socket: Net.Socket
  readonly received: () => string
  readonly isEnded: () => boolean
}

/** Sends a text and never closes its side. */
const holding = (port: number, text: string) =>
  Effect.acquireRelease(
    Effect.callback<Client>((resume) => {
      const socket = Net.connect({ host: "127.0.0.1", port, allowHalfOpen: true })
      let received = ""
      let isEnded = false
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1")
      })
      socket.on("end", () => {
        isEnded = true
      })
      socket.on("error", () => {})
      socket.on("connect", () => {
        socket.write(text)
        resume(Effect.succeed({ socket, received: () => received, isEnded: () => isEnded }))
      })
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** Connects with `open` again and again until the server has room, and asks whether it is alive. */
const served = (open: (isOpen: () => void) => Net.Socket) =>
  Effect.suspend(() => {
    let isServed = false
    const attempt = Effect.callback<void>((resume) => {
      const socket = open(() => socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
      socket.on("data", () => {
        isServed = true
      })
      socket.on("error", () => {})
      socket.on("close", () => resume(Effect.void))
      return Effect.sync(() => socket.destroy())
    })
    return Effect.repeat(Effect.delay(attempt, "50 millis"), { until: () => isServed })
  })

const post = "POST /v1/streams/orders/records HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\n"

describe("a client that is refused and does not close its side", () => {
  for (
    const [what, text, status, more] of [
      ["sends no HTTP", "hello\r\n\r\n", 400, ""],
      ["sends nothing", "", 408, ""],
      ["never ends its head", "GET / HTTP/1.1\r\nho", 408, "a"],
      ["never ends its body", `${post}content-length: 1000\r\n\r\na`, 408, "a"],
      ["sends a head that is too large", `GET / HTTP/1.1\r\nx: ${"a".repeat(20_000)}\r\n\r\n`, 431, ""]
    ] as const
  ) {
    it.live(`loses the connection: one that ${what}`, () =>
      Effect.gen(function*() {
        const { port } = yield* startServer(tight)
        const client = yield* holding(port, text)
        yield* eventually(client.isEnded)
        assert.include(client.received(), `HTTP/1.1 ${status} `)
        // What it still sends makes no difference.
        const send = Effect.sync(() => client.socket.write(more))
        yield* Effect.forkScoped(Effect.forever(Effect.delay(send, "50 millis")))
        yield* served((isOpen) => Net.connect(port, "127.0.0.1", isOpen))
      }))
  }

  for (const [what, text] of [["sends nothing", ""], ["never ends its handshake", "\u0016\u0003\u0001"]] as const) {
    it.live(`loses the connection, with TLS: one that ${what}`, () =>
      Effect.gen(function*() {
        const { port } = yield* startServer({ ...tight, tls: files })
        yield* holding(port, text)
        yield* served((isOpen) => Tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, isOpen))
      }))
  }
})
