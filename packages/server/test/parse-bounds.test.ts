/** How many records a body may have, what they hold, and that others have their turn while it is parsed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { gzipSync } from "node:zlib"
import { splitLines } from "../src/body/Ndjson.ts"
import { type ParseBounds, slice } from "../src/body/ParseBounds.ts"
import { decodeRecords } from "../src/body/RecordsJson.ts"
import type { RequestProblem } from "../src/RequestProblem.ts"
import { append, call, connect, json } from "./support/Client.ts"
import { startServer } from "./support/TestServer.ts"
import { until } from "./support/Wait.ts"

const path = "/v1/streams/orders/records"

interface Form {
  /** A body of so many records. */
  readonly of: (count: number) => string
  /** One that is no JSON behind so many records. */
  readonly broken: (count: number) => string
  /** How many records a body has. */
  readonly count: (body: Uint8Array, bounds: ParseBounds) => Effect.Effect<number, RequestProblem>
}

const forms: Readonly<Record<string, Form>> = {
  "application/x-ndjson": {
    of: (count) => "1\n".repeat(count),
    broken: (count) => `${"1\n".repeat(count)}{`,
    count: (body, bounds) => Effect.map(splitLines([body], bounds), ({ length }) => length)
  },
  "application/json": {
    of: (count) => `{"records":[${new Array<string>(count).fill("{\"payload\":1}").join()}]}`,
    broken: (count) => `{"records":[${"{\"payload\":1},".repeat(count)}`,
    count: (body, bounds) => Effect.map(decodeRecords(body, bounds), ({ length }) => length)
  }
}

for (const [type, { broken, count, of }] of Object.entries(forms)) {
  describe(`the records of a request as ${type}`, () => {
    it.effect("[case 23] as many as allowed are taken, and with one more nothing is appended, packed or not", () =>
      Effect.gen(function*() {
        const { log, port } = yield* startServer({ limits: { maxBatchRecords: 5 } })
        for (const encoding of ["identity", "gzip"]) {
          const post = (text: string) =>
            call(port, path, {
              method: "POST",
              headers: { "content-type": type, "content-encoding": encoding },
              body: encoding === "gzip" ? gzipSync(text) : text
            })
          log.records.length = 0
          assert.strictEqual(json(yield* post(of(5))).count, 5)
          assert.strictEqual(log.records.length, 5)
          const refused = yield* post(of(6))
          const { error } = json(refused)
          assert.deepStrictEqual([refused.status, error.code], [413, "too_many_records"])
          assert.deepStrictEqual([error.data, error.retryable, error.details], ["not-durable", false, {
            limit_records: 5
          }])
          assert.include(error.message, "server.limits.max_batch_records")
          assert.include(error.message, "send several requests")
          assert.strictEqual(log.records.length, 5)
        }
      }))

    it.effect("[case 23] one too many is noticed where it stands: what follows is not looked at", () =>
      Effect.gen(function*() {
        const { log, port } = yield* startServer({ limits: { maxBatchRecords: 5 } })
        assert.strictEqual(json(yield* append(port, type, broken(4))).error.code, "invalid_json")
        assert.strictEqual(json(yield* append(port, type, broken(5))).error.code, "too_many_records")
        assert.deepStrictEqual(log.records, [])
      }))

    it.effect("never more of them are claimed than allowed, however long the body", () =>
      Effect.gen(function*() {
        const claims: Array<number> = []
        const claim = (records: number) => Effect.sync(() => claims.push(records)).pipe(Effect.asVoid)
        const refused = yield* Effect.flip(count(Buffer.from(of(500_000)), { maxRecords: 100_000, claim }))
        assert.strictEqual(refused.code, "too_many_records")
        assert.isNotEmpty(claims)
        assert.isAtMost(Math.max(...claims), 100_000)
      }))

    it.effect("the event loop turns between slices of a body", () =>
      Effect.gen(function*() {
        const body = Buffer.from(of(100_000))
        let turns = 0
        let isParsed = false
        const turn = () => {
          turns++
          if (!isParsed) setImmediate(turn)
        }
        setImmediate(turn)
        const parsing = yield* Effect.forkChild(
          Effect.ensuring(
            count(body, { maxRecords: body.length, claim: () => Effect.void }),
            Effect.sync(() => {
              isParsed = true
            })
          )
        )
        const records = yield* Fiber.join(parsing)
        assert.strictEqual(records, 100_000)
        const slices = (body.length + records * slice.bytesOfRecord) / slice.bytes
        assert.isAtLeast(turns, Math.floor(slices) - 1)
        assert.isAtLeast(slices, 20)
      }))

    it.effect("their memory counts against that of all requests, and is given back", () =>
      Effect.gen(function*() {
        const { log, port } = yield* startServer({ limits: { maxInFlightBodyBytes: 50_000 } })
        const half = yield* connect(port)
        half.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: 900\r\n\r\n1`)
        // A body of 14 kB at most fits beside the one that waits for its end; its thousand records do not.
        yield* untilCode(() => append(port, type, of(1_000)), "overloaded")
        assert.strictEqual((yield* append(port, type, of(10))).status, 200)
        log.records.length = 0
        half.socket.destroy()
        // Alone, a request is never refused for its records.
        yield* untilCode(() => append(port, type, of(1_000)), undefined)
        yield* until(() => log.records.length === 1_000)
      }))
  })
}

describe("the headers of records", () => {
  it.effect("count against the memory of all requests as their records do", () =>
    Effect.gen(function*() {
      const type = "application/json"
      const { log, port } = yield* startServer({ limits: { maxInFlightBodyBytes: 50_000 } })
      const half = yield* connect(port)
      half.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: 900\r\n\r\n1`)
      const headers = Object.fromEntries(Array.from({ length: 800 }, (_, nth) => [nth.toString(36), ""]))
      // A body of 7 kB fits beside the one that waits for its end, and so does its record; its headers do not.
      const ask = () => append(port, type, JSON.stringify({ records: [{ payload: 1, headers }] }))
      yield* untilCode(ask, "overloaded")
      assert.deepStrictEqual(log.records, [])
      half.socket.destroy()
      yield* untilCode(ask, undefined)
      yield* until(() => log.records.length === 1)
    }))

  it.effect("are claimed with the records, slice by slice and at the end, all so far", () =>
    Effect.gen(function*() {
      const claims: Array<readonly [number, number | undefined]> = []
      const claim: ParseBounds["claim"] = (records, headers) => Effect.sync(() => void claims.push([records, headers]))
      const record = "{\"payload\":1,\"headers\":{\"a\":\"1\",\"b\":\"2\"}}"
      const body = Buffer.from(`{"records":[${new Array<string>(6_000).fill(record).join()}]}`)
      yield* decodeRecords(body, { maxRecords: 6_000, claim })
      const headers = claims.flatMap(([, each]) => each === undefined || each === 0 ? [] : [each])
      assert.isAtLeast(headers.length, 3)
      assert.deepStrictEqual(headers, headers.toSorted((a, b) => a - b))
      assert.deepStrictEqual(claims.at(-1), [6_000, 12_000])
    }))
})

/** Asks again until the answer has this code; the server learns late of what other clients do. */
const untilCode = (ask: () => ReturnType<typeof append>, code: string | undefined): Effect.Effect<void> =>
  Effect.flatMap(ask(), (answer) => json(answer).error?.code === code ? Effect.void : untilCode(ask, code))
