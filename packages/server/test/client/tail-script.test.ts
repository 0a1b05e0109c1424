/** Reads and live tails against a script: where they start again, what they drop, when they end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { advanceUntil } from "../support/Wait.ts"
import { answer, refusal, scripted } from "./ScriptedClient.ts"

const record = (seq: number, payload = `{"a": ${seq}.0}`) => `{"seq":${seq},"appended_at":5,"payload":${payload}}`
const event = (seq: number) => `id: ${seq}\ndata: ${record(seq)}\n\n`
const failed = (code: string, retryable: boolean) =>
  `event: error\ndata: ${JSON.stringify({ error: { code, message: code, data: "durable", retryable } })}\n\n`

const sse = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } })

/** A body that says this much, and then nothing. */
const stuck = (text: string) =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text))
    })
  )

const page = (lines: ReadonlyArray<string>, next: number) =>
  new Response(lines.map((line) => `${line}\n`).join(""), { headers: { "wal-next": String(next) } })

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const numbers = <E>(stream: Stream.Stream<{ readonly seq: number }, E>, count: number) =>
  Effect.flatMap(
    Effect.forkChild(Stream.runCollect(Stream.take(stream, count)), { startImmediately: true }),
    (fiber) => Effect.map(advanceUntil(fiber, "100 millis"), (records) => Array.from(records, ({ seq }) => seq))
  )

const ending = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.flatMap(
    Effect.forkChild(Effect.flip(Stream.runDrain(stream)), { startImmediately: true }),
    (fiber) => advanceUntil(fiber, "100 millis")
  )

describe("pages", () => {
  it.effect("give payloads byte for byte, whatever stands before them", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted([
        page([
          "{\"seq\":1,\"appended_at\":5,\"timestamp\":1.5,\"key\":\"\\\",\\\"payload\\\":\",\"headers\":{\"payload\":\"x\",\"a\":\"}\"},\"payload\":{\"n\" : 1.10}}",
          "{\"seq\":2,\"appended_at\":6,\"payload_base64\":\"AP8=\"}",
          record(3, "\"\u2028\""),
          "{\"lost\":{\"from\":4,\"to\":6,\"reason\":\"gone\"}}"
        ], 7)
      ])
      const { elements, next } = yield* client.readPage("orders", { onDamage: "skip" })
      assert.strictEqual(next, 7)
      const [first, second, third, lost] = elements
      assert.deepStrictEqual(lost, { _tag: "LostRange", from: 4, to: 6, reason: "gone" })
      assert.isTrue(first !== undefined && "payload" in first && text(first.payload) === "{\"n\" : 1.10}")
      assert.deepInclude(first, {
        seq: 1,
        appendedAt: 5,
        timestamp: 1.5,
        key: "\",\"payload\":",
        headers: { payload: "x", a: "}" }
      })
      assert.deepStrictEqual(second, { seq: 2, appendedAt: 6, payload: new Uint8Array([0, 255]) })
      assert.isTrue(third !== undefined && "payload" in third && text(third.payload) === "\"\u2028\"")
    }))

  it.effect("that hold anything else are refused", () =>
    Effect.gen(function*() {
      for (
        const line of ["", "1", "{}", "{\"seq\":1}", "{\"seq\":1,\"appended_at\":1}", "{\"lost\":1}", record(1, "{")]
      ) {
        const { client } = yield* scripted([page([line], 2)])
        assert.strictEqual((yield* Effect.flip(client.readPage("orders"))).reason._tag, "UnexpectedAnswer", line)
      }
      const { client } = yield* scripted([new Response(record(1))])
      assert.strictEqual((yield* Effect.flip(client.readPage("orders"))).reason._tag, "UnexpectedAnswer")
    }))

  it.effect("follow each other until one is empty", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([page([record(3), record(4)], 5), page([record(5)], 6), page([], 6)])
      const records = yield* Stream.runCollect(client.read("orders", { from: { appendedAtMillis: 9 }, pageSize: 2 }))
      assert.deepStrictEqual(Array.from(records, ({ seq }) => seq), [3, 4, 5])
      assert.deepStrictEqual(asked.map(({ path }) => path.split("?")[1]), [
        "from_time=9&limit=2",
        "from=5&limit=2",
        "from=6&limit=2"
      ])
    }))
})

