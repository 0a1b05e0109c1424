/** The text of `docs/metrics.md`, written from the table of metrics. */
import type { MetricDoc } from "./MetricDoc.ts"
import { metricGroups } from "./MetricTable.ts"

const introduction =
  `<!-- Written by scripts/write-metric-docs.ts from the metric definitions; a test fails when it is edited by hand. -->

# Metrics

\`GET /metrics\` serves these in the text format of Prometheus. With tokens configured it needs one with the scope \`read\`
for all streams. Prometheus adds \`job\` and \`instance\`. \`stream\` and \`node\` are \`stream_id\` and \`node_id\` of the
log; in \`wal_stream_state\`, \`stream\` is the id in URLs. Units are seconds and bytes. A histogram has the series
\`_bucket\`, \`_sum\` and \`_count\`.

- \`deploy/prometheus/effect-wal.rules.yml\` has recording rules and alerts, each with what to do.
- \`deploy/prometheus/prometheus.yml\` is a configuration that scrapes a server and loads them.
- \`deploy/grafana/effect-wal.json\` is a dashboard.
- A scrape costs no request to the store.
`

const logsAndTraces = `## Logs

\`server.log.format: json\`, or the flag \`--log-format json\`, makes every line one JSON object: \`timestamp\` (ISO 8601, UTC),
\`level\` (\`trace\`, \`debug\`, \`info\`, \`warn\`, \`error\`), \`message\`, and where there is something to say \`stream\`,
\`fields\`, \`cause\`, \`trace_id\` and \`span_id\`. \`server.log.level\`, or \`--log-level\`, leaves out what is less grave.

| message | level |
| --- | --- |
| \`Sealing segment: entries={n}, bytes={size}\` | debug |
| \`Segment PUT complete: {segment_key}, {size} bytes in {duration_ms}ms\` | info |
| \`Recovery: replayed {n} entries from {m} segments in {duration_ms}ms\` | info |
| \`Segment PUT failed: {error}, retrying...\` | warn, at most one a second |

## Traces

With \`server.otlp\`, or with the variables of OpenTelemetry (\`OTEL_EXPORTER_OTLP_ENDPOINT\`, \`…_HEADERS\`, \`…_PROTOCOL\`, the
same with \`TRACES_\`, \`OTEL_SERVICE_NAME\`, \`OTEL_TRACES_SAMPLER\` and \`…_ARG\`, \`OTEL_SDK_DISABLED\`), spans go to a collector
by OTLP over HTTP. The block of the configuration wins. A request that brings a W3C \`traceparent\` continues that trace, and
is left out where that says so. Probes and scrapes are not traced.

| span | is | has |
| --- | --- | --- |
| \`POST /v1/streams/{stream}/records\` and other routes | a request | |
| \`wal.append\` | accepting its records; child of the request | |
| \`wal.durable\` | its wait until they are durable; child of the request | first and last number, the segment, a link to \`wal.put\` |
| \`wal.put\` | storing one segment, until that is definite | links to the requests that it carries, 128 at most |
| \`store.create\`, \`store.get\` and others | one request to the store; child of what it is for | key, bytes |
| \`wal.manifest\` | writing the manifest | links to each \`wal.put\` that it covers |
| \`wal.open\`, \`wal.replay\`, \`wal.flush\` | opening, replaying, flushing | |

One PUT serves many requests, so it is no child of any of them: it is linked, in both directions. A local log has neither
the spans of the store nor the links. Requests that the collector does not take are counted in
\`wal_trace_export_failures_total\`; when the fourth one of a batch fails, it is lost, and so is what is traced in the minute
after it. Appends do not wait for the collector. Tracing takes throughput: requests do not take their short way then.
`

const cell = (text: string): string => text.replaceAll("|", "\\|")

const row = ({ absent, advice, labels, meaning, name, type, unit }: MetricDoc): string =>
  `| \`${name}\` | ${type} | ${unit} | ${labels.map((label) => `\`${label}\``).join(", ") || "–"} | ${
    cell(absent === undefined ? `${meaning}.` : `${meaning}. Absent ${absent}.`)
  } | ${cell(advice)} |`

/** The whole page. */
export const renderMetricDocs = (): string =>
  `${
    [
      introduction.trimEnd(),
      ...metricGroups.map(({ metrics, title }) =>
        `## ${title}\n\n| name | type | unit | labels | meaning | what to do |\n| --- | --- | --- | --- | --- | --- |\n${
          metrics.map(row).join("\n")
        }`
      ),
      logsAndTraces.trimEnd()
    ].join("\n\n")
  }\n`
