import { NonceSource } from "@effect-wal/core/Nonce"
import { S3ObjectStore } from "@effect-wal/s3"
import { realS3 } from "@effect-wal/testing/RealS3"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { parsed, temporary } from "./data/Cli.ts"
import { inProcess } from "./InProcess.ts"
import { s3Config } from "./S3Config.ts"

const server = realS3(process.env)

if (server === undefined) {
  // `scripts/test-setup.ts` says loudly that this file is left out, and how to run it.
  describe.skip("doctor and bench on a real S3 server", () => {
    it("needs a server", () => undefined)
  })
} else {
  /** A configuration below a prefix of its own, and what lies below it. */
  const prepared = Effect.gen(function*() {
    const prefix = `cli-${yield* yield* NonceSource}`
    const path = `${yield* temporary}/wal.yaml`
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(path, s3Config(server).replace("prefix: wal", `prefix: ${prefix}`))
    const store = yield* S3ObjectStore.make(server)
    return { path, keys: Effect.map(store.list({ prefix }), ({ objects }) => objects.map(({ key }) => key)) }
  })

  describe("doctor and bench on a real S3 server", () => {
    it.live("doctor finds nothing failed, and leaves nothing", () =>
      Effect.gen(function*() {
        const { keys, path } = yield* prepared
        const { code, err, text } = yield* inProcess("doctor", "--config", path, "--json")
        assert.strictEqual(code, 0, text + err)
        const checks = parsed(text).map((row: { readonly check: string }) => row.check)
        assert.includeMembers(checks, [
          "address",
          "clock",
          "list",
          "put",
          "get",
          "listing",
          "conditional writes",
          "delete"
        ])
        assert.deepStrictEqual(yield* keys, [])
      }).pipe(Effect.provide(NodeServices.layer)), 120_000)

    it.live("doctor names credentials that the store does not know", () =>
      Effect.gen(function*() {
        const { path } = yield* prepared
        const fs = yield* FileSystem.FileSystem
        const text = yield* fs.readFileString(path)
        yield* fs.writeFileString(path, text.replace(/secret_access_key: \S+/, "secret_access_key: some-other-secret"))
        const { code, text: rows } = yield* inProcess("doctor", "--config", path)
        assert.strictEqual(code, 1)
        assert.match(rows, /^FAILED +list/m)
        assert.notInclude(rows, "some-other-secret")
      }).pipe(Effect.provide(NodeServices.layer)), 120_000)

    it.live("bench measures, and leaves nothing", () =>
      Effect.gen(function*() {
        const { keys, path } = yield* prepared
        const { code, err, text } = yield* inProcess("bench", "--config", path, "--records", "1000", "--yes", "--json")
        assert.strictEqual(code, 0, err)
        assert.isAbove(JSON.parse(text).records_per_second, 0)
        assert.deepStrictEqual(yield* keys, [])
      }).pipe(Effect.provide(NodeServices.layer)), 120_000)
  })
}
