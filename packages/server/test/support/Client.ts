/** A plain node client: bytes out, bytes in, nothing added. */
import { Effect } from "effect"
import * as Http from "node:http"
import * as Net from "node:net"

export interface Answer {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly body: Buffer
}

export interface Call {
  readonly method?: string
  readonly headers?: Http.OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** The body in pieces, as separate writes. */
  readonly pieces?: ReadonlyArray<Uint8Array>
}

/** One request on its own connection. */
export const call = (port: number, path: string, options: Call = {}): Effect.Effect<Answer> =>
  Effect.callback<Answer>((resume) => {
    const request = Http.request(
      { host: "127.0.0.1", port, path, method: options.method ?? "GET", headers: { ...options.headers }, agent: false },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on(
          "end",
          () =>
            resume(
              Effect.succeed({
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: Buffer.concat(chunks)
              })
            )
        )
      }
    )
    request.on("error", (error) => resume(Effect.die(error)))
    for (const piece of options.pieces ?? []) request.write(piece)
    request.end(options.body)
    return Effect.sync(() => request.destroy())
  })

/** The body as JSON. */
export const json = (answer: Answer) => JSON.parse(answer.body.toString("utf8"))

export const append = (port: number, contentType: string, body: string | Uint8Array, query = "", stream = "orders") =>
  call(port, `/v1/streams/${stream}/records${query}`, {
    method: "POST",
    headers: { "content-type": contentType },
    body
  })

/** A raw connection: what was received so far, and the end of it. */
export interface Raw {
  readonly write: (data: string | Uint8Array) => boolean
  /** Completes when the received text holds `text`. */
  readonly until: (text: string) => Effect.Effect<string>
  /** Completes with all that was received when the other side has closed. */
  readonly closed: Effect.Effect<string>
  readonly socket: Net.Socket
}

export const connect = (port: number): Effect.Effect<Raw> =>
  Effect.callback<Raw>((resume) => {
    const socket = Net.connect(port, "127.0.0.1")
    let received = ""
    let closed = false
    const watchers = new Set<() => void>()
    const wake = () => {
      for (const watcher of watchers) watcher()
    }
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      wake()
    })
    socket.on("close", () => {
      closed = true
      wake()
    })
    // A server that refuses closes while we still write.
    socket.on("error", () => {})
    const waitFor = (done: () => boolean) =>
      Effect.callback<string>((resumeWait) => {
        const check = () => {
          if (!done()) return
          watchers.delete(check)
          resumeWait(Effect.succeed(received))
        }
        watchers.add(check)
        check()
      })
    socket.on("connect", () =>
      resume(Effect.succeed({
        write: (data) => socket.write(data),
        until: (text) => waitFor(() => received.includes(text)),
        closed: waitFor(() => closed),
        socket
      })))
  })
