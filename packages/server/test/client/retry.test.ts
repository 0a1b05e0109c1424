/** What the client tries again, when, and what it makes of answers; the server is a script, the time is the test's. */
import { errorTable } from "@effect-wal/core/ErrorTable"
import { NonceSource } from "@effect-wal/core/Nonce"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { errorCodes } from "../../src/client/ErrorCode.ts"
import { requestProblems } from "../../src/RequestProblem.ts"
import { answer, appended, refusal, run, scripted, status, times } from "./ScriptedClient.ts"

const one = { ndjson: "1\n" }
const cursor = { name: "a", seq: 1, persisted: 1, lag: 0 }

describe("errors", () => {
  it("have every code of the log and of the server, and no other", () => {
    const known = [...Object.values(errorTable).map(({ code }) => code), ...Object.keys(requestProblems)]
    assert.deepStrictEqual([...errorCodes].toSorted(), known.toSorted())
  })

  it.effect("each come with status, code, message, what became of the records and the fields", () =>
    Effect.gen(function*() {
      for (const code of errorCodes) {
        const { client } = yield* scripted([
          refusal(418, code, { retryable: false, data: "unknown", retryAfter: "3", details: { a: 1 } })
        ])
        const { reason } = yield* Effect.flip(client.status("orders"))
        assert.deepStrictEqual<unknown>(reason, {
          _tag: code,
          status: 418,
          message: `said ${code}`,
          data: "unknown",
          retryable: false,
          retryAfterMillis: 3_000,
          details: { a: 1 }
        })
      }
    }))

  it.effect("are caught by their code", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([
        refusal(410, "trimmed", { retryable: false, data: "durable", details: { from: 1, trimmedTo: 5 } })
      ])
      const trimmedTo = yield* client.readPage("orders", { from: 1 }).pipe(
        Effect.as(0),
        Effect.catchReason("WalClientError", "trimmed", ({ details }) => Effect.succeed(details["trimmedTo"]))
      )
      assert.strictEqual(trimmedTo, 5)
    }))

  it.effect("that are none of the server's say what came instead", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([
        new Response("<html>who are you</html>", { status: 403 }),
        refusal(500, "a_code_of_tomorrow", { retryable: false }),
        answer({ what: "else" }),
        answer({ what: "else" })
      ])
      const html = yield* Effect.flip(client.status("orders"))
      assert.deepStrictEqual([html.reason._tag, html.status], ["UnexpectedAnswer", 403])
      assert.include(html.message, "who are you")
      assert.strictEqual((yield* Effect.flip(client.status("orders"))).reason._tag, "UnexpectedAnswer")
      assert.strictEqual((yield* Effect.flip(client.status("orders"))).reason._tag, "UnexpectedAnswer")
      assert.strictEqual((yield* Effect.flip(client.append("orders", one))).reason._tag, "UnexpectedAnswer")
    }))

  it.effect("of the connection tell where and why, and never the token", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted(["no answer"], {
        url: "http://user:hidden-pass@wal.test/base?key=hidden-query",
        token: Redacted.make("hidden-token"),
        retry: { times: 0 }
      })
      const error = yield* Effect.flip(client.append("orders", one))
      assert.strictEqual(error.reason._tag, "ConnectionFailed")
      assert.include(error.message, "http://wal.test: fetch failed: connect ECONNREFUSED")
      assert.strictEqual(asked[0]?.headers["authorization"], "Bearer hidden-token")
      for (const text of [error.message, JSON.stringify(error), String(error), error.stack ?? ""]) {
        assert.notInclude(text, "hidden")
      }
    }))

  it.effect("of names that no URL can hold come before anything is sent", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([])
      for (const name of ["", ".", ".."]) {
        const calls = [
          Effect.asVoid(client.append(name, one)),
          Effect.asVoid(client.status(name)),
          Effect.asVoid(client.flush(name)),
          Effect.asVoid(client.readPage(name)),
          Effect.asVoid(client.commit("orders", name, 1))
        ]
        for (const call of calls) {
          assert.strictEqual((yield* Effect.flip(call)).reason._tag, "InvalidCall")
        }
      }
      assert.deepStrictEqual(asked, [])
    }))
})

describe("paths", () => {
  it.effect("hold names as one part each, below the path of the URL", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([answer(cursor), appended(1)], { url: "http://wal.test/base/" })
      yield* client.cursor("a/b", "c?d")
      yield* client.append("a/../b#", one, { ack: "accepted" })
      assert.deepStrictEqual(asked.map(({ path }) => path), [
        "/base/v1/streams/a%2Fb/cursors/c%3Fd",
        "/base/v1/streams/a%2F..%2Fb%23/records?ack=accepted"
      ])
    }))
})

