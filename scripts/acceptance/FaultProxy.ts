/**
 * A proxy on loopback between a server and a real S3 server that cuts, delays, swallows and refuses, and lets requests
 * through long after their client has gone. Bytes are never changed, so signatures stay valid and what the store does is
 * its own. The weather says how often.
 */
import type { ServerResponse } from "node:http"
import { chooseFault, type FaultKind, type Weather } from "./FaultPlan.ts"
import { pause, type Run } from "./Run.ts"
import { listenFor, relay, type StoreAnswer, StoreLink, type StoreRequest } from "./StoreLink.ts"

/** One new connection in so many is cut at once while the weather is not calm. */
const refusedOneIn = 25

/** Longest pause of a request that is only slow, shortest of one that is too late, longest of any, milliseconds. */
export interface Delays {
  readonly deadlineMillis: number
  readonly longestMillis: number
}

type Page = Pick<StoreAnswer, "status" | "headers" | "body">

const page = (status: number, contentType: string, body: string): Page => ({
  status,
  headers: { "content-type": contentType, "content-length": String(Buffer.byteLength(body)) },
  body: Buffer.from(body)
})

const xml = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>by the proxy</Message></Error>`

const html = (title: string) => `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`

/** What load balancers and stores answer instead of an answer. */
const refusals: ReadonlyArray<Page> = [
  page(503, "application/xml", xml("SlowDown")),
  page(500, "application/xml", xml("InternalError")),
  page(503, "text/html", html("503 Service Unavailable")),
  page(502, "text/html", html("502 Bad Gateway")),
  page(504, "text/html", html("504 Gateway Time-out")),
  page(500, "text/plain", ""),
  page(503, "application/xml", "")
]

const throttlings: ReadonlyArray<Page> = [
  page(429, "application/xml", xml("TooManyRequests")),
  page(429, "text/plain", "")
]

export class FaultProxy {
  url = ""
  weather: Weather = "calm"
  /** Requests that came in, and those that met a fault. */
  requests = 0
  readonly counts: Record<FaultKind | "refused", number>
  private readonly store: StoreLink
  private readonly chance: () => number
  private readonly delays: Delays

  constructor(target: string, chance: () => number, delays: Delays) {
    this.store = new StoreLink(target)
    this.chance = chance
    this.delays = delays
    const none = { refused: 0, cutBefore: 0, cutRequestBody: 0, cutAnswerBody: 0, cutAfter: 0, delayed: 0 }
    this.counts = {
      ...none,
      delayedBeyondDeadline: 0,
      dropped: 0,
      ghosts: 0,
      answered5xx: 0,
      answered5xxApplied: 0,
      answered429: 0
    }
  }

  /** Listens until the end of the run. */
  async listen(run: Run): Promise<void> {
    run.atEnd(() => this.store.close())
    const { server, url } = await listenFor(run, (request, answer) => void this.receive(request, answer))
    this.url = url
    server.on("connection", (socket) => {
      if (this.weather === "calm" || this.chance() >= 1 / refusedOneIn) return
      this.counts.refused++
      socket.destroy()
    })
  }

  private pick<A>(some: ReadonlyArray<A>): A | undefined {
    return some[Math.floor(this.chance() * some.length)]
  }

  private between(from: number, to: number): number {
    return from + this.chance() * (to - from)
  }

  private async receive(request: StoreRequest, answer: ServerResponse): Promise<void> {
    this.requests++
    const changes = request.method === "PUT" || request.method === "POST" || request.method === "DELETE"
    const fault = chooseFault(this.chance, this.weather, { changes, bodyBytes: request.body.length })
    if (fault !== undefined) this.counts[fault]++
    try {
      if (fault === undefined) relay(answer, await this.store.forward(request))
      else await this.spoil(fault, request, answer)
    } catch {
      // The store is away, or the client is.
      answer.destroy()
    }
  }

  private async spoil(fault: FaultKind, request: StoreRequest, answer: ServerResponse): Promise<void> {
    const { deadlineMillis, longestMillis } = this.delays
    switch (fault) {
      case "cutBefore":
        answer.destroy()
        return
      case "cutRequestBody":
        this.store.forwardHalf(request)
        answer.destroy()
        return
      case "cutAnswerBody":
        this.relayHalf(answer, await this.store.forward(request))
        return
      case "cutAfter":
        await this.store.forward(request)
        answer.destroy()
        return
      case "delayed":
        await pause(this.between(10, deadlineMillis * 0.8))
        relay(answer, await this.store.forward(request))
        return
      case "delayedBeyondDeadline":
        await pause(this.between(deadlineMillis * 1.1, longestMillis))
        relay(answer, await this.store.forward(request))
        return
      case "dropped":
        return
      case "ghosts":
        answer.destroy()
        await pause(this.between(100, longestMillis))
        await this.store.forward(request)
        return
      case "answered5xxApplied":
        await this.store.forward(request)
        this.refuse(answer, refusals)
        return
      case "answered5xx":
        this.refuse(answer, refusals)
        return
      case "answered429":
        this.refuse(answer, throttlings)
    }
  }

  private refuse(answer: ServerResponse, pages: ReadonlyArray<Page>): void {
    const chosen = this.pick(pages)
    if (chosen !== undefined) relay(answer, chosen)
  }

  /** The head and half of the body; where there is no body, nothing. */
  private relayHalf(answer: ServerResponse, { body, headers, status }: StoreAnswer): void {
    if (body.length < 2) {
      answer.destroy()
      return
    }
    answer.writeHead(status, headers)
    answer.write(body.subarray(0, Math.floor(body.length / 2)), () => answer.destroy())
  }
}
