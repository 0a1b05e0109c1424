/** What the client of the bench `http` knows of answers, and where processes run. */
import { assert, describe, it } from "@effect/vitest"
import { coresIn } from "../src/http/Cores.ts"
import { type Protocol, replyLengthOf } from "../src/http/Replies.ts"

const replies: Readonly<Record<Protocol, string>> = {
  http: "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  redis: "$15\r\n1700000000000-0\r\n",
  nats: "PING\r\nMSG inbox.1 1  25\r\n{\"stream\":\"LOG\", \"seq\":1}\r\n"
}

describe("the end of an answer", () => {
  for (const protocol of ["http", "redis", "nats"] as const) {
    it(`is found in ${protocol}, once all of it is there, whatever follows`, () => {
      const whole = replies[protocol]
      const lengthOf = replyLengthOf(protocol)
      for (let length = 1; length < whole.length; length++) {
        assert.strictEqual(lengthOf(Buffer.from(whole.slice(0, length))), 0, whole.slice(0, length))
      }
      assert.strictEqual(lengthOf(Buffer.from(whole)), whole.length)
      assert.strictEqual(lengthOf(Buffer.from(whole + whole)), whole.length)
    })
  }

  it("is not looked for in answers of another kind", () => {
    assert.throws(() => replyLengthOf("http")(Buffer.from("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")))
    assert.throws(() => replyLengthOf("redis")(Buffer.from("-ERR no\r\n")))
    assert.throws(() => replyLengthOf("nats")(Buffer.from("-ERR 'no'\r\n")))
  })
})

describe("the cores of a process", () => {
  it("are read as the kernel lists them", () => {
    assert.deepStrictEqual(coresIn("0-2,5\n"), [0, 1, 2, 5])
    assert.deepStrictEqual(coresIn("3"), [3])
    assert.deepStrictEqual(coresIn(""), [])
  })
})
