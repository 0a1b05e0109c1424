/** A proxy on loopback in front of an S3 server that passes everything on and counts it: the store's own view. */
import type { ServerResponse } from "node:http"
import type { Run } from "./Run.ts"
import { listenFor, relay, StoreLink, type StoreRequest } from "./StoreLink.ts"

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
  private readonly store: StoreLink

  constructor(target: string) {
    this.store = new StoreLink(target)
  }

  /** Listens until the end of the run. */
  async listen(run: Run): Promise<void> {
    run.atEnd(() => this.store.close())
    const { url } = await listenFor(run, (request, answer) => void this.passOn(request, answer))
    this.url = url
  }

  private async passOn(request: StoreRequest, answer: ServerResponse): Promise<void> {
    const { body, method, path } = request
    const url = new URL(path, "http://store")
    const isBucket = url.pathname.split("/").filter((part) => part !== "").length <= 1
    const note = (status: number) =>
      this.seen.push({ kind: kindOf(method, url, isBucket), path, part: partOf(url, body), status })
    try {
      const answered = await this.store.forward(request)
      note(answered.status)
      relay(answer, answered)
    } catch {
      note(0)
      answer.destroy()
    }
  }
}

/** Requests of a kind among some. */
export const countKinds = (seen: ReadonlyArray<SeenRequest>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { kind } of seen) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
