/**
 * Traces by OTLP: where they go, which requests are traced, and what happens when the collector is away.
 *
 * A request that brings a W3C `traceparent` is traced as that says. Without a collector nothing here is built, and requests
 * take the short way (`handlers/DirectAppend.ts`).
 */
import { Clock, Effect, Layer, Metric, Option, Random, Redacted, Tracer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpMiddleware } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"
import { routeOf } from "../RequestCount.ts"
import { version } from "../Version.ts"
import { meaningOf } from "./MetricTable.ts"

/** How spans are encoded. */
export const otlpProtocols = ["http/json", "http/protobuf"] as const

/** Where spans go. */
export interface OtlpSettings {
  /** The whole URL of the collector's traces, as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string
  /** By name; they often hold a token. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly protocol: typeof otlpProtocols[number]
  readonly serviceName: string
  /** Share of requests without a `traceparent` that are traced, 0 to 1. */
  readonly sampleRatio: number
}

const exportFailures = Metric.counter("wal_trace_export_failures_total", {
  description: meaningOf("wal_trace_export_failures_total"),
  incremental: true
})

/** At most one warning in this time: a collector that is away must not flood the log. */
const warnEveryMillis = 60_000

/** A collector that says nothing for so long does not take what it was sent. */
const answerMillis = 10_000

/** Batches that are under way at a time. Behind a collector that hangs all spans of the process would wait in memory. */
const mostInFlight = 16

/** Gives up requests that are not answered, and refuses those that are too many: the exporter then leaves out spans. */
const bounded = (client: HttpClient.HttpClient): HttpClient.HttpClient => {
  let inFlight = 0
  return HttpClient.transform(client, (answer, request) =>
    Effect.suspend(() => {
      const failure = (description: string) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, description }) })
      if (inFlight >= mostInFlight) return Effect.fail(failure(`${mostInFlight} batches are not answered`))
      inFlight++
      return Effect.timeoutOrElse(answer, {
        duration: answerMillis,
        orElse: () => Effect.fail(failure(`no answer in ${answerMillis / 1_000}s`))
      }).pipe(Effect.ensuring(Effect.sync(() => {
        inFlight--
      })))
    }))
}

/** The exporter is silent about what it cannot hand over; the operator is told, and it is counted. */
const tellFailures = Effect.gen(function*() {
  const client = yield* HttpClient.HttpClient
  let nextAt = Number.NEGATIVE_INFINITY
  yield* Metric.update(exportFailures, 0)
  return HttpClient.tapError(HttpClient.filterStatusOk(bounded(client)), (error) =>
    Effect.gen(function*() {
      yield* Metric.update(exportFailures, 1)
      const now = yield* Clock.currentTimeMillis
      if (now < nextAt) return
      nextAt = now + warnEveryMillis
      yield* Effect.logWarning(`spans were not taken by the collector: ${error.message}`)
    }))
})

/**
 * Leaves out a share of the requests that bring no `traceparent`, with all that belongs to them. What the log does by itself
 * is always traced: a PUT is shared, and there are few of them.
 */
const sampled = (tracer: Tracer.Tracer, ratio: number, random: { readonly nextDoubleUnsafe: () => number }) =>
  ratio >= 1 ? tracer : Tracer.make({
    span: (options) =>
      tracer.span(
        options.kind === "server" && Option.isNone(options.parent) && options.sampled &&
          random.nextDoubleUnsafe() >= ratio
          ? { ...options, sampled: false }
          : options
      )
  })

/** Probes and scrapes are no requests that anybody asks after. */
const untraced = new Set(["/healthz", "/readyz", "/metrics"])

const pathOf = (url: string): string => url.split("?", 1)[0] ?? url

const requestNames = Layer.mergeAll(
  Layer.succeed(HttpMiddleware.TracerDisabledWhen, (request) => untraced.has(pathOf(request.url))),
  Layer.succeed(HttpMiddleware.SpanNameGenerator, (request) => `${request.method} ${routeOf(pathOf(request.url))}`)
)

/** A closing process waits no longer for the collector. */
const shutdownMillis = 1_000

/** A tracer that sends what it gets to the collector; what is left goes out when the scope ends. */
export const layer = (settings: OtlpSettings): Layer.Layer<never> => {
  const tracer = Layer.effect(
    Tracer.Tracer,
    Effect.gen(function*() {
      const made = yield* OtlpTracer.make({
        url: settings.url,
        headers: Redacted.value(settings.headers),
        resource: { serviceName: settings.serviceName, serviceVersion: version },
        shutdownTimeout: shutdownMillis
      })
      return sampled(made, settings.sampleRatio, yield* Random.Random)
    })
  )
  return Layer.merge(tracer, requestNames).pipe(
    Layer.provide([
      OtlpExporter.layerFlusher,
      settings.protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf,
      Layer.effect(HttpClient.HttpClient, tellFailures).pipe(Layer.provide(FetchHttpClient.layer))
    ])
  )
}
