/** Appends that the server has accepted and cannot call durable in its time (504 `ack_pending`). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answer, appended, refusal, run, scripted, status, times } from "./ScriptedClient.ts"

const one = { ndjson: "1\n" }

const pending = (epoch = 1, more: { readonly replayed?: boolean } = {}) =>
  refusal(504, "ack_pending", { data: "unknown", details: { first_seq: 7, last_seq: 7, count: 1, epoch, ...more } })

describe("records that are accepted and not durable yet", () => {
  it.effect("are watched through the status until they are durable", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([pending(), status(1, 6), status(1, 6), status(1, 7)])
      const answered = yield* run(client.append("orders", one))
      assert.deepStrictEqual(answered, {
        first_seq: 7,
        last_seq: 7,
        count: 1,
        epoch: 1,
        ack: "durable",
        replayed: false
      })
      assert.deepStrictEqual(asked.map(({ method }) => method), ["POST", "GET", "GET", "GET"])
    }))

  it.effect("are those of an earlier try where the server says so", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted(["no answer", pending(1, { replayed: true }), status(1, 7)])
      assert.deepStrictEqual(yield* run(client.append("orders", one)), {
        first_seq: 7,
        last_seq: 7,
        count: 1,
        epoch: 1,
        ack: "durable",
        replayed: true
      })
    }))

  it.effect("are sent again with their key where the epoch that took them is over", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([pending(), status(2, 6), appended(8)])
      assert.strictEqual((yield* run(client.append("orders", one))).first_seq, 8)
      assert.strictEqual(asked[0]?.headers["idempotency-key"], asked[2]?.headers["idempotency-key"])
    }))

  it.effect("are sent again where the token may not read the status", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([
        pending(),
        refusal(403, "forbidden", { retryable: false }),
        appended(7, { "idempotency-replayed": "true" })
      ])
      assert.isTrue((yield* run(client.append("orders", one))).replayed)
    }))

  it.effect("are told of, with their numbers, where nobody can say or the time is over", () =>
    Effect.gen(function*() {
      const bare = yield* scripted([pending(), status(2, 6)])
      const unknown = yield* run(Effect.flip(bare.client.append("orders", one, { idempotencyKey: false })))
      assert.strictEqual(unknown.reason._tag, "ack_pending")
      const slow = yield* scripted([pending(), ...times(100, () => status(1, 6))])
      const late = yield* run(Effect.flip(slow.client.append("orders", one, { pendingTimeout: "10 seconds" })))
      assert.deepInclude(late.reason, { _tag: "ack_pending", status: 504, data: "unknown" })
      assert.deepStrictEqual("details" in late.reason && late.reason.details["last_seq"], 7)
      assert.isAtMost((slow.asked.at(-1)?.atMillis ?? 0) - (slow.asked[0]?.atMillis ?? 0), 12_100)
    }))

  it.effect("count as spooled where that was asked for", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([
        pending(),
        answer({ id: "orders", state: "open", epoch: 1, durable: 1, spooled: 7 })
      ])
      assert.strictEqual((yield* run(client.append("orders", one, { ack: "spooled" }))).ack, "spooled")
    }))
})
