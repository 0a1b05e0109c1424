import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { answer, cutBody, errorAnswer, errorXml, rewriteAnswer, rewriteList } from "@effect-wal/testing/HttpS3Action"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { layer } from "../src/S3ObjectStore.ts"
import { resolveS3Options } from "../src/S3Options.ts"
import { bytes, setUp, text } from "./support.ts"

describe("an error inside a 200", () => {
  it.effect("[case 1] of a PUT is unknown, not success", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => errorAnswer(200, "InternalError", { etag: "\"a\"" }))
      const error = yield* Effect.flip(store.create("a", bytes("1")))
      assert.deepStrictEqual([error.reason, error.status, error.code, error.outcome], [
        "Unavailable",
        200,
        "InternalError",
        "unknown"
      ])
    }))

  it.effect("of a listing is not an empty listing; nor is a page of a proxy, nor no body", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      for (
        const action of [
          errorAnswer(200, "InternalError"),
          answer(200, "<html><body>Hello</body></html>"),
          answer(200, "Hello"),
          answer(200)
        ]
      ) {
        double.rule(() => action)
        assert.strictEqual((yield* Effect.flip(store.list({ prefix: "" }))).reason, "Unavailable")
      }
    }))

  it.effect("at the end of a listing that had begun well", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() =>
        answer(200, `<ListBucketResult><Name>double</Name>${errorXml("SlowDown").replace(/^.*\n/, "")}`)
      )
      assert.strictEqual((yield* Effect.flip(store.list({ prefix: "" }))).reason, "Unavailable")
    }))

  it.effect("of a batch delete fails, and its per-key errors are answered", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ deleteErrors: new Map([["b", "AccessDenied"], ["c", "NoSuchKey"]]) })
      for (const key of ["a", "b", "c"]) double.store(key, bytes(key))
      assert.deepStrictEqual(yield* store.remove(["a", "b", "c"]), [{ key: "b", code: "AccessDenied" }])
      assert.deepStrictEqual([...double.objects.keys()], ["b", "c"])
      double.rule(() => errorAnswer(200, "SlowDown"))
      assert.strictEqual((yield* Effect.flip(store.remove(["a"]))).reason, "Throttled")
    }))

  it.effect("a PUT without an ETag is UnexpectedResponse", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => rewriteAnswer((proper) => ({ ...proper, headers: {} })))
      assert.strictEqual((yield* Effect.flip(store.create("a", bytes("1")))).reason, "UnexpectedResponse")
    }))
})

describe("reading", () => {
  it.effect("an error page without end is read so far and no further", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => answer(503, "x".repeat(10 << 20)))
      assert.strictEqual((yield* Effect.flip(store.get("a"))).reason, "Throttled")
      // The rest was not waited for: its connection was given up.
      yield* double.until(() => double.openConnections() === 0)
    }))

  it.effect("[case 5] a body that is cut is Unavailable, not a shorter object", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.store("a", new Uint8Array(1000))
      double.rule((request) => request.operation === "get" ? cutBody(500) : undefined)
      assert.strictEqual((yield* Effect.flip(store.get("a"))).reason, "Unavailable")
    }))

  it.effect("a page that says 404 is not the store saying that the object is gone", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      for (const action of [answer(404, "<html><body>Not Found</body></html>"), answer(404)]) {
        double.rule(() => action)
        assert.strictEqual((yield* Effect.flip(store.get("a"))).reason, "UnexpectedResponse")
      }
    }))

  it.effect("firstBytes asks for a range, and cuts where the store ignores it", () =>
    Effect.gen(function*() {
      for (const ignoresRanges of [false, true]) {
        const { double, store } = yield* setUp({ ignoresRanges })
        double.store("a", bytes("0123456789"))
        assert.strictEqual(text((yield* store.get("a", { firstBytes: 3 })).body), "012")
        assert.strictEqual(double.requests.at(-1)?.headers["range"], "bytes=0-2")
        assert.strictEqual(text((yield* store.get("a", { firstBytes: 99 })).body), "0123456789")
        double.store("empty", bytes(""))
        assert.strictEqual((yield* store.get("empty", { firstBytes: 3 })).body.byteLength, 0)
      }
    }))
})

