import { objectStoreSuite } from "@effect-wal/testing/ObjectStoreSuite"
import { realS3 } from "@effect-wal/testing/RealS3"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layer, make } from "../src/S3ObjectStore.ts"
import { bytes } from "./support.ts"

const server = realS3(process.env)

if (server === undefined) {
  // `scripts/test-setup.ts` says loudly that this file is left out, and how to run it.
  describe.skip("S3ObjectStore on a real S3 server", () => {
    it("needs a server", () => undefined)
  })
} else {
  objectStoreSuite("S3ObjectStore on a real S3 server", layer(server))
  objectStoreSuite(
    "S3ObjectStore on a real S3 server, without checksums",
    layer({ ...server, checksums: "when_required" }),
    {
      manyKeys: 100,
      raceRounds: 1,
      largeBytes: 1 << 20
    }
  )
  objectStoreSuite(
    "S3ObjectStore on a real S3 server, PUTs through the SDK's middleware",
    layer({ ...server, putPath: "sdk" }),
    {
      manyKeys: 100,
      raceRounds: 1,
      largeBytes: 1 << 20
    }
  )

  describe("a real S3 server", () => {
    it.live("a bucket that is not there is NoSuchBucket, for reads and writes", () =>
      Effect.gen(function*() {
        const store = yield* make({ ...server, bucket: `${server.bucket}-none` })
        assert.strictEqual((yield* Effect.flip(store.get("a"))).reason, "NoSuchBucket")
        assert.strictEqual((yield* Effect.flip(store.create("a", bytes("1")))).reason, "NoSuchBucket")
        assert.strictEqual((yield* Effect.flip(store.list({ prefix: "" }))).reason, "NoSuchBucket")
      }))

    it.live("a key id that the server does not know is CredentialsUnavailable", () =>
      Effect.gen(function*() {
        const store = yield* make({
          ...server,
          credentials: { ...server.credentials, accessKeyId: "nobody000000000000000" }
        })
        assert.strictEqual((yield* Effect.flip(store.create("a", bytes("1")))).reason, "CredentialsUnavailable")
      }))
  })
}
