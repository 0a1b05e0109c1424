/** The program that the scenario `syncs` runs under strace: a local log, producers that each wait for every append. */
import { Effect } from "effect"
import { Wal } from "../../packages/core/src/Wal.ts"
import { nowMillis } from "./Run.ts"
import { periodicInterval, type SyncLoad, type SyncReport } from "./SyncTalk.ts"

const load: SyncLoad = JSON.parse(process.argv[2] ?? "{}")

const records = Array.from({ length: load.batch }, (_, index) => ({ payload: Buffer.alloc(load.recordBytes, index) }))

/** Each append is answered before the next one of the same producer. */
const producer = (wal: Wal["Service"]) =>
  Effect.gen(function*() {
    for (let index = 0; index < load.appends / load.producers; index++) yield* (yield* wal.append(records)).durable
  })

const program = Effect.gen(function*() {
  const wal = yield* Wal
  const startedAt = nowMillis()
  const producers = Array.from({ length: load.producers }, () => producer(wal))
  yield* Effect.all(producers, { concurrency: "unbounded", discard: true })
  const seconds = (nowMillis() - startedAt) / 1_000
  const { durable, segments } = yield* wal.status
  return { durable, segments: segments.durable, seconds } satisfies SyncReport
}).pipe(Effect.provide(Wal.layerLocal({
  nodeId: "node",
  streamId: "log",
  path: load.path,
  sync: load.sync,
  segment: { flushInterval: periodicInterval }
})))

process.stdout.write(`${JSON.stringify(await Effect.runPromise(program))}\n`)