describe("listing", () => {
  it.effect("what the store rewrites is passed on; a cut page without a token, or with the same one, is an error", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      for (const key of ["p/a", "p/b", "p/c"]) double.store(key, bytes(key))
      double.rule(() => rewriteList((page) => ({ entries: [...page.entries, ...page.entries].toReversed() })))
      const keys = (yield* store.list({ prefix: "p/" })).objects.map((object) => object.key)
      assert.deepStrictEqual(keys, ["p/c", "p/b", "p/a", "p/c", "p/b", "p/a"])
      double.rule(() => rewriteList((page) => ({ ...page, next: "same" })))
      assert.strictEqual((yield* store.list({ prefix: "p/" })).next, "same")
      assert.strictEqual((yield* Effect.flip(store.list({ prefix: "p/", page: "same" }))).reason, "UnexpectedResponse")
      double.rule(() =>
        rewriteAnswer((proper) => ({
          ...proper,
          body: bytes(text(proper.body).replace("<IsTruncated>false", "<IsTruncated>true"))
        }))
      )
      assert.strictEqual((yield* Effect.flip(store.list({ prefix: "p/" }))).reason, "UnexpectedResponse")
    }))

  it.effect("pages follow each other, start after a key, and carry size and time", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({ pageSize: 2 })
      for (const key of ["p/a", "p/b", "p/c & <d>", "q"]) double.store(key, bytes(key))
      const first = yield* store.list({ prefix: "p/", startAfter: "p/a", limit: 1 })
      assert.deepStrictEqual(first.objects, [{ key: "p/b", sizeBytes: 3, modifiedMillis: 1_700_000_002_000 }])
      const second = yield* store.list({
        prefix: "p/",
        startAfter: "p/a",
        ...(first.next === undefined ? {} : { page: first.next })
      })
      assert.deepStrictEqual(second.objects.map((object) => object.key), ["p/c & <d>"])
      assert.isUndefined(second.next)
    }))
})

describe("removing", () => {
  it.effect("one by one where the store knows no batches, and from then on", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      for (const key of ["a", "b", "c"]) double.store(key, bytes(key))
      double.rule((request) =>
        request.operation === "deleteMany" ?
          errorAnswer(501, "NotImplemented") :
          request.key === "b" ?
          errorAnswer(403, "AccessDenied") :
          undefined
      )
      assert.deepStrictEqual(yield* store.remove(["a", "b"]), [{ key: "b", code: "AccessDenied" }])
      assert.deepStrictEqual(yield* store.remove(["c"]), [])
      assert.deepStrictEqual([double.count("deleteMany"), double.count("delete")], [1, 3])
    }))

  it.effect("a batch that is refused for another reason is an error, not a reason to go one by one", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => errorAnswer(403, "AccessDenied"))
      assert.strictEqual((yield* Effect.flip(store.remove(["a"]))).reason, "AccessDenied")
      assert.strictEqual(double.count("delete"), 0)
    }))
})

describe("advice", () => {
  const expiry = (prefix: string, extra = "") =>
    `<Rule><ID>old</ID><Status>Enabled</Status><Filter><Prefix>${prefix}</Prefix></Filter>${
      extra || "<Expiration><Days>7</Days></Expiration>"
    }</Rule>`

  it.effect("[case 18] a life-cycle rule over the prefix and versioning are warnings", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      assert.deepStrictEqual(yield* store.advice("wal/node/main/"), [])
      double.settings.lifecycleRules = expiry("wal/")
      double.settings.versioning = "Enabled"
      const [rule, versions] = yield* store.advice("wal/node/main/")
      assert.match(rule ?? "", /rule old covers wal\/node\/main\//)
      assert.match(versions ?? "", /versioned/)
    }))

  it.effect("[case 18] rules elsewhere, switched off, by tag, or only for uploads are not", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      const harmless = [
        expiry("logs/"),
        expiry("").replace("Enabled", "Disabled"),
        expiry("").replace(/<Prefix>.*<\/Prefix>/, "<Tag><Key>tmp</Key><Value>1</Value></Tag>"),
        expiry(
          "",
          "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>"
        )
      ]
      double.settings.lifecycleRules = harmless.join("")
      assert.deepStrictEqual(yield* store.advice("wal/node/main/"), [])
      double.settings.lifecycleRules = expiry("wal/node/main/segments/")
      assert.strictEqual((yield* store.advice("wal/node/main/")).length, 1)
    }))

  it.effect("settings that may not be read give no warning; a store that is down is an error", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      for (const action of [errorAnswer(403, "AccessDenied"), errorAnswer(501, "NotImplemented"), answer(405)]) {
        double.rule(() => action)
        assert.deepStrictEqual(yield* store.advice("wal/"), [])
      }
      double.rule(() => answer(500))
      assert.strictEqual((yield* Effect.flip(store.advice("wal/"))).reason, "Unavailable")
    }))
})

