/** The certificate and its key: read from their files, and checked before anything uses them. */
import { ConfigError } from "@effect-wal/core/WalError"
import { Effect, FileSystem } from "effect"
import { createSecureContext } from "node:tls"
import type { ServerSettings } from "./Settings.ts"

type Files = NonNullable<ServerSettings["tls"]>

const tlsError = (field: string, value: string, rule: string) =>
  new ConfigError({ source: "tls", problems: [{ path: `server.tls.${field}`, value, rule }] })

const readPem = Effect.fnUntraced(function*(field: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(
    fs.readFileString(path),
    (error) => tlsError(field, path, `cannot be read: ${error.reason._tag}`)
  )
})

/** Both, as PEM; fails `ConfigError` where one cannot be read, or they do not fit together. */
export const readTls = Effect.fnUntraced(function*({ certFile, keyFile }: Files) {
  const pem = { cert: yield* readPem("cert_file", certFile), key: yield* readPem("key_file", keyFile) }
  yield* Effect.try({
    try: () => createSecureContext(pem),
    catch: (cause) =>
      tlsError(
        "cert_file",
        certFile,
        `is no certificate in PEM that fits the key in ${keyFile}: ${
          cause instanceof Error ? cause.message : String(cause)
        }`
      )
  })
  return pem
})
