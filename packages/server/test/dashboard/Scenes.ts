/** A real server on S3 over real HTTP, in the states that the dashboard is made for: for pictures and for their tests. */
import { errorAnswer, gated } from "@effect-wal/testing/HttpS3Action"
import { type DoubleS3Options, make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import { Deferred, Effect, FileSystem, Queue, Random, Redacted } from "effect"
import { append, call } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"

const stream = (
  { bucket, credentials, endpoint }: DoubleS3Options,
  id: string,
  strategy: string,
  more: string
) => `
  - id: ${id}
    durability:
      backend:
        type: object_store
        node_id: node-0
        stream_id: ${id}
        max_record_bytes: 1MiB
        max_buffered_bytes: 32MiB
        s3:
          bucket: ${bucket}
          endpoint: ${endpoint}
          access_key_id: ${credentials.accessKeyId}
          secret_access_key: ${Redacted.value(credentials.secretAccessKey)}
        segment_tuning:
          strategy: ${strategy}
        ${more}
`

const config = (options: DoubleS3Options) =>
  `server:\n  port: 0\n  store_grace: 10s\n  shutdown_timeout: 1s\nstreams:\n${
    stream(options, "orders", "balanced", "compression: { type: zstd }")
  }${stream(options, "payments", "low_latency", "parallel_put: { workers: 2 }")}${
    stream(options, "audit", "aggressive", "compression: { type: zstd }")
  }`

/** Streams of the scene, with how many records a call has. */
const loads: ReadonlyArray<readonly [id: string, records: number]> = [["orders", 60], ["payments", 4], ["audit", 20]]

const line = (id: string, number: number): string =>
  JSON.stringify({
    id: `${id}-${number}`,
    state: number % 7 === 0 ? "refunded" : "paid",
    amount: number * 37 % 9_000,
    customer: { name: "A. Customer", city: "Lisbon" },
    items: Array.from(
      { length: number % 4 + 1 },
      (_, index) => ({ sku: `tea-${(number + index) % 50}`, count: index + 1 })
    )
  })

/** Starts the server; it ends with the scope. PUTs of segments take some twenty to a hundred milliseconds, as on S3. */
export const startScene = Effect.gen(function*() {
  const double = yield* makeDouble()
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${cwd}/wal.yaml`, config(double.s3Options))
  const program = yield* startProgram({ args: ["serve", "--config", "wal.yaml"], cwd })
  for (const [id] of loads) yield* program.until(`log ${id} open`)
  // The logs can be open before the server listens.
  const port = yield* program.portOnce("listens on http://127.0.0.1:")

  const held = yield* Queue.unbounded<Deferred.Deferred<void>>()
  const slowly = () =>
    double.rule(({ key, operation }) => {
      if (operation !== "put" || !key.includes("/segments/")) return undefined
      const gate = Deferred.makeUnsafe<void>()
      Queue.offerUnsafe(held, gate)
      return gated(gate)
    })
  slowly()
  const letGo = Effect.fnUntraced(function*(gate: Deferred.Deferred<void>) {
    const share = yield* Random.next
    yield* Effect.sleep(20 + 60 * share + (share > 0.95 ? 80 : 0))
    yield* Deferred.succeed(gate, undefined)
  })
  const handle = Effect.flatMap(Queue.take(held), (gate) => Effect.forkChild(letGo(gate)))
  yield* Effect.forkScoped(Random.withSeed(Effect.forever(handle), "latency"))

  let number = 0
  const batch = (id: string, records: number) =>
    Array.from({ length: records }, () => `${line(id, number++)}\n`).join("")
  const send = (ack: "durable" | "accepted", to = loads) =>
    Effect.forEach(
      to,
      ([id, records]) => append(port, "application/x-ndjson", batch(id, records), `?ack=${ack}`, id),
      { concurrency: "unbounded" }
    )
  /** Moves a cursor up to what is durable, less a few. */
  const commit = (id: string) =>
    Effect.gen(function*() {
      const { durable } = JSON.parse((yield* call(port, `/v1/streams/${id}`)).body.toString())
      yield* call(port, `/v1/streams/${id}/cursors/default`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ seq: Math.max(0, durable - 400) })
      })
    })
  const commitAll = Effect.forEach(loads, ([id]) => commit(id), { discard: true })
  return {
    address: `http://127.0.0.1:${port}/`,
    /** Appends for so many rounds, some of them waited for. */
    load: Effect.fnUntraced(function*(rounds: number, pauseMillis: number) {
      for (let round = 0; round < rounds; round++) {
        yield* send(round % 4 === 0 ? "durable" : "accepted")
        if (round % 10 === 9) yield* commitAll
        if (pauseMillis > 0) yield* Effect.sleep(pauseMillis)
      }
    }),
    /** Appends to the first stream for so many rounds, which nobody waits for. */
    push: Effect.fnUntraced(function*(rounds: number, pauseMillis: number) {
      for (let round = 0; round < rounds; round++) {
        yield* send("accepted", loads.slice(0, 1))
        if (pauseMillis > 0) yield* Effect.sleep(pauseMillis)
      }
    }),
    /** From now on the store refuses every segment. */
    breakStore: Effect.sync(() =>
      double.rule(({ key, operation }) =>
        operation === "put" && key.includes("/segments/") ? errorAnswer(503, "SlowDown") : undefined
      )
    ),
    mendStore: Effect.sync(() => {
      double.clearRules()
      slowly()
    })
  }
})
