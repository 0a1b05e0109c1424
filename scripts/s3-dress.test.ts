import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { ObjectStore } from "../packages/core/src/store/ObjectStore.ts"
import type { ObjectStoreError, Operation, Reason } from "../packages/core/src/store/ObjectStoreError.ts"
import { make as makeSdkStore } from "../packages/s3/src/S3ObjectStore.ts"
import { storeOnClient } from "../packages/s3/src/StoreOnClient.ts"
import { answer as answerBy } from "../packages/testing/src/HttpS3Action.ts"
import { make as makeDouble } from "../packages/testing/src/HttpS3Double.ts"
import { Bucket } from "../packages/testing/src/simulation/Bucket.ts"
import { Network } from "../packages/testing/src/simulation/Network.ts"
import { SeededRandom } from "../packages/testing/src/simulation/SeededRandom.ts"
import { drawFaults, healthy } from "../packages/testing/src/simulation/StoreFaults.ts"
import { Timeline } from "../packages/testing/src/simulation/Timeline.ts"
import { Trace } from "../packages/testing/src/simulation/Trace.ts"
import { type Dialect, drawDialect, s3Itself } from "./sim/S3Dialect.ts"
import { optionsOf } from "./sim/S3Dress.ts"
import type { Command } from "./sim/S3Http.ts"
import { answerOf, type Dress, dressesFor, reasons } from "./sim/S3Refusals.ts"
import { S3Server } from "./sim/S3Server.ts"
import { type Exchange, makeSimClient } from "./sim/S3SimClient.ts"

type Store = ObjectStore["Service"]

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (body: Uint8Array): string => new TextDecoder().decode(body)

interface Asking {
  readonly operation: Operation
  readonly command: Command
  readonly ask: (store: Store) => Effect.Effect<unknown, ObjectStoreError>
}

const askings: ReadonlyArray<Asking> = [
  { operation: "get", command: "GetObjectCommand", ask: (store) => store.get("a") },
  { operation: "create", command: "PutObjectCommand", ask: (store) => store.create("a", bytes("1")) },
  { operation: "replace", command: "PutObjectCommand", ask: (store) => store.replace("a", bytes("1"), "\"1\"") },
  { operation: "list", command: "ListObjectsV2Command", ask: (store) => store.list({ prefix: "" }) },
  { operation: "remove", command: "DeleteObjectsCommand", ask: (store) => store.remove(["a"]) }
]

/** What the log is told; a 409 says something about writes only, and a 501 makes a batch of deletes single ones. */
const expected = (reason: Reason, operation: Operation): Reason | "success" =>
  reason === "Conflict" && operation !== "create" && operation !== "replace"
    ? "Unavailable"
    : reason === "NotSupported" && operation === "remove"
    ? "success"
    : reason

const told = Effect.fnUntraced(function*(effect: Effect.Effect<unknown, ObjectStoreError>) {
  const answered = yield* Effect.result(effect)
  return Result.isSuccess(answered) ? "success" : answered.failure.reason
})

/** A server without a network: nothing goes wrong on the way but what the test says. */
const serverOf = (dialect: Dialect, random: SeededRandom = new SeededRandom(1)) => {
  const timeline = new Timeline()
  const bucket = new Bucket(timeline, 0)
  const network = new Network(timeline, random, healthy(drawFaults(random)), new Trace(timeline, false))
  return { bucket, server: new S3Server({ bucket, network, random }, dialect) }
}

const storeOn = (dialect: Dialect, { server }: ReturnType<typeof serverOf>, exchange?: Exchange): Store =>
  storeOnClient(
    makeSimClient({
      server,
      exchange: exchange ?? ((asked) => Effect.sync(asked.apply)),
      credentials: { ask: () => Effect.succeed({ secretAccessKey: "secret" }), refreshable: false },
      deadlineMillis: 1_000
    }),
    optionsOf(dialect)
  )

/** A store whose requests of one command are answered in this dress. */
const dressedStore = (dress: Dress, command: Command): Store => {
  const exchange: Exchange = (asked) =>
    Effect.sync(() => asked.command === command ? answerOf(dress, undefined) : asked.apply())
  return storeOn(s3Itself, serverOf(s3Itself), exchange)
}

const table = reasons.flatMap((reason) =>
  askings.flatMap((asking) =>
    dressesFor(reason, { command: asking.command, isApplied: false }).map((dress) => ({ reason, dress, ...asking }))
  )
)

