/** `Idempotency-Key`: a call is appended once, however often it is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type Answer, call, connect, json } from "./support/Client.ts"
import { smallBuffer } from "./support/TestLog.ts"
import { startServer } from "./support/TestServer.ts"
import { advanceUntil, until } from "./support/Wait.ts"

const ndjson = "application/x-ndjson"

const post = (port: number, key: string | ReadonlyArray<string>, body: string, query = "") =>
  call(port, `/v1/streams/orders/records${query}`, {
    method: "POST",
    headers: { "content-type": ndjson, "idempotency-key": typeof key === "string" ? key : [...key] },
    body
  })

const replayed = (answer: Answer): string | undefined => {
  const value = answer.headers["idempotency-replayed"]
  return typeof value === "string" ? value : undefined
}

const code = (answer: Answer): ReadonlyArray<number | string> => [answer.status, json(answer).error.code]

describe("an append with an Idempotency-Key", () => {
  it.effect("is answered as the first time, byte for byte, and says that it is a repeat", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const first = yield* post(port, "order 17", "1\n2\n")
      assert.deepStrictEqual(json(first), { first_seq: 1, last_seq: 2, count: 2, epoch: 1, ack: "durable" })
      assert.isUndefined(replayed(first))
      yield* post(port, "another", "3\n")
      const again = yield* post(port, "order 17", "1\n2\n")
      assert.strictEqual(again.status, 200)
      assert.isTrue(again.body.equals(first.body))
      assert.strictEqual(replayed(again), "true")
      assert.strictEqual(log.records.length, 3)
      // The key is text: quotes are a part of it.
      assert.deepInclude(json(yield* post(port, "\"order 17\"", "1\n2\n")), { first_seq: 4 })
    }))

  it.effect("with other records is refused with 422, whatever the ack", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* post(port, "k", "1\n2\n")
      for (const body of ["1\n3\n", "1\n", "12\n", ""]) {
        const answer = yield* post(port, "k", body, "?ack=accepted")
        assert.deepStrictEqual(code(answer), [422, "producer_conflict"], body)
        assert.deepInclude(json(answer).error, { data: "not-durable", retryable: false })
        assert.deepInclude(json(answer).error.details, { first: 1, last: 2 })
      }
      assert.strictEqual(log.records.length, 2)
    }))

  it.effect("is refused with the rule that its key breaks, before anything is appended", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      for (const key of ["", "x".repeat(129), "ä"]) {
        const answer = yield* post(port, key, "1\n")
        assert.deepStrictEqual(code(answer), [400, "invalid_request"])
        assert.include(json(answer).error.message, "Idempotency-Key: must be 1 to 128 printable ASCII characters")
      }
      const twice = yield* post(port, ["a", "b"], "1\n")
      assert.deepStrictEqual(code(twice), [400, "invalid_request"])
      assert.include(json(twice).error.message, "must be given once")
      assert.strictEqual(log.records.length, 0)
      assert.strictEqual((yield* post(port, "x".repeat(128), "1\n")).status, 200)
    }))

  it.effect("waits with the first one for durability, and is answered with it", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      const first = yield* Effect.forkChild(post(port, "k", "1\n"), { startImmediately: true })
      yield* until(() => log.records.length === 1)
      const accepted = yield* post(port, "k", "1\n", "?ack=accepted")
      assert.deepStrictEqual([json(accepted).first_seq, replayed(accepted)], [1, "true"])
      const second = yield* Effect.forkChild(post(port, "k", "1\n"), { startImmediately: true })
      yield* post(port, "other", "2\n", "?ack=accepted")
      assert.deepStrictEqual([first.pollUnsafe(), second.pollUnsafe()], [undefined, undefined])
      yield* log.release
      const answers = [yield* Fiber.join(first), yield* Fiber.join(second)]
      assert.deepStrictEqual(answers.map((answer) => [answer.status, json(answer).first_seq]), [[200, 1], [200, 1]])
      assert.strictEqual(log.records.length, 2)
    }))

  it.effect("is told to be a repeat also where it is not durable in time", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      const body = Buffer.from("1\n")
      const details = { first_seq: 1, last_seq: 1, count: 1, epoch: 1 }
      // In pieces without a length the router has it.
      for (
        const [sent, expected] of [
          [{ body }, details],
          [{ body }, { ...details, replayed: true }],
          [{ pieces: [body, Buffer.alloc(0)] }, { ...details, replayed: true }]
        ] as const
      ) {
        const waiting = yield* Effect.forkChild(
          call(port, "/v1/streams/orders/records", {
            method: "POST",
            headers: { "content-type": ndjson, "idempotency-key": "k" },
            ...sent
          }),
          { startImmediately: true }
        )
        const answer = yield* advanceUntil(waiting, "1 second")
        assert.deepStrictEqual(code(answer), [504, "ack_pending"])
        assert.deepStrictEqual(json(answer).error.details, expected)
      }
      assert.strictEqual(log.records.length, 1)
    }))

  it.effect("is found again when the answer was lost with the connection", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      const raw = yield* connect(port)
      const head = `POST /v1/streams/orders/records HTTP/1.1\r\nhost: x\r\ncontent-type: ${ndjson}\r\n`
      raw.write(`${head}idempotency-key: k\r\ncontent-length: 2\r\n\r\n1\n`)
      yield* until(() => log.records.length === 1)
      raw.socket.destroy()
      yield* log.release
      const again = yield* post(port, "k", "1\n")
      assert.deepStrictEqual([json(again).first_seq, replayed(again)], [1, "true"])
      assert.strictEqual(log.records.length, 1)
    }))

  it.effect("is refused where it does not fit into one segment", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ log: { segment: { maxEntries: 2 } } })
      const answer = yield* post(port, "k", "1\n2\n3\n")
      assert.deepStrictEqual(code(answer), [413, "producer_call_too_large"])
      assert.deepInclude(json(answer).error.details, { records: 3, limitRecords: 2 })
      assert.strictEqual(log.records.length, 0)
      assert.strictEqual((yield* post(port, "k", "1\n2\n")).status, 200)
    }))

  it.effect("waits for room, whole, and is appended once", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ log: smallBuffer })
      yield* log.hold
      const filling = `"${"a".repeat(998)}"\n`.repeat(3)
      yield* call(port, "/v1/streams/orders/records?ack=accepted", {
        method: "POST",
        headers: { "content-type": ndjson },
        body: filling
      })
      const body = `"${"b".repeat(498)}"\n"${"c".repeat(398)}"\n`
      const waiting = yield* Effect.forEach([1, 2], () =>
        Effect.forkChild(post(port, "k", body), { startImmediately: true }))
      yield* post(port, "k", "", "?ack=accepted")
      assert.strictEqual(log.records.length, 3)
      yield* log.release
      const answers = yield* Effect.forEach(waiting, (fiber) =>
        advanceUntil(fiber, "100 millis"))
      assert.deepStrictEqual(answers.map((answer) => json(answer).first_seq), [4, 4])
      assert.sameMembers(answers.map(replayed), [undefined, "true"])
      assert.strictEqual(log.records.length, 5)
    }))

  it.effect("without a key, or with an empty body, is what it was", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      for (const nth of [1, 2]) {
        const answer = yield* call(port, "/v1/streams/orders/records", {
          method: "POST",
          headers: { "content-type": ndjson },
          body: "1\n"
        })
        assert.deepStrictEqual([json(answer).first_seq, replayed(answer)], [nth, undefined])
      }
      assert.deepInclude(json(yield* post(port, "k", "")), { first_seq: 3, last_seq: 2, count: 0 })
      assert.deepInclude(json(yield* post(port, "k", "1\n")), { first_seq: 3 })
      assert.strictEqual(log.records.length, 3)
    }))
})
