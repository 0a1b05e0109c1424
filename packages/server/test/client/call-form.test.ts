/** Calls that cannot be sent: they fail at once, nothing is asked, and no secret is shown. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { appended, run, scripted, status } from "./ScriptedClient.ts"

const one = { ndjson: "1\n" }

describe("a call that no request can carry", () => {
  for (const token of ["secret\nword", "secret\u0000word", "secret-\u20ac", " "]) {
    it.effect(`fails with the token ${JSON.stringify(token)}, and does not show it`, () =>
      Effect.gen(function*() {
        const { asked, client } = yield* scripted([], { token: Redacted.make(token) })
        const { message, reason } = yield* Effect.flip(client.status("orders"))
        assert.strictEqual(reason._tag, "InvalidCall")
        assert.notInclude(message, "secret")
        assert.strictEqual((yield* Effect.flip(client.append("orders", one))).reason._tag, "InvalidCall")
        assert.lengthOf(asked, 0)
      }))
  }

  it.effect("is not one whose token has a line end behind it, as files have", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([status(1, 1)], { token: Redacted.make("word\r\n") })
      yield* run(client.status("orders"))
      assert.strictEqual(asked[0]?.headers["authorization"], "Bearer word")
    }))

  it.effect("fails with a key that is none", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([appended(1)])
      for (const idempotencyKey of ["", "caf\u00e9", "a\nb", "a".repeat(129)]) {
        const { reason } = yield* Effect.flip(client.append("orders", one, { idempotencyKey }))
        assert.strictEqual(reason._tag, "InvalidCall")
      }
      assert.lengthOf(asked, 0)
      yield* run(client.append("orders", one, { idempotencyKey: "a".repeat(128) }))
    }))

  it.effect("fails with a name that is half of a character", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([])
      assert.strictEqual((yield* Effect.flip(client.status("\ud800"))).reason._tag, "InvalidCall")
      assert.strictEqual((yield* Effect.flip(client.cursor("orders", "\udc00"))).reason._tag, "InvalidCall")
    }))
})