describe("set-up", () => {
  it.effect("wrong options are one ConfigError with every rule, before any request", () =>
    Effect.gen(function*() {
      const wrong = {
        bucket: "no spaces please",
        endpoint: "ftp://user:hunter2@host",
        attemptDeadline: 0,
        maxSockets: 0,
        credentials: { accessKeyId: "", secretAccessKey: Redacted.make("hunter2") }
      }
      const error = yield* Effect.flip(Effect.provide(ObjectStore, layer(wrong)))
      assert.deepStrictEqual(
        error.problems.map((problem) => problem.path),
        ["s3.endpoint", "s3.bucket", "s3.attemptDeadline", "s3.maxSockets", "s3.credentials"]
      )
      assert.notInclude(error.message, "hunter2")
    }))

  it.effect("no region anywhere is a ConfigError, not a store that is down", () =>
    Effect.gen(function*() {
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      vi.stubEnv("AWS_REGION", undefined)
      vi.stubEnv("AWS_CONFIG_FILE", "/dev/null")
      vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
      const error = yield* Effect.flip(Effect.provide(ObjectStore, layer({ bucket: "orders" })))
      assert.deepStrictEqual(error.problems.map((problem) => problem.path), ["s3.region"])
    }))

  it.effect("the id is the bucket at its host, whatever the other options", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      assert.strictEqual(store.id, `s3://${new URL(double.s3Options.endpoint).host}/double`)
      const aws = yield* Layer.build(
        layer({ bucket: "orders", region: "eu-west-1", credentials: double.s3Options.credentials })
      )
      assert.strictEqual((yield* Effect.provide(ObjectStore, aws)).id, "s3://s3.amazonaws.com/orders")
    }))

  it.effect("[predecessor 33] encryption and session token go into the request", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({}, {
        encryption: { type: "aws:kms", kmsKeyId: "key-1" },
        credentials: { accessKeyId: "K", secretAccessKey: Redacted.make("S"), sessionToken: Redacted.make("T") }
      })
      yield* store.create("a", bytes("1"))
      const headers = double.requests[0]?.headers ?? {}
      assert.strictEqual(headers["x-amz-server-side-encryption"], "aws:kms")
      assert.strictEqual(headers["x-amz-server-side-encryption-aws-kms-key-id"], "key-1")
      assert.strictEqual(headers["x-amz-security-token"], "T")
    }))

  it.effect("[predecessor 33] with an endpoint the bucket stands in the path, unless told otherwise", () =>
    Effect.gen(function*() {
      const inPath = yield* resolveS3Options({ bucket: "orders", endpoint: "http://127.0.0.1:9" })
      assert.deepStrictEqual([inPath.forcePathStyle, inPath.region], [true, "us-east-1"])
      const onAws = yield* resolveS3Options({ bucket: "orders" })
      assert.deepStrictEqual([onAws.forcePathStyle, onAws.region], [false, undefined])
      const forced = yield* resolveS3Options({
        bucket: "orders",
        endpoint: "http://127.0.0.1:9",
        forcePathStyle: false
      })
      assert.isFalse(forced.forcePathStyle)
    }))

  it.effect("secrets are not in errors, even when the store sends them back", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp({}, {
        credentials: {
          accessKeyId: "K",
          secretAccessKey: Redacted.make("hunter2"),
          sessionToken: Redacted.make("token-77")
        }
      })
      double.rule(() =>
        answer(403, "<Error><Code>AccessDenied</Code><Message>key hunter2, token token-77</Message></Error>")
      )
      const error = yield* Effect.flip(store.get("a"))
      assert.include(error.detail, "<redacted>")
      assert.notMatch(`${error.message}${JSON.stringify(error)}`, /hunter2|token-77/)
    }))

  it.effect("a redirect to another region says which", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      double.rule(() => errorAnswer(301, "PermanentRedirect", { "x-amz-bucket-region": "eu-west-1" }))
      const error = yield* Effect.flip(store.get("a"))
      assert.deepStrictEqual([error.reason, error.status], ["UnexpectedResponse", 301])
      assert.include(error.detail, "region eu-west-1")
      assert.strictEqual(double.count(), 1)
    }))

  it.effect("a refused connection is Unavailable", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp({}, { endpoint: "http://127.0.0.1:1" })
      const error = yield* Effect.flip(store.create("a", bytes("1")))
      assert.deepStrictEqual([error.reason, error.code], ["Unavailable", "ECONNREFUSED"])
    }))
})
