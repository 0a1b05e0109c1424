/** The whole server under random bytes on raw sockets; see `WireInput.ts` for what is sent. */
import { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { createHash } from "node:crypto"
import { append, call, connect } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { turn } from "../support/Wait.ts"
import { type ReadAnswer, readAnswers } from "./HttpAnswers.ts"
import { makeWireInput, smuggledMark } from "./WireInput.ts"

const seed = 1
const inputs = 800

/** Asks last, so that the connection ends where the server still listens on it. */
const goodbye = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"

const marker = "only-for-payments"

interface Sent {
  readonly index: number
  readonly answers: ReadonlyArray<ReadAnswer>
  readonly text: string
}

const send = Effect.fnUntraced(function*(port: number, index: number) {
  const raw = yield* connect(port)
  for (const piece of makeWireInput(new FuzzRandom(seed, index), index).pieces) {
    raw.write(piece)
    yield* turn
  }
  raw.write(goodbye)
  const text = yield* raw.closed
  const { answers, problem } = readAnswers(Buffer.from(text, "latin1"))
  assert.isUndefined(problem, `input ${index}: ${text}`)
  for (const { status } of answers) assert.isBelow(status, 500, `input ${index}: ${text}`)
  assert.notInclude(text, marker, `input ${index}`)
  const sent: Sent = { index, answers, text }
  return sent
})

/** The numbers that an answer says were appended. */
const numbersOf = ({ body, status }: ReadAnswer): ReadonlyArray<number> => {
  const [, first, last] = /^\{"first_seq":(\d+),"last_seq":(\d+),/.exec(body.toString()) ?? []
  if (status !== 200 || first === undefined) return []
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index)
}

describe("the server under bytes that hardly are HTTP", () => {
  it.live(
    `${inputs} connections: whole answers below 500 or the end, and the log has what was answered`,
    () =>
      Effect.gen(function*() {
        const { logs, port } = yield* startServer({
          tokens: [
            {
              id: "known",
              secret: { sha256: createHash("sha256").update("known").digest("hex") },
              scopes: ["read", "write", "admin"],
              streams: ["orders"]
            },
            { id: "all", secret: { sha256: createHash("sha256").update("all").digest("hex") }, scopes: ["write"] }
          ],
          streams: ["orders", "payments"],
          limits: { headerTimeout: Duration.seconds(1), requestTimeout: Duration.seconds(1) }
        })
        const seeded = yield* call(port, "/v1/streams/payments/records", {
          method: "POST",
          headers: { authorization: "Bearer all", "content-type": "application/x-ndjson" },
          body: `"${marker}"\n`
        })
        assert.strictEqual(seeded.status, 200)
        const sent = yield* Effect.forEach(
          Array.from({ length: inputs }, (_, index) => index),
          (index) => send(port, index),
          { concurrency: 48 }
        )

        const records = (logs["orders"]?.records ?? []).map(({ payload }) => Buffer.from(payload).toString("latin1"))
        const repeats = new Set<number>()
        const answered = new Map<number, Sent>()
        for (const one of sent) {
          for (const answer of one.answers) {
            for (const seq of numbersOf(answer)) {
              if (answer.headers.has("idempotency-replayed")) repeats.add(seq)
              else {
                assert.isFalse(answered.has(seq), `record ${seq} was answered twice`)
                answered.set(seq, one)
              }
            }
          }
        }
        /** Whose record it is; a body that was cut short may have lost its mark. */
        const ownerOf = (record: string) => /m(\d+)-/.exec(record)?.[1]
        for (const [seq, { index }] of answered) {
          const owner = ownerOf(records[seq - 1] ?? "")
          assert.include([String(index), undefined], owner, `record ${seq} is of another connection`)
        }
        for (const [position, record] of records.entries()) {
          assert.notStrictEqual(record.replaceAll(/["\n]/g, ""), smuggledMark, `record ${position + 1}`)
          if (answered.has(position + 1)) continue
          // Only a connection that ended in the middle may have records that it was not told of.
          const owner = sent[Number(ownerOf(record))]
          const isOver = owner !== undefined && !owner.text.endsWith("ok\n")
          assert.isTrue(isOver, `record ${position + 1} was never answered: ${record}`)
        }
        assert.strictEqual(logs["payments"]?.records.length, 1)

        // What was sent reaches behind the parser: things are appended, read, refused.
        const statuses = new Set(sent.flatMap(({ answers }) => answers.map(({ status }) => status)))
        for (const status of [200, 400, 401, 403, 404, 408, 415, 417, 431]) assert.include([...statuses], status)
        assert.isAbove(answered.size, inputs / 8)
        assert.strictEqual((yield* call(port, "/healthz")).status, 200)
        const after = yield* call(port, "/v1/streams/orders/records", {
          method: "POST",
          headers: { authorization: "Bearer known", "content-type": "application/x-ndjson" },
          body: "1\n"
        })
        assert.include(after.body.toString(), `"first_seq":${records.length + 1},`)
        assert.strictEqual((yield* append(port, "application/x-ndjson", "1\n")).status, 401)
      }),
    180_000
  )
})
