import { errorAnswer, rewriteAnswer } from "@effect-wal/testing/HttpS3Action"
import { objectStoreSuite } from "@effect-wal/testing/ObjectStoreSuite"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { S3Options } from "../src/S3Options.ts"
import { bytes, setUp, storeOnDouble } from "./support.ts"

objectStoreSuite(
  "S3ObjectStore on the HTTP double, PUTs through the SDK's middleware",
  storeOnDouble({}, { putPath: "sdk" }),
  { manyKeys: 250, raceRounds: 1, largeBytes: 1 << 20 }
)

/** Said by the SDK's middleware of each request alone. */
const sdkAlone = ["amz-sdk-invocation-id", "amz-sdk-request"]
const ofOneMoment = ["authorization", "x-amz-date"]

/** The headers of one PUT, but for what differs from moment to moment. */
const headersOfPut = (key: string, options: Partial<S3Options>) =>
  Effect.gen(function*() {
    const { double, store } = yield* setUp({}, options)
    const tag = yield* store.create(key, bytes("one"))
    yield* store.replace(key, bytes("two"), tag)
    return double.requests.map(({ headers, key: path }) => ({
      path,
      isTheSdks: headers["amz-sdk-invocation-id"] !== undefined,
      signed: /SignedHeaders=([^,]*)/.exec(headers["authorization"] ?? "")?.[1]?.split(";")
        .filter((name) => !sdkAlone.includes(name)),
      headers: Object.entries(headers)
        .filter(([name]) => ![...sdkAlone, ...ofOneMoment, "host"].includes(name))
        // The SDK counts there too where its credentials come from; what is learnt is learnt without any.
        .map(([name, value]) => [name, name === "user-agent" ? value?.replace(/,e$/, "") : value]).toSorted()
    }))
  })

describe("a PUT around the SDK's middleware", () => {
  const credentials = {
    accessKeyId: "K",
    secretAccessKey: Redacted.make("S"),
    sessionToken: Redacted.make("T")
  }
  const cases: ReadonlyArray<readonly [string, string, Partial<S3Options>]> = [
    ["a plain one", "log/0001/0000000001.seg", {}],
    ["a key with everything in it", "ä b/!'()*~+&=?#%25/x.seg", {}],
    ["without checksums", "a", { checksums: "when_required" }],
    ["encrypted, with session credentials", "a", { encryption: { type: "aws:kms", kmsKeyId: "key-1" }, credentials }],
    ["without conditions", "a", { conditionalWrites: "single_writer" }]
  ]
  for (const [name, key, options] of cases) {
    it.effect(`says what the SDK says: ${name}`, () =>
      Effect.gen(function*() {
        const direct = yield* headersOfPut(key, options)
        const sdk = yield* headersOfPut(key, { ...options, putPath: "sdk" })
        assert.deepStrictEqual(direct.map(({ isTheSdks }) => isTheSdks), [false, false])
        assert.deepStrictEqual(sdk.map(({ isTheSdks }) => isTheSdks), [true, true])
        assert.deepStrictEqual(direct.map((put) => ({ ...put, isTheSdks: true })), sdk)
      }))
  }

  it.effect("a body is part of the signature where nothing encrypts it, unless that is not wanted", () =>
    Effect.gen(function*() {
      const hashes: Array<string | undefined> = []
      for (const unsignedPayload of ["over_tls", "always"] as const) {
        const { double, store } = yield* setUp({}, { unsignedPayload })
        yield* store.create("a", bytes("one"))
        hashes.push(double.requests[0]?.headers["x-amz-content-sha256"])
      }
      assert.deepStrictEqual(hashes, [
        "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
        "UNSIGNED-PAYLOAD"
      ])
    }))

  it.effect("a machine whose clock is off: the SDK learns by how much, and goes on with the PUTs", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      yield* store.create("before", bytes("1"))
      const ahead = 3_600_000
      const now = yield* TestClock.withLive(Clock.currentTimeMillis)
      const date = new Date(now + ahead).toUTCString()
      double.rule(({ headers }) => {
        const at = headers["x-amz-date"]?.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z") ?? ""
        return Date.parse(at) < now + ahead - 900_000
          ? errorAnswer(403, "RequestTimeTooSkewed", { date })
          : rewriteAnswer((answer) => ({ ...answer, headers: { ...answer.headers, date } }))
      })
      yield* store.create("during", bytes("2"))
      yield* store.create("after", bytes("3"))
      const isTheSdks = double.requests.map(({ headers }) => headers["amz-sdk-invocation-id"] !== undefined)
      // The one before; then ours, refused; the SDK's, refused; the SDK's, in order. From then on at once.
      assert.deepStrictEqual(isTheSdks, [false, false, true, true, true])
      assert.strictEqual(double.objects.size, 3)
    }))
})
