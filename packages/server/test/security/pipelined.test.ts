/** Requests on one connection of which a later one is no HTTP: no answer is taken for that of another request. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { until } from "../support/Wait.ts"
import { readAnswers } from "./HttpAnswers.ts"

const append = (body: string) =>
  "POST /v1/streams/orders/records HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\n" +
  `content-length: ${body.length}\r\n\r\n${body}`

describe("a request that is still being stored, with something behind it that is no HTTP", () => {
  it.effect("gets its own answer, the connection ends, and nothing behind it is done", () =>
    Effect.gen(function*() {
      for (
        const rest of [
          "\u0000".repeat(20),
          "GET / HTTP/1.1\r\nno-colon\r\n",
          "POST / HTTP/1.1\r\ncontent-length: x\r\n"
        ]
      ) {
        const { log, port } = yield* startServer()
        yield* log.hold
        const raw = yield* connect(port)
        raw.write(`${append("1\n")}${rest}\r\n\r\n${append("2\n")}`)
        yield* until(() => log.records.length === 1)
        yield* log.release
        const { answers, problem } = readAnswers(Buffer.from(yield* raw.closed, "latin1"))
        assert.isUndefined(problem)
        assert.deepStrictEqual(answers.map(({ status }) => status), [200])
        assert.include(answers[0]?.body.toString(), "\"first_seq\":1,")
        assert.strictEqual(log.records.length, 1)
      }
    }))
})