describe("tries", () => {
  it.effect("are made again after 429 and 503, with pauses that double, vary and stay below the longest", () =>
    Effect.gen(function*() {
      const { client, pauses } = yield* scripted([
        ...times(3, () => refusal(503, "overloaded")),
        ...times(2, () => refusal(429, "overloaded")),
        appended(1)
      ], { retry: { times: 5, baseDelay: "1 second", maxDelay: "4 seconds" } })
      yield* run(client.append("orders", one))
      for (const [index, most] of [1_000, 2_000, 4_000, 4_000, 4_000].entries()) {
        assert.isAtMost(pauses()[index] ?? 0, most)
        assert.isAtLeast(pauses()[index] ?? 0, most / 2)
      }
    }))

  it.effect("wait as long as Retry-After says, in seconds or as a date, and no client exactly so long", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      const { client, pauses } = yield* scripted([
        refusal(503, "overloaded", { retryAfter: "7" }),
        refusal(503, "overloaded", { retryAfter: new Date(1_000_000 + 60_000).toUTCString() }),
        appended(1)
      ])
      yield* run(client.append("orders", one))
      const [seconds = 0, date = 0] = pauses()
      assert.isAtLeast(seconds, 7_000)
      assert.isAtMost(seconds, 8_750 + 10)
      // The date is a minute after the start, and some seconds are over.
      assert.isAtLeast(seconds + date, 60_000)
    }))

  it.effect("end where the server asks for a longer pause than the client waits", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([refusal(503, "overloaded", { retryAfter: "61" })])
      const error = yield* Effect.flip(client.append("orders", one))
      assert.deepStrictEqual([error.reason._tag, error.retryAfterMillis, asked.length], ["overloaded", 61_000, 1])
    }))

  it.effect("end after the last with its error", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted(times(4, () => refusal(503, "stream_opening")), { retry: { times: 3 } })
      const error = yield* run(Effect.flip(client.append("orders", one)))
      assert.deepStrictEqual([error.reason._tag, asked.length], ["stream_opening", 4])
    }))

  it.effect("have the same key, another for each call, and the one that is given", () =>
    Effect.gen(function*() {
      let nonces = 0
      const { asked, client } = yield* scripted([
        "no answer",
        refusal(503, "closed", { data: "unknown" }),
        appended(1, { "idempotency-replayed": "true" }),
        appended(2),
        appended(3)
      ])
      const calls = Effect.gen(function*() {
        const first = yield* client.append("orders", one)
        assert.deepStrictEqual([first.first_seq, first.replayed], [1, true])
        assert.isFalse((yield* client.append("orders", one)).replayed)
        yield* client.append("orders", one, { idempotencyKey: "mine" })
      })
      yield* run(Effect.provideService(calls, NonceSource, Effect.sync(() => `nonce-${++nonces}`)))
      assert.deepStrictEqual(asked.map(({ headers }) => headers["idempotency-key"]), [
        "nonce-1",
        "nonce-1",
        "nonce-1",
        "nonce-2",
        "mine"
      ])
      assert.deepStrictEqual(new Set(asked.map(({ body }) => body)), new Set(["1\n"]))
    }))

  it.effect("without a key are made only where nothing was appended", () =>
    Effect.gen(function*() {
      const bare = { idempotencyKey: false } as const
      for (const step of ["no answer" as const, refusal(503, "closed", { data: "unknown" })]) {
        const { asked, client } = yield* scripted([step])
        yield* Effect.flip(client.append("orders", one, bare))
        assert.deepStrictEqual([asked.length, asked[0]?.headers["idempotency-key"]], [1, undefined])
      }
      const { client } = yield* scripted([refusal(503, "buffer_full"), appended(1)])
      assert.strictEqual((yield* run(client.append("orders", one, bare))).first_seq, 1)
    }))

  it.effect("are made of reads and of what can be done twice after a lost connection, and of no other call", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([
        "no answer",
        answer({ streams: [] }),
        "no answer",
        status(1, 1),
        "no answer",
        answer({ epochs: [] }),
        "no answer",
        answer({ durable: 5 }),
        "no answer",
        answer({ trimmed_to: 4 }),
        "no answer",
        answer(cursor),
        "no answer",
        answer(cursor),
        "no answer",
        new Response("", { headers: { "wal-next": "1" } }),
        "no answer",
        answer({ ready: true }),
        "no answer",
        new Response("ok"),
        "no answer",
        new Response("a 1\n"),
        "no answer"
      ])
      assert.deepStrictEqual(yield* run(client.streams), [])
      assert.strictEqual((yield* run(client.status("a"))).durable, 1)
      assert.deepStrictEqual(yield* run(client.epochs("a")), [])
      assert.strictEqual(yield* run(client.flush("a")), 5)
      assert.strictEqual(yield* run(client.trim("a", 5)), 4)
      assert.deepStrictEqual(yield* run(client.cursor("a", "b")), cursor)
      assert.deepStrictEqual(yield* run(client.commit("a", "b", 1)), cursor)
      assert.deepStrictEqual(yield* run(client.readPage("a")), { elements: [], next: 1 })
      assert.deepStrictEqual(yield* run(client.ready), { ready: true })
      assert.isTrue(yield* run(client.health))
      assert.strictEqual(yield* run(client.metrics), "a 1\n")
      assert.strictEqual((yield* run(Effect.flip(client.removeCursor("a", "b")))).reason._tag, "ConnectionFailed")
    }))

  it.effect("are not made of what does not pass", () =>
    Effect.gen(function*() {
      for (const [code, status] of [["fenced", 409], ["unauthorized", 401], ["spool_undecided", 503]] as const) {
        const { asked, client } = yield* scripted([refusal(status, code, { retryable: false })])
        assert.strictEqual((yield* Effect.flip(client.append("orders", one))).reason._tag, code)
        assert.strictEqual(asked.length, 1)
      }
    }))

  it.effect("are made after a server that takes the call and never answers", () =>
    Effect.gen(function*() {
      const { client, pauses } = yield* scripted(["never", appended(1)], { answerTimeout: "20 seconds" })
      assert.strictEqual((yield* run(client.append("orders", one))).first_seq, 1)
      assert.isAtLeast(pauses()[0] ?? 0, 20_000)
    }))

  it.effect("stop when the caller does", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted(times(3, () => refusal(503, "overloaded")))
      const fiber = yield* Effect.forkChild(client.append("orders", one), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(asked.length, 1)
    }))

  it.effect("of probes take a 503 for the answer that it is", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([
        answer({ ready: false }, { status: 503 }),
        new Response("dead", { status: 503 })
      ])
      assert.deepStrictEqual(yield* client.ready, { ready: false })
      assert.isFalse(yield* client.health)
    }))
})
