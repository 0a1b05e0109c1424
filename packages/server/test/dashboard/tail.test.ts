/** The live tail and the token in a real browser: what is hostile stays text, what is secret stays in the tab. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { TokenSettings } from "../../src/Settings.ts"
import { append, call } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { chromiumPath } from "./Browser.ts"
import { overflow } from "./inPage.ts"
import { hangMillis, openPage } from "./TestPage.ts"

const ndjson = "application/x-ndjson"

const addressOf = (port: number) => `http://127.0.0.1:${port}/`

const mebibyte = 1_048_576

/** A key, a header and a payload that try to be markup. */
const hostile = (port: number) =>
  append(
    port,
    "application/json",
    JSON.stringify({
      records: [{
        payload: { text: "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'>" },
        key: "<b>key</b>\u202egnp.exe",
        headers: { "<i>name</i>": "\"><svg onload=window.hit=3>" }
      }]
    })
  )

describe.skipIf(chromiumPath === undefined)("the live tail", () => {
  it.live("shows records as they come, hostile ones as text", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* append(port, ndjson, "{\"n\":12345678901234567890}\n")
      const { complaints, evaluate, page, shows } = yield* openPage(addressOf(port))
      yield* shows("#positions", /Durable to1/)
      yield* Effect.promise(() => page.getByRole("button", { name: "Start" }).click())
      // The one from before, digit by digit as it was sent.
      yield* shows("#tail", "{\"n\":12345678901234567890}")
      yield* hostile(port)
      yield* shows("#tail", "<script>window.hit = 1</script>")
      yield* shows("#tail", "<b>key</b>\\u202egnp.exe")
      yield* Effect.promise(() => page.locator("#tail summary").first().click())
      yield* shows("#tail .record-more", "<i>name</i>")
      yield* append(port, "application/octet-stream", new Uint8Array([0, 1, 2, 255, 254]))
      yield* shows("#tail", "binary 00 01 02 ff fe")
      yield* append(port, "application/octet-stream", "plain\ntext \u202e\u2066 with marks \u00e9")
      yield* shows("#tail", "plain\ntext \\u202e\\u2066 with marks é")
      assert.strictEqual(yield* evaluate("window.hit"), undefined)
      assert.strictEqual(
        yield* evaluate("document.querySelectorAll('#tail script, #tail img, #tail b, #tail svg').length"),
        0
      )
      assert.deepStrictEqual(yield* evaluate(overflow), [])
      assert.deepStrictEqual(complaints, [])
    }), hangMillis)

  it.live(
    "shows a record whose headers have the name of a payload, and one with more headers than it keeps",
    () =>
      Effect.gen(function*() {
        const { port } = yield* startServer()
        const { complaints, evaluate, page, shows } = yield* openPage(addressOf(port))
        yield* shows("#tiles", "At risk now")
        yield* Effect.promise(() => page.getByRole("button", { name: "Start" }).click())
        yield* shows("#tail-note", "Live")
        const headers = { a: "1", payload: "2", payload_base64: "3" }
        yield* append(port, "application/json", JSON.stringify({ records: [{ payload: "the true one", headers }] }))
        yield* shows("#tail .record-text", /^"the true one"$/)
        const long = { a: "x".repeat(70_000) }
        yield* append(port, "application/json", JSON.stringify({ records: [{ payload: "unseen", headers: long }] }))
        yield* append(port, ndjson, "\"after\"\n")
        yield* shows("#tail", "\"after\"")
        assert.strictEqual(yield* evaluate("document.querySelectorAll('#tail .record').length"), 3)
        yield* shows("#tail-note", "Live · 3 records")
        assert.deepStrictEqual(complaints, [])
      }),
    hangMillis
  )

  it.live("shows the head of records of 16 MiB, and what comes after them", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const { complaints, evaluate, page, shows } = yield* openPage(addressOf(port))
      yield* shows("#tiles", "At risk now")
      yield* Effect.promise(() => page.getByRole("button", { name: "Start" }).click())
      yield* shows("#tail-note", "Live")
      // The bound of a record counts what is around the payload too.
      const bytes = 16 * mebibyte - 1_024
      assert.strictEqual((yield* append(port, "application/octet-stream", new Uint8Array(bytes))).status, 200)
      yield* shows("#tail", "binary 00 00 00")
      yield* shows("#tail .record-size", "16.8 MB")
      assert.strictEqual((yield* append(port, ndjson, `"${"x".repeat(bytes - 2)}"\n`)).status, 200)
      yield* append(port, ndjson, "\"after\"\n")
      yield* shows("#tail", "\"after\"")
      assert.strictEqual(yield* evaluate("document.querySelectorAll('#tail .record').length"), 3)
      assert.isBelow(Number(yield* evaluate("document.getElementById('tail').textContent.length")), 10_000)
      assert.deepStrictEqual(complaints, [])
    }), hangMillis)

  it.live("keeps the newest of many, and stops when told to", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const { evaluate, page, shows } = yield* openPage(addressOf(port))
      yield* shows("#tiles", "At risk now")
      yield* Effect.promise(() => page.getByRole("button", { name: "Start" }).click())
      yield* shows("#tail-note", "Live")
      yield* append(port, ndjson, Array.from({ length: 3_000 }, (_, index) => `${index}\n`).join(""))
      yield* shows("#tail .record-seq", "3,000")
      assert.strictEqual(yield* evaluate("document.querySelectorAll('#tail .record').length"), 100)
      yield* Effect.promise(() => page.keyboard.press("t"))
      yield* shows("#tail-note", "Stopped")
      yield* append(port, ndjson, "\"unseen\"\n")
      yield* shows("#positions", /Durable to3,001/)
      assert.notInclude(String(yield* evaluate("document.getElementById('tail').textContent")), "unseen")
      // It goes on where it was.
      yield* Effect.promise(() => page.keyboard.press("t"))
      yield* shows("#tail", "\"unseen\"")
    }), hangMillis)
})

