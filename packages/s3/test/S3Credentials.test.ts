import { errorAnswer } from "@effect-wal/testing/HttpS3Action"
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import { assert, describe, it, vi } from "@effect/vitest"
import { Clock, DateTime, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { make } from "../src/S3ObjectStore.ts"
import { S3CredentialsError } from "../src/S3Options.ts"
import { bytes, factsOf, setUp } from "./support.ts"

/** The real clock: signatures are made with it. */
const realMillis = Effect.provideService(Clock.currentTimeMillis, Clock.Clock, Clock.Clock.defaultValue())

/** The moment in an `x-amz-date` header, as in `20261130T000000Z`. */
const signedAt = (header: string | undefined): number =>
  Date.parse((header ?? "").replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))

describe("credentials and clocks", () => {
  const provider = (keys: Array<string>) => ({
    asked: 0,
    get credentials() {
      return {
        provider: Effect.suspend(() => {
          this.asked++
          const accessKeyId = keys.shift()
          return accessKeyId === undefined ?
            Effect.fail(new S3CredentialsError({ detail: "the token file is gone" })) :
            Effect.succeed({ accessKeyId, secretAccessKey: Redacted.make(`secret of ${accessKeyId}`) })
        })
      }
    }
  })
  const refuseK1 = (request: { readonly accessKeyId: string | undefined }) =>
    request.accessKeyId === "K1" ? errorAnswer(400, "ExpiredToken") : undefined

  it.effect("[case 7] (a) expired credentials: one refresh for all requests, each sent again with the new ones", () =>
    Effect.gen(function*() {
      const source = provider(["K1", "K2", "K3"])
      const { double, store } = yield* setUp({}, { credentials: source.credentials })
      yield* store.create("before", bytes("1"))
      double.rule(refuseK1)
      yield* Effect.forEach(["a", "b", "c", "d"], (key) => store.create(key, bytes(key)), { concurrency: "unbounded" })
      assert.strictEqual(source.asked, 2)
      assert.deepStrictEqual([...double.objects.keys()].toSorted(), ["a", "b", "before", "c", "d"])
      yield* store.create("after", bytes("1"))
      assert.strictEqual(double.requests.at(-1)?.accessKeyId, "K2")
    }))

  it.effect("[case 7] (a) a refresh that fails is CredentialsUnavailable, and a later request asks again", () =>
    Effect.gen(function*() {
      const keys = ["K1"]
      const source = provider(keys)
      const { double, store } = yield* setUp({}, { credentials: source.credentials })
      double.rule(refuseK1)
      const error = yield* Effect.flip(store.create("a", bytes("1")))
      assert.deepStrictEqual(factsOf(error), ["create", "CredentialsUnavailable", "not-applied", true])
      assert.include(error.detail, "the token file is gone")
      keys.push("K2")
      yield* store.create("a", bytes("1"))
      assert.strictEqual(double.requests.at(-1)?.accessKeyId, "K2")
    }))

  it.effect("[case 7] (a) no credentials at all is CredentialsUnavailable before any request", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({}, { credentials: provider([]).credentials })
      const error = yield* Effect.flip(store.get("a"))
      assert.strictEqual(error.reason, "CredentialsUnavailable")
      assert.strictEqual(double.count(), 0)
    }))

  it.effect("a provider that does not answer holds nothing up for good: it is asked anew", () =>
    Effect.gen(function*() {
      let asked = 0
      const given = { accessKeyId: "K", secretAccessKey: Redacted.make("S") }
      const provider = Effect.suspend(() => ++asked === 1 ? Effect.never : Effect.succeed(given))
      // Making the store asks for nothing, so it does not wait either.
      const { double, store } = yield* setUp({}, { credentials: { provider }, smallRequestDeadline: "10 seconds" })
      assert.strictEqual(asked, 0)
      const waiting = yield* Effect.forkChild(store.create("a", bytes("1")), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      const error = yield* Effect.flip(Fiber.join(waiting))
      assert.deepStrictEqual(factsOf(error), ["create", "CredentialsUnavailable", "not-applied", true])
      assert.include(error.detail, "the provider has not answered within 10s")
      assert.strictEqual(double.count(), 0)
      yield* store.create("a", bytes("1"))
      assert.strictEqual(asked, 2)
    }))

  it.effect("credentials that come after the store was made: PUTs still go around the SDK's middleware", () =>
    Effect.gen(function*() {
      const keys: Array<string> = []
      const { double, store } = yield* setUp({}, { credentials: provider(keys).credentials })
      assert.strictEqual((yield* Effect.flip(store.create("a", bytes("1")))).reason, "CredentialsUnavailable")
      keys.push("K1")
      yield* store.create("a", bytes("1"))
      assert.deepStrictEqual(double.requests.map(({ headers }) => headers["amz-sdk-invocation-id"]), [undefined])
    }))

  it.effect("[case 7] (a) inline credentials that expired cannot be refreshed: one request", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => errorAnswer(400, "ExpiredToken"))
      assert.strictEqual((yield* Effect.flip(store.create("a", bytes("1")))).reason, "CredentialsUnavailable")
      assert.strictEqual(double.count(), 1)
    }))

  it.effect("[case 7] [predecessor 33] credentials of the default chain are read anew when they have expired", () =>
    Effect.gen(function*() {
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      const inEnvironment = (accessKeyId: string) => {
        vi.stubEnv("AWS_ACCESS_KEY_ID", accessKeyId)
        vi.stubEnv("AWS_SECRET_ACCESS_KEY", `secret of ${accessKeyId}`)
        vi.stubEnv("AWS_SESSION_TOKEN", `token of ${accessKeyId}`)
        vi.stubEnv("AWS_PROFILE", undefined)
      }
      inEnvironment("K1")
      const double = yield* makeDouble()
      const { credentials: _, ...withoutCredentials } = double.s3Options
      const store = yield* make(withoutCredentials)
      yield* store.create("before", bytes("1"))
      assert.strictEqual(double.requests.at(-1)?.accessKeyId, "K1")
      inEnvironment("K2")
      double.rule(refuseK1)
      yield* store.create("a", bytes("1"))
      assert.deepStrictEqual(double.requests.map((request) => request.accessKeyId), ["K1", "K1", "K2"])
      assert.strictEqual(double.requests.at(-1)?.headers["x-amz-security-token"], "token of K2")
    }))

  it.effect("keys changed in the shared credentials file are seen without a restart", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "wal-credentials-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      const file = join(folder, "credentials")
      const inFile = (id: string) => {
        writeFileSync(file, `[default]\naws_access_key_id = ${id}\naws_secret_access_key = secret of ${id}\n`)
      }
      vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file)
      vi.stubEnv("AWS_CONFIG_FILE", join(folder, "config"))
      vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true")
      for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"]) {
        vi.stubEnv(name, undefined)
      }
      inFile("K1")
      const double = yield* makeDouble()
      const { credentials: _, ...withoutCredentials } = double.s3Options
      const store = yield* make(withoutCredentials)
      yield* store.create("before", bytes("1"))
      double.rule(refuseK1)
      assert.strictEqual((yield* Effect.flip(store.create("a", bytes("1")))).reason, "CredentialsUnavailable")
      inFile("K2")
      yield* store.create("a", bytes("1"))
      assert.deepStrictEqual(double.requests.map(({ accessKeyId }) => accessKeyId), ["K1", "K1", "K1", "K1", "K2"])
    }))

  it.effect("[case 7] (b) a store whose clock is an hour ahead: 4 PUTs at once are corrected and land", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      const ahead = 3_600_000
      const now = yield* realMillis
      double.rule((request) => {
        const signed = signedAt(request.headers["x-amz-date"])
        const date = DateTime.toDateUtc(DateTime.makeUnsafe(now + ahead)).toUTCString()
        return signed < now + ahead - 900_000 ? errorAnswer(403, "RequestTimeTooSkewed", { date }) : undefined
      })
      yield* Effect.forEach(["a", "b", "c", "d"], (key) => store.create(key, bytes(key)), { concurrency: "unbounded" })
      assert.strictEqual(double.objects.size, 4)
      assert.isAtMost(double.count("put"), 12)
    }))

  it.effect("[case 7] (b) a clock that stays wrong is Unavailable: retryable, after two repeats", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => errorAnswer(403, "RequestTimeTooSkewed"))
      const error = yield* Effect.flip(store.create("a", bytes("1")))
      assert.deepStrictEqual([error.reason, error.isRetryable], ["Unavailable", true])
      assert.strictEqual(double.count(), 3)
    }))
})
