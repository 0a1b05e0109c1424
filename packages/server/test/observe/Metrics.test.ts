/** `/metrics` of a real server: complete, documented, and clean by Prometheus' own checker. */
import { Reason } from "@effect-wal/core/store/ObjectStoreError"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import type { MetricDoc } from "../../src/observe/MetricDoc.ts"
import { renderMetricDocs } from "../../src/observe/MetricDocs.ts"
import { metricGroups } from "../../src/observe/MetricTable.ts"
import { streamStates } from "../../src/observe/StreamMetrics.ts"
import { append, call } from "../support/Client.ts"
import { type Family, parseExposition } from "../support/Exposition.ts"
import { startProgram } from "../support/Process.ts"
import { startServer } from "../support/TestServer.ts"
import { until } from "../support/Wait.ts"
import { hasPromtool, promtool, withPromtool } from "./Promtool.ts"

const documented = new Map(metricGroups.flatMap(({ metrics }) => metrics).map((metric) => [metric.name, metric]))

/** A stream in a directory store with a spool, and one on the disk of this machine. */
const config = `
server:
  port: 0
  otlp: { endpoint: "http://127.0.0.1:9" }
streams:
  - durability:
      backend:
        type: object_store
        node_id: node-0
        stream_id: orders
        directory: { path: store }
        spool: { path: spool, max_bytes: 1GB }
  - id: audit
    durability: { path: audit }
`