const token: TokenSettings = {
  id: "reader",
  secret: { sha256: createHash("sha256").update("a-good-token").digest("hex") },
  scopes: ["read"]
}

const writer: TokenSettings = {
  id: "writer",
  secret: { sha256: createHash("sha256").update("a-writer").digest("hex") },
  scopes: ["write"]
}

describe.skipIf(chromiumPath === undefined)("the token", () => {
  it.live(
    "is asked for, refused in words, kept in the tab alone, and forgotten on demand",
    () =>
      Effect.gen(function*() {
        const { port } = yield* startServer({ tokens: [token, writer] })
        const { evaluate, gone, page, shows, there } = yield* openPage(addressOf(port))
        const addresses: Array<string> = []
        page.on("request", (request) => addresses.push(request.url()))
        const enter = (text: string) =>
          Effect.promise(() => page.getByLabel("Token", { exact: true }).fill(text)).pipe(
            Effect.andThen(Effect.promise(() => page.keyboard.press("Enter")))
          )
        yield* there("#token-dialog")
        yield* shows("#connection", "Token needed")
        yield* enter("a-wrong-token")
        yield* shows("#token-why", "does not know this token")
        yield* enter("a-writer")
        yield* shows("#token-why", "has not the scope read")
        yield* enter("a-good-token")
        yield* shows("#connection", "Live")
        yield* shows("#stream-name", "orders")
        yield* Effect.promise(() => page.getByRole("button", { name: "Start" }).click())
        yield* shows("#tail-note", "Live")
        yield* Effect.promise(() => page.reload())
        yield* shows("#connection", "Live")
        assert.strictEqual(yield* evaluate("JSON.stringify(localStorage).includes('a-good')"), false)
        assert.strictEqual(yield* evaluate("document.cookie"), "")
        assert.isFalse(addresses.some((address) => address.includes("token")))
        yield* Effect.promise(() => page.getByRole("button", { name: "Forget token" }).click())
        yield* there("#token-dialog")
        yield* gone("#stream")
        assert.strictEqual(yield* evaluate("sessionStorage.length"), 0)
        assert.strictEqual((yield* call(port, "/v1/dashboard")).status, 401)
      }),
    hangMillis
  )
})
