/** Reading over HTTP past what damage took away: refused by its name, or told and gone over, as the reader asks. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { append, call, connect, json } from "./support/Client.ts"
import { startServer, type TestServer } from "./support/TestServer.ts"

const path = "/v1/streams/orders/records"
const ndjson = "application/x-ndjson"

const segmentKeys = ({ log }: TestServer) => [...log.memory.objects.keys()].filter((key) => key.endsWith(".seg")).sort()

/** Four records, each in a segment of its own and none in memory; `harm` gets the keys of the segments. */
const damaged = Effect.fnUntraced(
  function*(harm: (server: TestServer, keys: ReadonlyArray<string>) => void) {
    const server = yield* startServer({ log: { tailBufferBytes: 0, retention: { policy: "keep" } } })
    for (const line of ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}", "{\"a\":4}"]) yield* append(server.port, ndjson, line)
    harm(server, segmentKeys(server))
    return server
  }
)

/** The body of the second segment is damaged and that of the third. */
const flipBodies = (server: TestServer, keys: ReadonlyArray<string>) => {
  for (const key of keys.slice(1, 3)) {
    server.log.memory.damage(key, (body) => body.fill(0xff, body.length - 4))
  }
}

const lost = (from: number, to: number, reason: string) => ({ lost: { from, to, reason } })

describe("damage", () => {
  it.effect("[predecessor 22] is an error by its name, and with on_damage=skip an element between the records", () =>
    Effect.gen(function*() {
      const server = yield* damaged(flipBodies)
      for (const query of ["", "?on_damage=fail"]) {
        const refused = yield* call(server.port, `${path}${query}`)
        assert.deepStrictEqual([refused.status, json(refused).error.code], [500, "segment_corrupt"])
        assert.strictEqual(json(refused).error.details.key, segmentKeys(server)[1])
      }
      const page = json(yield* call(server.port, `${path}?on_damage=skip`))
      const reason = page.records[1].lost.reason
      assert.include(reason, segmentKeys(server)[1])
      assert.deepStrictEqual(page, {
        records: [
          { seq: 1, appended_at: 0, payload: { a: 1 } },
          lost(2, 2, reason),
          lost(3, 3, page.records[2].lost.reason),
          { seq: 4, appended_at: 0, payload: { a: 4 } }
        ],
        next: 5
      })
      const lines = yield* call(server.port, `${path}?on_damage=skip`, { headers: { accept: ndjson } })
      assert.deepStrictEqual(
        lines.body.toString().trimEnd().split("\n").map((line) => JSON.parse(line)),
        page.records
      )
      // What is damaged keeps nobody from writing.
      assert.strictEqual((yield* append(server.port, ndjson, "{\"a\":5}")).status, 200)
    }))

  it.effect("[predecessor 22] pages go on behind a lost range, also where it is all that there is", () =>
    Effect.gen(function*() {
      const server = yield* damaged((one, keys) => {
        for (const key of keys.slice(1)) one.log.memory.damage(key, (body) => body.fill(0))
      })
      const first = json(yield* call(server.port, `${path}?on_damage=skip&limit=1`))
      assert.deepStrictEqual([first.records.length, first.next], [1, 2])
      const second = json(yield* call(server.port, `${path}?on_damage=skip&from=${first.next}`))
      assert.deepStrictEqual(second, { records: [lost(2, 4, second.records[0].lost.reason)], next: 5 })
      const lines = yield* call(server.port, `${path}?on_damage=skip&from=2&wait=1s`, { headers: { accept: ndjson } })
      assert.strictEqual(lines.headers["wal-next"], "5")
      const past = json(yield* call(server.port, `${path}?on_damage=skip&from=5`))
      assert.deepStrictEqual(past, { records: [], next: 5 })
    }))

  it.effect("[predecessor 22] is an event of its own in a live tail, which goes on after it", () =>
    Effect.gen(function*() {
      const server = yield* damaged(flipBodies)
      const tail = yield* connect(server.port)
      tail.write(`GET ${path}?from=1&on_damage=skip HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n`)
      const text = yield* tail.until("\"payload\":{\"a\":4}}\n\n")
      assert.include(text, "event: lost\nid: 2\ndata: {\"lost\":{\"from\":2,\"to\":2,")
      assert.notInclude(text, "event: error")
      const cut = yield* connect(server.port)
      cut.write(`GET ${path}?from=1 HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n`)
      assert.include(yield* cut.until("event: error"), "\"code\":\"segment_corrupt\"")
    }))

  it.effect("stands in the API document: the parameter, and the lost range among the elements of a page", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const document = json(yield* call(port, "/openapi.json"))
      const parameters = document.paths["/v1/streams/{stream}/records"].get.parameters
      const names = parameters.map(({ name }: { readonly name: string }) => name)
      assert.includeMembers(names, ["from", "limit", "on_damage"])
      assert.hasAllKeys(document.components.schemas.LostRange.properties, ["lost"])
    }))

  it.effect("refuses what on_damage does not know, and to leave a hole in plain bytes", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      for (
        const [query, accept] of [
          ["on_damage=ignore", "*/*"],
          ["on_damage=", "*/*"],
          ["on_damage=skip&on_damage=skip", "*/*"],
          ["on_damage=skip", "application/octet-stream"]
        ] as const
      ) {
        const answer = yield* call(port, `${path}?${query}`, { headers: { accept } })
        assert.deepStrictEqual([answer.status, json(answer).error.code], [400, "invalid_request"], query)
      }
    }))
})
