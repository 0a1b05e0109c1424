/** Paths in every spelling: none leads past a token to another stream, and none past the router to anything else. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { append, connect } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { readAnswers } from "./HttpAnswers.ts"

const tokens = [
  { id: "orders-only", scopes: ["read", "write", "admin"], streams: ["orders"] },
  { id: "all", scopes: ["read", "write", "admin"] }
] as const

/** Ways to write `payments`, or to get there from `orders`. */
const spellings = [
  "payments",
  "%70ayments",
  "%50ayments",
  "PAYMENTS",
  "payments%00",
  "payments%0d%0a",
  "payments%20",
  "payments.",
  "payments;orders",
  "orders;/../payments",
  "orders/../payments",
  "orders/%2e%2e/payments",
  "orders%2f..%2fpayments",
  "orders%2F%2E%2E%2Fpayments",
  "orders%252f..%252fpayments",
  "orders\\..\\payments",
  "orders%5c..%5cpayments",
  "..%2fstreams%2fpayments",
  "./payments",
  "/payments",
  "%2fpayments",
  "orders?stream=payments",
  "orders#/payments",
  "%c0%ae%c0%ae/payments",
  "%e0%80%ae/payments",
  "p%c1%a1yments",
  "p%ef%bd%81yments",
  "%ff",
  "%",
  "%zz",
  "%u0070ayments",
  "%00",
  "%0a",
  "__proto__",
  "constructor",
  "a".repeat(129),
  "%61".repeat(2_000)
]

const starts = [
  "/v1/streams/",
  "//v1/streams/",
  "/v1//streams/",
  "/v1/./streams/",
  "/x/../v1/streams/",
  "/V1/Streams/",
  "http://127.0.0.1/v1/streams/",
  "http://elsewhere.example/v1/streams/",
  "http://user:pass@127.0.0.1/v1/streams/",
  "https://127.0.0.1:1/v1/streams/",
  "file:///v1/streams/",
  "v1/streams/",
  "*"
]

const ends = [
  "",
  "/",
  "/records",
  "/records/",
  "/epochs",
  "/cursors/default",
  "/cursors/..%2f..%2fpayments",
  "%2frecords"
]

const marker = "only-for-payments"

describe("paths", () => {
  it.live("lead to another stream in no spelling, and are each answered below 500", () =>
    Effect.gen(function*() {
      const { logs, port } = yield* startServer({
        tokens: tokens.map(({ id, ...token }) => ({
          id,
          secret: { sha256: createHash("sha256").update(id).digest("hex") },
          ...token
        })),
        streams: ["orders", "payments"]
      })
      const seeding = yield* connect(port)
      seeding.write(
        "POST /v1/streams/payments/records HTTP/1.1\r\nhost: x\r\nauthorization: Bearer all\r\n" +
          `content-type: application/x-ndjson\r\ncontent-length: ${marker.length + 3}\r\n\r\n"${marker}"\n`
      )
      yield* seeding.until("\"first_seq\":1")
      const targets = starts.flatMap((start) =>
        spellings.flatMap((spelling) => ends.map((end) => `${start}${spelling}${end}`))
      )
      const ask = Effect.fnUntraced(function*(target: string) {
        for (const request of ["GET", "POST"]) {
          const raw = yield* connect(port)
          const body = request === "POST"
            ? "content-type: application/x-ndjson\r\ncontent-length: 2\r\n\r\n1\n"
            : "\r\n"
          raw.write(
            Buffer.from(
              `${request} ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer orders-only\r\nconnection: close\r\n${body}`,
              "latin1"
            )
          )
          const text = yield* raw.closed
          const answers = readAnswers(Buffer.from(text, "latin1"))
          assert.strictEqual(answers.problem, undefined, `${request} ${target}: ${text}`)
          assert.strictEqual(answers.answers.length, 1, `${request} ${target}`)
          assert.isBelow(answers.answers[0]?.status ?? 999, 500, `${request} ${target}`)
          assert.notInclude(text, marker, `${request} ${target}`)
        }
      })
      yield* Effect.forEach(targets, ask, { concurrency: 32, discard: true })
      assert.strictEqual(logs["payments"]?.records.length, 1)
      assert.strictEqual((yield* append(port, "application/x-ndjson", "1\n")).status, 401)
    }), 120_000)
})
