import { NonceSource } from "@effect-wal/core/Nonce"
import type { ListPage, ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { S3ObjectStore } from "@effect-wal/s3"
import { type RealS3, realS3 } from "@effect-wal/testing/RealS3"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { append, call, json } from "../../support/Client.ts"
import { cli, lines, ndjson, serve, slowMillis, temporary } from "./Cli.ts"
import { run } from "./InProcess.ts"

const server = realS3(process.env)

const text = (s3: RealS3, prefix: string): string =>
  [
    "streams:",
    "  - id: orders",
    "    durability:",
    "      backend:",
    "        type: object_store",
    "        node_id: n",
    "        stream_id: orders",
    `        prefix: ${prefix}`,
    "        s3:",
    `          bucket: ${s3.bucket}`,
    `          endpoint: ${s3.endpoint}`,
    `          region: ${s3.region}`,
    "          path_style: true",
    `          access_key_id: ${s3.credentials.accessKeyId}`,
    `          secret_access_key: ${Redacted.value(s3.credentials.secretAccessKey)}`,
    // A writer that writes nothing by itself: what changes while the test looks was changed by the test.
    "        manifest: { max_delay: 1h }",
    ""
  ].join("\n")

/** Every object below the prefix with its tag and its bytes. */
const snapshot = Effect.fnUntraced(function*(store: ObjectStore["Service"], prefix: string) {
  const found: Array<string> = []
  let page: ListPage | undefined
  do {
    page = yield* store.list({ prefix, ...page?.next === undefined ? {} : { page: page.next } })
    for (const { key } of page.objects) {
      const { body, tag } = yield* store.get(key)
      found.push(`${key} ${tag} ${Buffer.from(body).toString("base64")}`)
    }
  } while (page.next !== undefined)
  return found.toSorted()
})

const readers: ReadonlyArray<ReadonlyArray<string>> = [
  ["cat"],
  ["streams"],
  ["status"],
  ["cursor", "list"],
  ["inspect", "manifest"],
  ["inspect", "epochs"],
  ["inspect", "segment", "1", "0"],
  ["verify"],
  ["repair", "--dry-run"]
]

if (server === undefined) {
  // `scripts/test-setup.ts` says loudly that this file is left out, and how to run it.
  describe.skip("data commands on a real S3 server", () => {
    it("needs a server", () => undefined)
  })
} else {
  describe("data commands on a real S3 server", () => {
    it.live(
      "read without changing an object or fencing the writer, are refused to write, and take over on a word",
      () =>
        Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const cwd = yield* temporary
          const prefix = `cli-${yield* yield* NonceSource}`
          yield* fs.writeFileString(`${cwd}/wal.yaml`, text(server, prefix))
          const config = ["--config", `${cwd}/wal.yaml`]
          const store = yield* S3ObjectStore.make(server)
          const { port } = yield* serve(cwd)
          yield* append(port, "application/x-ndjson", ndjson(1, 3))
          yield* call(port, "/v1/streams/orders/flush", { method: "POST" })
          const before = yield* snapshot(store, prefix)
          for (const args of readers) {
            const outcome = yield* run([...args, ...config])
            assert.strictEqual(outcome.code, 0, `${args.join(" ")}: ${outcome.err}`)
          }
          assert.strictEqual((yield* run(["append", ...config], "4\n")).code, 5)
          assert.deepStrictEqual(yield* snapshot(store, prefix), before)
          assert.deepInclude(json(yield* append(port, "application/x-ndjson", "4\n")), { first_seq: 4, epoch: 1 })
          const taken = yield* cli(["append", ...config, "--take-over", "--json"], { cwd, input: "5\n" })
          assert.deepInclude(JSON.parse(taken.text), { first_seq: 5, epoch: 2 })
          assert.strictEqual((yield* append(port, "application/x-ndjson", "6\n")).status, 409)
          const again = yield* cli(["append", ...config], { cwd, input: "6\n" })
          assert.strictEqual(again.code, 0, again.err)
          assert.strictEqual(lines((yield* run(["cat", ...config])).text).length, 6)
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      slowMillis
    )
  })
}