describe("the dresses of a refusal", () => {
  it("[case 2] each reason has one in XML, in HTML and in nothing, as far as stores have them", () => {
    const bodyOf = ({ dress: { body } }: typeof table[number]) =>
      body === "" ? "empty" : body.startsWith("<!DOCTYPE html>") ? "html" : "xml"
    const formsOf = (reason: Reason) =>
      [...new Set(table.filter((row) => row.reason === reason && row.dress.status !== 200).map(bodyOf))].toSorted()
    for (const reason of ["Unavailable", "Throttled", "Conflict", "AccessDenied", "NotSupported"] as const) {
      assert.deepStrictEqual(formsOf(reason), ["empty", "html", "xml"], reason)
    }
    assert.isAbove(table.length, 150)
  })

  for (const reason of reasons) {
    it.effect(`[case 2] ${reason} is understood in every dress`, () =>
      Effect.gen(function*() {
        for (const { ask, command, dress, operation } of table.filter((row) => row.reason === reason)) {
          const answered = yield* told(ask(dressedStore(dress, command)))
          assert.strictEqual(answered, expected(reason, operation), `${operation}: ${dress.label}`)
        }
      }))
  }

  it.effect("is understood the same by the SDK, byte for byte off the wire", () =>
    Effect.gen(function*() {
      const double = yield* makeDouble({ pageSize: 1_000 })
      for (const { ask, command, dress, operation, reason } of table) {
        const store = yield* makeSdkStore(double.s3Options)
        double.clearRules()
        const { body, headers, status } = answerOf(dress, undefined)
        const doubled = { PutObjectCommand: "put", GetObjectCommand: "get", ListObjectsV2Command: "list" }
        const kind = Object.entries(doubled).find(([name]) => name === command)?.[1] ?? "deleteMany"
        double.rule((request) => request.operation === kind ? answerBy(status, text(body), headers) : undefined)
        assert.strictEqual(yield* told(ask(store)), expected(reason, operation), `${operation}: ${dress.label}`)
      }
    }))

  it.effect("[case 6] a store that asks for a delay is given it, in seconds or as a date", () =>
    Effect.gen(function*() {
      const [dress] = dressesFor("Throttled", { command: "PutObjectCommand", isApplied: false })
      assert.isDefined(dress)
      if (dress === undefined) return
      for (const [asDate, millis] of [[false, 1_250], [true, 2_000]] as const) {
        const exchange: Exchange = () => Effect.succeed(answerOf(dress, { afterMillis: 1_250, asDate }))
        const error = yield* Effect.flip(storeOn(s3Itself, serverOf(s3Itself), exchange).create("a", bytes("1")))
        assert.strictEqual(error.retryAfterMillis, millis)
      }
    }))
})

describe("a store in S3's dress", () => {
  it.effect("[case 1] a body that breaks off, or a document that does, is no answer", () =>
    Effect.gen(function*() {
      const healthyServer = serverOf(s3Itself)
      healthyServer.bucket.create("a", bytes("whole"))
      const cutTo = (length: number): Exchange => (asked) =>
        Effect.sync(() => {
          const whole = asked.apply()
          return { ...whole, body: whole.body.slice(0, length) }
        })
      for (const length of [0, 1, 4]) {
        const store = storeOn(s3Itself, healthyServer, cutTo(length))
        assert.strictEqual(yield* told(store.get("a")), "Unavailable")
        assert.strictEqual(yield* told(store.list({ prefix: "" })), "Unavailable")
        assert.strictEqual(yield* told(store.remove(["none"])), "Unavailable")
      }
    }))

  it.effect("does what the log needs in each dialect", () =>
    Effect.gen(function*() {
      for (let seed = 0; seed < 300; seed++) {
        const random = new SeededRandom(seed)
        const dialect = drawDialect(random)
        const store = storeOn(dialect, serverOf(dialect, random))
        const said = `seed ${seed}: ${JSON.stringify(dialect)}`
        const created = yield* store.create("log/a", bytes("1"))
        assert.strictEqual(yield* told(store.create("log/a", bytes("2"))), "AlreadyExists", said)
        const first = yield* store.get("log/a", { firstBytes: 10 })
        assert.strictEqual(text(first.body), "1", said)
        yield* store.replace("log/a", bytes("22"), first.tag)
        assert.strictEqual(yield* told(store.replace("log/a", bytes("3"), created)), "PreconditionFailed", said)
        const missing = yield* told(store.replace("log/none", bytes("3"), created))
        assert.include(["NotFound", "PreconditionFailed"], missing, said)
        assert.strictEqual(text((yield* store.get("log/a", { firstBytes: 1 })).body), "2", said)
        assert.strictEqual(yield* told(store.get("log/none")), "NotFound", said)
        yield* store.create("log/empty", bytes(""))
        assert.strictEqual((yield* store.get("log/empty", { firstBytes: 5 })).body.byteLength, 0, said)
        const keys = new Set<string>()
        let page: string | undefined
        do {
          const listed = yield* store.list({ prefix: "log/", ...(page === undefined ? {} : { page }) })
          for (const { key } of listed.objects) keys.add(key)
          page = listed.next
        } while (page !== undefined)
        assert.deepStrictEqual([...keys].toSorted(), ["log/a", "log/empty"], said)
        assert.deepStrictEqual(yield* store.remove(["log/a", "log/none"]), [], said)
        assert.strictEqual(yield* told(store.get("log/a")), "NotFound", said)
        const warnings = yield* store.advice("log/")
        assert.strictEqual(warnings.length, dialect.isVersioned ? 1 : 0, said)
      }
    }))

  it.effect("keys come out of a listing as they went in", () =>
    Effect.gen(function*() {
      const { bucket, server } = serverOf(s3Itself)
      const keys = ["a&b", "a'b\"", "a/b", "a<b>", "a b", "ä€"]
      for (const key of keys) bucket.create(key, bytes("1"))
      const store = storeOn(s3Itself, { bucket, server })
      const found: Array<string> = []
      let page: string | undefined
      do {
        const listed = yield* store.list({ prefix: "", ...(page === undefined ? {} : { page }) })
        found.push(...listed.objects.map(({ key }) => key))
        page = listed.next
      } while (page !== undefined)
      assert.deepStrictEqual([...new Set(found)].toSorted(), keys.toSorted())
    }))
})
