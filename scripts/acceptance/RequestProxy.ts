/** A proxy on loopback in front of an S3 server that passes everything on and counts it: the store's own view. */
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http"
import type { Run } from "./Run.ts"

export type RequestKind = "PUT" | "GET" | "LIST" | "DELETE" | "HEAD" | "other"

export interface SeenRequest {
  readonly kind: RequestKind
  readonly path: string
  /** A throw-away object of the store probe, or a question about the set-up of the bucket. */
  readonly part: "protocol" | "probe" | "advice"
  readonly status: number
}

const kindOf = (method: string, url: URL, isBucket: boolean): RequestKind => {
  if (method === "POST" && url.searchParams.has("delete")) return "DELETE"
  if (method === "GET" && isBucket) return "LIST"
  return method === "PUT" || method === "GET" || method === "DELETE" || method === "HEAD" ? method : "other"
}

const partOf = (url: URL, body: Buffer): SeenRequest["part"] => {
  if (url.searchParams.has("lifecycle") || url.searchParams.has("versioning")) return "advice"
  return url.pathname.includes("/probe/") || url.searchParams.has("delete") && body.includes("/probe/")
    ? "probe"
    : "protocol"
}

export class RequestProxy {
  /** Every request that was answered, in the order of the answers. */
  readonly seen: Array<SeenRequest> = []
  url = ""
  private readonly target: URL
  private readonly agent = new Agent({ keepAlive: true })

  constructor(target: string) {
    this.target = new URL(target)
  }

  /** Listens until the end of the run. */
  async listen(run: Run): Promise<void> {
    const server = createServer((incoming, answer) => this.receive(incoming, answer))
    server.keepAliveTimeout = 0
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("the proxy has no port")
    this.url = `http://127.0.0.1:${address.port}`
    run.atEnd(() => {
      server.closeAllConnections()
      server.close()
      this.agent.destroy()
    })
  }

  private receive(incoming: IncomingMessage, answer: ServerResponse): void {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("error", () => undefined)
    incoming.on("end", () => this.passOn(incoming, Buffer.concat(chunks), answer))
  }

  /** Host and headers stay as they are: they are signed. */
  private passOn(incoming: IncomingMessage, body: Buffer, answer: ServerResponse): void {
    const { headers, method = "GET", url: path = "/" } = incoming
    const url = new URL(path, "http://store")
    const isBucket = url.pathname.split("/").filter((part) => part !== "").length <= 1
    const note = (status: number) =>
      this.seen.push({ kind: kindOf(method, url, isBucket), path, part: partOf(url, body), status })
    const { hostname, port } = this.target
    const onward = send({ agent: this.agent, host: hostname, port, method, path, headers }, (response) => {
      note(response.statusCode ?? 0)
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    onward.on("error", () => {
      note(0)
      answer.destroy()
    })
    onward.end(body)
  }
}

/** Requests of a kind among some. */
export const countKinds = (seen: ReadonlyArray<SeenRequest>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { kind } of seen) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
