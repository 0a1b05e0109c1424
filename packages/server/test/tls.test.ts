import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Https from "node:https"
import type { TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { startServer } from "./support/TestServer.ts"

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))

describe("TLS", () => {
  it.effect("is served from the configured files", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({
        tls: { certFile: fixture("tls-cert.pem"), keyFile: fixture("tls-key.pem") }
      })
      const [status, subject] = yield* Effect.callback<
        readonly [number | undefined, string | ReadonlyArray<string> | undefined]
      >((resume) => {
        // The certificate signs itself; here it only has to be the one that was configured.
        Https.get(
          { host: "127.0.0.1", port, path: "/healthz", rejectUnauthorized: false, agent: false },
          (response) => {
            const socket: unknown = response.socket
            response.resume()
            resume(
              Effect.succeed([response.statusCode, isTls(socket) ? socket.getPeerCertificate().subject.CN : undefined])
            )
          }
        )
      })
      assert.deepStrictEqual([status, subject], [200, "localhost"])
    }))

  it.effect("a file that cannot be read is a configuration error", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        startServer({ tls: { certFile: fixture("tls-cert.pem"), keyFile: fixture("absent.pem") } })
      )
      assert.strictEqual(error._tag, "ConfigError")
      assert.include(error.message, "server.tls.key_file: cannot be read: NotFound")
    }))

  it.effect("a file that is no certificate is a configuration error too", () =>
    Effect.gen(function*() {
      const file = fixture("tls-key.pem")
      const error = yield* Effect.flip(startServer({ tls: { certFile: file, keyFile: file } }))
      assert.strictEqual(error._tag, "ConfigError")
      assert.include(error.message, "server.tls.cert_file: is no certificate in PEM")
    }))
})

const isTls = (socket: unknown): socket is TLSSocket =>
  typeof socket === "object" && socket !== null && "getPeerCertificate" in socket
