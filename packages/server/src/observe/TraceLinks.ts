/**
 * Which requests a segment carries, and which segments a manifest covers, as links between spans.
 *
 * One PUT serves many requests, so it cannot be the child of one of them. A request's numbers are known when its records are
 * accepted, those of a segment stand in its header: where they overlap, the span of the PUT gets a link to the request, and
 * the wait of the request gets one to the PUT. The body of a manifest names the number below which it covers everything.
 *
 * What waits for its PUT is bounded in each log; beyond that the oldest is forgotten and stays without a link.
 */
import type { Appended } from "@effect-wal/core/WalService"
import { Effect, Tracer } from "effect"

/** Requests of a log that are remembered until their PUT. */
const maxWaiting = 10_000

/** PUTs of a log that are remembered until a manifest covers them. */
const maxUncovered = 1_000

/** Links of a span; OpenTelemetry cuts off at 128. */
const maxLinks = 128

/** A request whose records were accepted. */
export interface Carried {
  readonly first: number
  readonly last: number
  readonly span: Tracer.AnySpan
  /** The PUT that holds its last record, once it was sent. */
  put: { readonly key: string; readonly span: Tracer.Span } | undefined
}

/** The records of a segment that is being sent. */
export interface Sent {
  readonly key: string
  readonly first: number
  readonly last: number
}

interface LogLinks {
  waiting: Array<Carried>
  uncovered: Array<{ readonly last: number; readonly span: Tracer.Span }>
  /** Keys that got their links; a PUT is sent again until its answer is definite. */
  newestKey: string
}

const linkTo = (span: Tracer.AnySpan, kind: string): Tracer.SpanLink => ({ span, attributes: { "wal.link": kind } })

/** The links of a server that traces; `undefined` where nothing is traced. */
export const traceLinks: Effect.Effect<TraceLinks | undefined> = Effect.map(
  Effect.context<never>(),
  (context) => context.mapUnsafe.has(Tracer.Tracer.key) ? new TraceLinks() : undefined
)

/** The links of all logs of a server, by the id that each log has. */
export class TraceLinks {
  private readonly logs = new Map<string, LogLinks>()

  private of(logId: string): LogLinks {
    const found = this.logs.get(logId)
    if (found !== undefined) return found
    const made: LogLinks = { waiting: [], uncovered: [], newestKey: "" }
    this.logs.set(logId, made)
    return made
  }

  /** The records of a request were accepted under these numbers. */
  accepted(logId: string, { first, last }: Appended, span: Tracer.AnySpan): Carried {
    const carried: Carried = { first, last, span, put: undefined }
    const { waiting } = this.of(logId)
    waiting.push(carried)
    if (waiting.length > maxWaiting) waiting.shift()
    return carried
  }

  /** A segment is sent within `span`; keys of a log ascend, so one that is not newer is sent again. */
  sent(logId: string, { first, key, last }: Sent, span: Tracer.Span): void {
    const links = this.of(logId)
    const carried = links.waiting.filter((each) => each.first <= last && each.last >= first)
    for (const each of carried) {
      if (each.last <= last) each.put = { key, span }
    }
    links.waiting = links.waiting.filter((each) => each.last > last)
    if (carried.length > 0) span.attribute("wal.requests", carried.length)
    span.addLinks(carried.slice(0, maxLinks).map((each) => linkTo(each.span, "request")))
    if (key <= links.newestKey) return
    links.newestKey = key
    links.uncovered.push({ last, span })
    if (links.uncovered.length > maxUncovered) links.uncovered.shift()
  }

  /** A manifest is written within `span` that covers everything up to `seq`. */
  covered(logId: string, seq: number, span: Tracer.Span): void {
    const links = this.of(logId)
    const covered = links.uncovered.filter(({ last }) => last <= seq)
    links.uncovered = links.uncovered.filter(({ last }) => last > seq)
    span.addLinks(covered.slice(-maxLinks).map((each) => linkTo(each.span, "segment")))
  }
}
