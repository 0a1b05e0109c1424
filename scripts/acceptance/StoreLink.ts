/** Requests to a real S3 server as they came in, byte for byte: host and headers stay, as they are signed. */
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as send,
  type Server,
  type ServerResponse
} from "node:http"
import type { Run } from "./Run.ts"

/** A request that has arrived whole. */
export interface StoreRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** An answer that has arrived whole. */
export interface StoreAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const bodyOf = (message: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    message.on("data", (chunk: Buffer) => chunks.push(chunk))
    message.on("error", reject)
    message.on("aborted", () => reject(new Error("cut off")))
    message.on("end", () => resolve(Buffer.concat(chunks)))
  })

export class StoreLink {
  private readonly target: URL
  private readonly agent = new Agent({ keepAlive: true })

  constructor(target: string) {
    this.target = new URL(target)
  }

  /** Passes a request on; fails when the connection does. */
  forward(request: StoreRequest): Promise<StoreAnswer> {
    return new Promise((resolve, reject) => {
      const onward = this.open(request, (response) => {
        bodyOf(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          reject
        )
      })
      onward.on("error", reject)
      onward.end(request.body)
    })
  }

  /** Passes on what stands before the middle of the body, and cuts the connection there. */
  forwardHalf(request: StoreRequest): void {
    const onward = this.open(request, (response) => response.resume())
    onward.on("error", () => undefined)
    onward.write(request.body.subarray(0, Math.floor(request.body.length / 2)), () => onward.destroy())
  }

  close(): void {
    this.agent.destroy()
  }

  private open({ headers, method, path }: StoreRequest, onAnswer: (response: IncomingMessage) => void) {
    const { hostname, port } = this.target
    return send({ agent: this.agent, host: hostname, port, method, path, headers }, onAnswer)
  }
}

/** Listens on loopback until the end of the run, and hands on each request that has arrived whole; answers the URL. */
export const listenFor = async (
  run: Run,
  onRequest: (request: StoreRequest, answer: ServerResponse) => void
): Promise<{ readonly url: string; readonly server: Server }> => {
  const server = createServer((incoming, answer) => {
    const { headers, method = "GET", url: path = "/" } = incoming
    bodyOf(incoming).then((body) => onRequest({ method, path, headers, body }, answer), () => answer.destroy())
  })
  server.keepAliveTimeout = 0
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  run.atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the proxy has no port")
  return { url: `http://127.0.0.1:${address.port}`, server }
}

/** Answers as the store did. */
export const relay = (answer: ServerResponse, { body, headers, status }: StoreAnswer): void => {
  answer.writeHead(status, headers)
  answer.end(body)
}
