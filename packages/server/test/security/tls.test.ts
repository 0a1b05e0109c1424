/** TLS beyond that it is served: which versions, what a plain request gets, and the certificate that is renewed. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FileSystem } from "effect"
import * as Tls from "node:tls"
import { fileURLToPath } from "node:url"
import { Certificate } from "../../src/Listener.ts"
import { connect } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
const files = { certFile: fixture("tls-cert.pem"), keyFile: fixture("tls-key.pem") }

/** The protocol and the owner of the certificate, or the code of the failure. The certificates sign themselves. */
const handshake = (port: number, options: Tls.ConnectionOptions = {}) =>
  Effect.callback<string>((resume) => {
    const socket = Tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options }, () => {
      resume(Effect.succeed(`${socket.getProtocol()} ${socket.getPeerCertificate().subject.CN}`))
      socket.destroy()
    })
    socket.on("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? error.message)))
  })

describe("TLS", () => {
  it.effect("is spoken from version 1.2 on", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ tls: files })
      assert.strictEqual(yield* handshake(port), "TLSv1.3 localhost")
      assert.strictEqual(yield* handshake(port, { maxVersion: "TLSv1.2" }), "TLSv1.2 localhost")
      const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const
      assert.match(yield* handshake(port, old), /^ERR_SSL_/)
    }))

  it.effect("is not left for a plain request, and goes on after one", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ tls: files })
      const plain = yield* connect(port)
      plain.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
      assert.notInclude(yield* plain.closed, "200")
      assert.strictEqual(yield* handshake(port), "TLSv1.3 localhost")
    }))

  it.effect("shows new connections the renewed certificate after a reload, and keeps the old one where that fails", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const certFile = `${folder}/cert.pem`
      const keyFile = `${folder}/key.pem`
      const install = (cert: string, key: string) =>
        Effect.andThen(fs.copyFile(fixture(cert), certFile), fs.copyFile(fixture(key), keyFile))
      yield* install("tls-cert.pem", "tls-key.pem")
      const { context, port } = yield* startServer({ tls: { certFile, keyFile } })
      const { reload } = Context.get(context, Certificate)
      yield* install("tls-cert-2.pem", "tls-key-2.pem")
      assert.strictEqual(yield* handshake(port), "TLSv1.3 localhost")
      assert.isTrue(yield* reload)
      assert.strictEqual(yield* handshake(port), "TLSv1.3 renewed")
      yield* install("tls-cert.pem", "tls-key-2.pem")
      const error = yield* Effect.flip(reload)
      assert.include(error.message, "server.tls.cert_file: is no certificate in PEM that fits the key")
      yield* fs.remove(keyFile)
      assert.include((yield* Effect.flip(reload)).message, "server.tls.key_file: cannot be read: NotFound")
      assert.strictEqual(yield* handshake(port), "TLSv1.3 renewed")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("that is not there has nothing to read again", () =>
    Effect.gen(function*() {
      const { context } = yield* startServer()
      assert.isFalse(yield* Context.get(context, Certificate).reload)
    }))
})
