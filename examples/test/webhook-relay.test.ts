import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { makeDownstream } from "./support/Downstream.ts"
import { example, start, until } from "./support/Examples.ts"

const hookOf = (index: number): string => JSON.stringify({ event: "paid", index })
const hooks = (count: number) => Array.from({ length: count }, (_, index) => hookOf(index))

/** The relay, listening. */
const startRelay = Effect.fnUntraced(function*(cwd: string, url: string, env: Readonly<Record<string, string>> = {}) {
  const program = yield* start("webhook-relay", { cwd, env: { PORT: "0", DOWNSTREAM_URL: url, ...env } })
  const line = /Listening on (http:\/\/127\.0\.0\.1:\d+)/
  yield* program.until("Listening on http://127.0.0.1:")
  const address = line.exec(program.output())?.[1]
  const post = (body: string) =>
    Effect.promise(() => fetch(`${address}/hooks`, { method: "POST", body }).then((answer) => answer.status))
  return { ...program, post }
})

const unique = (values: Iterable<string>): ReadonlyArray<string> => [...new Set(values)].toSorted()

describe("webhook-relay", () => {
  example("relays all that it has answered, although it is killed again and again", (cwd) =>
    Effect.gen(function*() {
      const count = 40
      // Away at first; then it takes five and answers no more; then it is well.
      let phase: "away" | "stuck" | "well" = "away"
      const downstream = yield* makeDownstream((_, taken) =>
        phase === "away" ? 503 : phase === "well" || taken < 5 ? 204 : undefined
      )
      const first = yield* startRelay(cwd, downstream.url)
      const statuses = yield* Effect.forEach(hooks(count), first.post, { concurrency: 10 })
      assert.deepStrictEqual(unique(statuses.map(String)), ["202"])
      yield* until(Effect.sync(() => downstream.received.length > 0))
      first.kill("SIGKILL")
      assert.strictEqual(yield* first.ended, "SIGKILL")
      assert.strictEqual(downstream.taken.length, 0)

      phase = "stuck"
      const before = downstream.received.length
      const second = yield* startRelay(cwd, downstream.url)
      yield* until(Effect.sync(() => downstream.received.length >= before + 6))
      second.kill("SIGKILL")
      yield* second.ended

      phase = "well"
      const third = yield* startRelay(cwd, downstream.url)
      yield* until(Effect.sync(() => unique(downstream.taken.map(({ body }) => body)).length === count))
      assert.deepStrictEqual(unique(downstream.taken.map(({ body }) => body)), hooks(count).toSorted())
      // One that comes twice says so: a hook has one key, whatever process relays it.
      assert.strictEqual(unique(downstream.received.map(({ body, key }) => `${key} ${body}`)).length, count)
      third.kill("SIGTERM")
      yield* third.ended
      assert.include(third.output(), "log hooks closed")
    }))

  example("tells who sends more than the log takes, and goes on", (cwd) =>
    Effect.gen(function*() {
      const downstream = yield* makeDownstream(() => 204)
      const relay = yield* startRelay(cwd, downstream.url)
      assert.deepStrictEqual(yield* Effect.forEach(["one", "x".repeat(17 << 20), "two"], relay.post), [202, 413, 202])
      yield* until(Effect.sync(() => downstream.taken.length === 2))
      assert.deepStrictEqual(unique(downstream.taken.map(({ body }) => body)), ["one", "two"])
    }))
})

describe("webhook-relay, to a server that refuses or never answers", () => {
  example("keeps apart what the other server refuses for good", (cwd) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const downstream = yield* makeDownstream(({ body }) => body.includes("bad") ? 400 : 204)
      // Nothing else makes the directory of the dead letters.
      const relay = yield* startRelay(cwd, downstream.url, { WAL_PATH: `${cwd}/log` })
      yield* Effect.forEach(["one", "bad", "two"], relay.post)
      const letters = `${cwd}/data/webhook-relay-dead.ndjson`
      yield* until(fs.exists(letters))
      yield* until(Effect.sync(() => downstream.taken.length === 2))
      yield* until(Effect.map(fs.readFileString(letters), (text) => text.endsWith("\n")))
      assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(letters)), {
        seq: 2,
        payload_base64: Buffer.from("bad").toString("base64")
      })
      assert.strictEqual(downstream.received.filter(({ body }) => body === "bad").length, 1)
    }))

  example("tries again what the other server calls too late or too early", (cwd) =>
    Effect.gen(function*() {
      const statuses = [408, 425, 429, 204]
      const downstream = yield* makeDownstream(() => statuses.shift())
      const relay = yield* startRelay(cwd, downstream.url)
      assert.strictEqual(yield* relay.post("one"), 202)
      yield* until(Effect.sync(() => downstream.taken.length === 1))
      assert.strictEqual(unique(downstream.received.map(({ key }) => key)).length, 1)
    }))

  example(
    "answers all who wait when it is stopped, although the other server never answers",
    (cwd) =>
      Effect.gen(function*() {
        const downstream = yield* makeDownstream(() => undefined)
        const relay = yield* startRelay(cwd, downstream.url)
        assert.strictEqual(yield* relay.post("one"), 202)
        yield* until(Effect.sync(() => downstream.received.length === 1))
        relay.kill("SIGTERM")
        // Before the signal arrives they are taken, from then on sent away: once the input has stopped, which gives its
        // handlers 10 s, and not when the server is tired of waiting, which takes 20 s more.
        yield* Effect.repeat(Effect.timeout(relay.post("two"), "20 seconds"), { until: (status) => status === 503 })
        yield* relay.ended
        assert.include(relay.output(), "log hooks closed")
      })
  )
})
