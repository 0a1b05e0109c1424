/** The server that webhooks are relayed to, in the hands of a test. */
import { Effect } from "effect"
import { createServer } from "node:http"

/** A request as it came, answered or not. */
export interface Received {
  readonly key: string
  readonly body: string
}

/** Listens until the scope ends. `statusOf` decides each request, after so many taken; `undefined` lets its sender wait. */
export const makeDownstream = (statusOf: (request: Received, taken: number) => number | undefined) =>
  Effect.acquireRelease(
    Effect.callback<Downstream>((resume) => {
      const received: Array<Received> = []
      const taken: Array<Received> = []
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => {
          body += text
        }).on("end", () => {
          const one = { key: String(request.headers["idempotency-key"]), body }
          received.push(one)
          const status = statusOf(one, taken.length)
          if (status === undefined) return
          if (status < 300) taken.push(one)
          response.writeHead(status).end()
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" ? address?.port : undefined
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/hooks`, received, taken, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

export interface Downstream {
  readonly url: string
  /** All requests, in the order in which they came. */
  readonly received: ReadonlyArray<Received>
  /** Those that were answered with success. */
  readonly taken: ReadonlyArray<Received>
  readonly close: () => void
}
