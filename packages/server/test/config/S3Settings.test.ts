import { S3Options } from "@effect-wal/s3"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { s3Options } from "../../src/config/S3Settings.ts"
import { load } from "./load.ts"

const settingsOf = (s3: string): Effect.Effect<S3Options.S3Options> =>
  load(`streams: [{ durability: { backend: { type: object_store, node_id: n, stream_id: s, s3: ${s3} } } }]`).pipe(
    Effect.flatMap((config) => {
      const store = config.streams[0]?.store
      return store?.type === "s3" ? Effect.succeed(s3Options(store)) : Effect.die("no s3 store")
    })
  )

const credentialsOf = (options: S3Options.S3Options) =>
  options.credentials !== undefined && "provider" in options.credentials
    ? options.credentials.provider
    : Effect.die("no provider")

describe("s3Options", () => {
  it.effect("the S3 store takes what the configuration gives, and has the same defaults", () =>
    Effect.gen(function*() {
      const configured = yield* S3Options.resolveS3Options(yield* settingsOf("{ bucket: my-bucket }"))
      const bare = yield* S3Options.resolveS3Options({ bucket: "my-bucket" })
      assert.deepStrictEqual(configured, bare)
      const full = yield* settingsOf(
        "{ bucket: b-1, endpoint: \"http://127.0.0.1:9000\", path_style: false, encryption: \"aws:kms\", kms_key_id: k, " +
          "checksums: when_required, etag: unquoted, put_path: sdk, unsigned_payload: always, attempt_deadline: 5s, max_sockets: 9 }"
      )
      const resolved = yield* S3Options.resolveS3Options(full)
      assert.isFalse(resolved.forcePathStyle)
      assert.deepStrictEqual(resolved.encryption, { type: "aws:kms", kmsKeyId: "k" })
      assert.strictEqual(resolved.etagQuoting, "unquoted")
      assert.strictEqual(resolved.putPath, "sdk")
      assert.strictEqual(resolved.unsignedPayload, "always")
      assert.strictEqual(resolved.maxSockets, 9)
    }))

  it.effect("[predecessor 33] a session token reaches the store; without credentials the default chain is used", () =>
    Effect.gen(function*() {
      assert.isUndefined((yield* settingsOf("{ bucket: b-1 }")).credentials)
      const options = yield* settingsOf(
        "{ bucket: b-1, access_key_id: id, secret_access_key: key, session_token: token }"
      )
      const credentials = yield* credentialsOf(options)
      assert.strictEqual(credentials.accessKeyId, "id")
      assert.strictEqual(Redacted.value(credentials.secretAccessKey), "key")
      assert.strictEqual(
        credentials.sessionToken === undefined ? "" : Redacted.value(credentials.sessionToken),
        "token"
      )
    }))

  it.effect("[predecessor 33] credentials in files are read each time they are asked for", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "wal-secrets-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const [idFile, keyFile] = [join(directory, "id"), join(directory, "key")]
      const options = yield* settingsOf(
        `{ bucket: b-1, access_key_id_file: ${JSON.stringify(idFile)}, secret_access_key_file: ${
          JSON.stringify(keyFile)
        } }`
      )
      const missing = yield* Effect.flip(credentialsOf(options))
      assert.include(missing.message, "cannot be read")
      writeFileSync(idFile, "id\n")
      writeFileSync(keyFile, "one\n")
      assert.strictEqual(Redacted.value((yield* credentialsOf(options)).secretAccessKey), "one")
      writeFileSync(keyFile, "two\n")
      assert.strictEqual(Redacted.value((yield* credentialsOf(options)).secretAccessKey), "two")
      writeFileSync(keyFile, "\n")
      assert.include((yield* Effect.flip(credentialsOf(options))).message, "is empty")
    }))
})
