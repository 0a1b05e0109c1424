/** Reading from a server that is still opening the stream: where the stream ends is known only once it is open. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { run } from "./InProcess.ts"

const record = (seq: number): string => `{"seq":${seq},"appended_at":1,"payload":${seq}}`

/** A server whose stream has three records, and opens at the second request for records. */
const opening = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    let reads = 0
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", "http://wal.test")
      const send = (status: number, body: unknown) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
      }
      const isOpen = reads >= 2
      if (!url.pathname.endsWith("/records")) {
        return send(200, {
          id: "orders",
          state: isOpen ? "open" : "opening",
          ...isOpen ? { epoch: 1, durable: 3 } : {}
        })
      }
      if (++reads < 2) {
        return send(503, {
          error: { code: "stream_opening", message: "opening", data: "not-durable", retryable: true }
        })
      }
      const from = Number(url.searchParams.get("from") ?? 1)
      const seqs = [1, 2, 3].filter((seq) => seq >= from)
      if (request.headers.accept === "text/event-stream") {
        response.writeHead(200, { "content-type": "text/event-stream" })
        // The tail's own record comes once it is there.
        for (const seq of [...seqs, 4]) response.write(`id: ${seq}\ndata: ${record(seq)}\n\n`)
        return
      }
      response.writeHead(200, { "content-type": "application/x-ndjson", "wal-next": "4" })
        .end(seqs.map((seq) => `${record(seq)}\n`).join(""))
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

describe("of a stream that is being opened", () => {
  const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, seqs: ReadonlyArray<number>]> = [
    [["cat", "--last", "1"], [3]],
    [["cat"], [1, 2, 3]],
    [["tail", "--limit", "1"], [4]],
    [["tail", "--last", "1", "--limit", "2"], [3, 4]],
    [["tail", "--from", "2", "--limit", "2"], [2, 3]]
  ]
  for (const [args, seqs] of cases) {
    it.live(`${args.join(" ")} waits until it is open, and starts where it should`, () =>
      Effect.gen(function*() {
        const { url } = yield* opening
        const { code, err, text } = yield* run([...args, "--stream", "orders", "--url", url])
        assert.strictEqual(code, 0, err)
        assert.strictEqual(text, seqs.map((seq) => `${record(seq)}\n`).join(""))
      }))
  }
})
