/** An OTLP collector in this process: it takes JSON over HTTP and keeps every span. */
import { Effect, Schema } from "effect"
import * as Http from "node:http"

const Value = Schema.Struct({
  stringValue: Schema.optionalKey(Schema.String),
  intValue: Schema.optionalKey(Schema.Union([Schema.String, Schema.Number])),
  doubleValue: Schema.optionalKey(Schema.Number),
  boolValue: Schema.optionalKey(Schema.Boolean)
})
const Attributes = Schema.Array(Schema.Struct({ key: Schema.String, value: Value }))
const Span = Schema.Struct({
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: Schema.optionalKey(Schema.String),
  name: Schema.String,
  kind: Schema.Number,
  attributes: Attributes,
  links: Schema.Array(Schema.Struct({ traceId: Schema.String, spanId: Schema.String, attributes: Attributes }))
})
const Traces = Schema.Struct({
  resourceSpans: Schema.Array(Schema.Struct({
    resource: Schema.Struct({ attributes: Attributes }),
    scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) }))
  }))
})
const decodeTraces = Schema.decodeUnknownSync(Schema.fromJsonString(Traces))

export type Span = typeof Span.Type

export interface Collector {
  /** Where a server is to send to. */
  readonly endpoint: string
  readonly spans: ReadonlyArray<Span>
  /** Attributes of the resource, of the newest request. */
  readonly resource: () => Readonly<Record<string, unknown>>
  /** All that came, as text. */
  readonly received: () => string
  readonly requests: ReadonlyArray<Pick<Http.IncomingMessage, "url" | "headers">>
}

/** The value of an attribute; `undefined` where the span has none. */
export const attributeOf = ({ attributes }: Pick<Span, "attributes">, key: string): unknown => {
  const value = attributes.find((each) => each.key === key)?.value
  return value === undefined ? undefined : Object.values(value)[0]
}

/** Starts one that answers `status`; it ends with the scope. */
export const startCollector = (status = 200) =>
  Effect.acquireRelease(
    Effect.callback<Collector & { readonly server: Http.Server }>((resume) => {
      const spans: Array<Span> = []
      const requests: Array<Pick<Http.IncomingMessage, "url" | "headers">> = []
      let received = ""
      let resource: Readonly<Record<string, unknown>> = {}
      const server = Http.createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const text = Buffer.concat(chunks).toString()
          requests.push({ url: request.url ?? "", headers: request.headers })
          received += text
          if (request.headers["content-type"] === "application/json") {
            for (const { resource: { attributes }, scopeSpans } of decodeTraces(text).resourceSpans) {
              resource = Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
              spans.push(...scopeSpans.flatMap((scope) => scope.spans))
            }
          }
          response.writeHead(status, { "content-type": "application/json" }).end("{}")
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" ? address?.port : undefined
        resume(Effect.succeed({
          endpoint: `http://127.0.0.1:${port}`,
          spans,
          resource: () => resource,
          received: () => received,
          requests,
          server
        }))
      })
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