/** The text of `/metrics` of a process that has stored and answered something. */
const scrapeProcess = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${cwd}/wal.yaml`, config)
  const program = yield* startProgram({ args: ["--config", "wal.yaml"], cwd })
  yield* program.until("log orders open")
  const port = yield* program.portOnce("log audit open")
  for (const stream of ["orders", "audit"]) {
    assert.strictEqual((yield* append(port, "application/x-ndjson", "1\n2\n", "", stream)).status, 200)
  }
  // The disks are looked at in the background.
  for (;;) {
    const { body, status } = yield* call(port, "/metrics")
    assert.strictEqual(status, 200)
    if (body.includes("wal_disk_size_bytes{")) return body.toString()
  }
}).pipe(Effect.provide(NodeServices.layer))

const helpIn = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map((match) => [match[1] ?? "", match[2] ?? ""]))

const labelsIn = ({ samples }: Family): ReadonlyArray<string> =>
  [
    ...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))
  ].filter((label) => label !== "le")

const compare = (name: string, doc: MetricDoc | undefined, family: Family, help: string | undefined): void => {
  assert.strictEqual(doc?.type, family.type, name)
  assert.strictEqual(doc?.meaning, help, name)
  assert.sameMembers([...doc?.labels ?? []], [...labelsIn(family)], name)
}

describe("the metrics of a server", () => {
  it.live(`are those of docs/metrics.md, and pass ${withPromtool} check metrics`, () =>
    Effect.gen(function*() {
      const text = yield* scrapeProcess
      const families = parseExposition(text)
      const help = helpIn(text)
      for (const [name, family] of families) compare(name, documented.get(name), family, help.get(name))
      const missing = [...documented.values()].filter(({ name }) => !families.has(name))
      assert.deepStrictEqual(missing.filter((doc) => doc.absent === undefined), [])
      const disks = families.get("wal_disk_free_bytes")?.samples.map(({ labels }) => [labels["use"], labels["path"]])
      assert.sameDeepMembers(disks ?? [], [["store", "store"], ["spool", "spool"], ["log", "audit"]])
      if (!hasPromtool) return
      const { code, said } = promtool(["check", "metrics"], text)
      assert.strictEqual(said, "")
      assert.strictEqual(code, 0)
    }), 180_000)

  it("stand in docs/metrics.md as scripts/write-metric-docs.ts writes them", () => {
    const written = readFileSync(new URL("../../../../docs/metrics.md", import.meta.url), "utf8")
    assert.strictEqual(written, renderMetricDocs())
  })

  it("name classes of answers that there are, where they say what to do", () => {
    const told = [documented.get("wal_put_retries_total")?.advice ?? ""].flatMap((advice) =>
      [...advice.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    )
    assert.isNotEmpty(told)
    assert.includeMembers([...Reason.literals], told)
  })

  it("have what DESIGN asks for: names of the source documents, with Prometheus' units", () => {
    for (
      const name of [
        "wal_segment_put_latency_seconds",
        "wal_segment_puts_total",
        "wal_segment_size_bytes",
        "wal_cursor_lag_entries",
        "wal_recovery_latency_seconds",
        "wal_records_appended_total",
        "wal_records_durable_total",
        "wal_records_committed",
        "wal_at_risk_entries",
        "wal_at_risk_bytes",
        "wal_oldest_at_risk_age_seconds",
        "wal_queue_segments",
        "wal_put_retries_total",
        "wal_manifest_conflicts_total",
        "wal_compression_ratio",
        "wal_store_requests_total",
        "wal_estimated_request_cost_dollars_total",
        "wal_abandoned_logs"
      ]
    ) assert.isTrue(documented.has(name), name)
  })
})

const scrape = (port: number) => Effect.map(call(port, "/metrics"), ({ body }) => parseExposition(body.toString()))

const stateOf = (families: ReadonlyMap<string, Family>, stream: string): ReadonlyArray<string> =>
  (families.get("wal_stream_state")?.samples ?? [])
    .filter(({ labels, value }) => labels["stream"] === stream && value === 1)
    .map(({ labels }) => labels["state"] ?? "")

describe("the state of a stream", () => {
  it.effect("is one of all states, and `opening` before it is open", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ open: () => Effect.never })
      const families = yield* scrape(port)
      assert.deepStrictEqual(stateOf(families, "orders"), ["opening"])
      assert.strictEqual(families.get("wal_stream_state")?.samples.length, streamStates.length)
    }))

  it.effect("is `open` while it takes records, and `fenced` when another writer has taken it", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      assert.deepStrictEqual(stateOf(yield* scrape(port), "orders"), ["open"])
      yield* log.takeOver
      yield* append(port, "application/x-ndjson", "1\n")
      assert.deepStrictEqual(stateOf(yield* scrape(port), "orders"), ["fenced"])
    }))

  it.effect("a log that has died is failed", () =>
    Effect.gen(function*() {
      const { log, port, streams } = yield* startServer()
      const died = yield* Effect.forkChild(streams.died, { startImmediately: true })
      yield* log.kill
      yield* append(port, "application/x-ndjson", "1")
      yield* until(() => died.pollUnsafe() !== undefined)
      assert.deepStrictEqual(stateOf(yield* scrape(port), "orders"), ["failed"])
    }))
})

describe("the gauges beside a log's own", () => {
  it.effect("say how long the store has been failing", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const failing = Effect.map(
        scrape(port),
        (families) => families.get("wal_store_failing_seconds")?.samples[0]?.value
      )
      assert.strictEqual(yield* failing, 0)
      const mend = log.faults.rule(({ operation }) =>
        operation === "create" ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      const sent = log.faults.requests.length
      yield* append(port, "application/x-ndjson", "1\n", "?ack=accepted")
      yield* TestClock.adjust("1 second")
      yield* until(() => log.faults.requests.length > sent)
      yield* TestClock.adjust("45 seconds")
      assert.isAtLeast((yield* failing) ?? 0, 45)
      mend()
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* failing, 0)
    }))

  it.effect("say nothing of a store that a fenced log met failing", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const mend = log.faults.rule(({ key, operation }) =>
        operation === "create" && key.endsWith(".seg") ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      const sent = log.faults.requests.length
      yield* append(port, "application/x-ndjson", "1\n", "?ack=accepted")
      yield* TestClock.adjust("1 second")
      yield* until(() => log.faults.requests.length > sent)
      yield* log.takeOver
      mend()
      yield* TestClock.adjust("1 minute")
      const families = yield* scrape(port)
      assert.deepStrictEqual(stateOf(families, "orders"), ["fenced"])
      assert.strictEqual(families.get("wal_store_failing_seconds")?.samples[0]?.value, 0)
    }))

  it.effect("say how much the buffer may hold", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ log: { maxBufferedBytes: 40_000_000 } })
      const samples = (yield* scrape(port)).get("wal_buffer_limit_bytes")?.samples ?? []
      assert.deepStrictEqual(samples.map(({ labels, value }) => [labels, value]), [
        [{ stream: "orders", node: "node-0" }, 40_000_000]
      ])
    }))
})