describe("a live tail", () => {
  it.effect("goes on behind the last record after every end but the last, and drops what it has had", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([
        sse(`: open\n\n${event(4)}${event(5)}`),
        "no answer",
        refusal(503, "stream_opening"),
        sse(`: open\n\n${failed("store_unavailable", true)}`),
        sse(`: open\n\n${event(4)}${event(5)}${event(6)}`),
        sse(": open\n\n"),
        stuck(`: open\n\n${event(7)}`)
      ])
      assert.deepStrictEqual(yield* numbers(client.tail("orders", { from: 4 }), 4), [4, 5, 6, 7])
      assert.deepStrictEqual(asked.map(({ headers }) => headers["last-event-id"]), [
        undefined,
        "5",
        "5",
        "5",
        "5",
        "6",
        "6"
      ])
      assert.strictEqual(asked[0]?.headers["accept"], "text/event-stream")
      assert.isTrue(asked.every(({ path }) => path.endsWith("?from=4")))
    }))

  it.effect("without a start begins behind what is durable then, also when its first connection brings nothing", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([
        answer({ id: "orders", state: "opening" }),
        refusal(503, "stream_opening"),
        answer({ id: "orders", state: "open", epoch: 1, durable: 9 }),
        "no answer",
        sse(`: open\n\n`),
        sse(event(10))
      ])
      assert.deepStrictEqual(yield* numbers(client.tail("orders"), 1), [10])
      assert.deepStrictEqual(asked.slice(3).map(({ path }) => path.split("?")[1]), ["from=10", "from=10", "from=10"])
    }))

  it.effect("takes silence for a dead connection", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([stuck(event(1)), sse(event(2))])
      assert.deepStrictEqual(yield* numbers(client.tail("orders", { from: 1 }), 2), [1, 2])
      assert.isAtLeast(asked[1]?.atMillis ?? 0, 45_000)
    }))

  it.effect("ends with what does not pass", () =>
    Effect.gen(function*() {
      for (const code of ["fenced", "trimmed"] as const) {
        const inside = yield* scripted([sse(`${event(1)}${failed(code, false)}`)])
        const error = yield* ending(inside.client.tail("orders", { from: 1 }))
        assert.deepStrictEqual([error.reason._tag, error.status], [code, code === "fenced" ? 409 : 410])
        const before = yield* scripted([refusal(code === "fenced" ? 409 : 410, code, { retryable: false })])
        assert.strictEqual((yield* ending(before.client.tail("orders", { from: 1 }))).reason._tag, code)
      }
      const closed = yield* scripted([refusal(401, "unauthorized", { retryable: false })])
      assert.strictEqual((yield* ending(closed.client.tail("orders", { from: 1 }))).reason._tag, "unauthorized")
    }))

  it.effect("ends after as many vain tries as it may make, and counts anew after each record", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([
        "no answer",
        "no answer",
        sse(event(1)),
        "no answer",
        "no answer"
      ])
      const error = yield* ending(client.tail("orders", { from: 1, retry: { times: 2 } }))
      assert.deepStrictEqual([error.reason._tag, asked.length], ["ConnectionFailed", 5])
    }))

  it.effect("tells of lost ranges where they are asked for, and goes on behind them", () =>
    Effect.gen(function*() {
      const lost = "event: lost\nid: 6\ndata: {\"lost\":{\"from\":2,\"to\":6,\"reason\":\"gone\"}}\n\n"
      const { asked, client } = yield* scripted([sse(`${event(1)}${lost}`), sse(event(7))])
      const fiber = yield* Effect.forkChild(
        Stream.runCollect(Stream.take(client.tail("orders", { from: 1, onDamage: "skip" }), 3)),
        { startImmediately: true }
      )
      const elements = yield* advanceUntil(fiber, "100 millis")
      assert.deepStrictEqual(Array.from(elements)[1], { _tag: "LostRange", from: 2, to: 6, reason: "gone" })
      assert.strictEqual(asked[1]?.headers["last-event-id"], "6")
    }))

  it.effect("asks for nothing more once nobody listens", () =>
    Effect.gen(function*() {
      const { asked, client } = yield* scripted([sse(event(1))])
      const fiber = yield* Effect.forkChild(Stream.runDrain(client.tail("orders", { from: 1 })), {
        startImmediately: true
      })
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 hour")
      assert.isAtMost(asked.length, 1)
    }))
})
