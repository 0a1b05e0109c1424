import { DiskFile } from "@effect-wal/core/node"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, FileSystem, Layer, Metric } from "effect"
import { loadConfig } from "../src/config/ServerConfig.ts"
import { LogOpener } from "../src/LogOpener.ts"
import { defaultLimits, Settings } from "../src/Settings.ts"
import * as StoreLayer from "../src/StoreLayer.ts"
import { settingsOf } from "./support/TestServer.ts"
import { until } from "./support/Wait.ts"

const stream = (path: string, nodeId: string, id: string) =>
  [
    `  - id: ${id}`,
    "    durability:",
    "      backend:",
    "        type: object_store",
    `        node_id: ${nodeId}`,
    `        stream_id: ${id}`,
    "        segment_tuning: { flush_interval: 1h }",
    `        directory: { path: ${JSON.stringify(path)} }`
  ].join("\n")

/** The opener of a server with these streams. */
const openerOf = Effect.fnUntraced(function*(
  streams: ReadonlyArray<string>,
  maxBufferedBytes = Number.POSITIVE_INFINITY
) {
  const config = yield* loadConfig({ text: `streams:\n${streams.join("\n")}\n`, env: {} })
  const ids = config.streams.map(({ id }) => id)
  const settings = settingsOf({ streams: ids, limits: { ...defaultLimits, maxBufferedBytes } })
  const context = yield* Layer.build(
    StoreLayer.layer(config.streams).pipe(Layer.provide(Layer.succeed(Settings, settings)))
  )
  return Context.get(context, LogOpener)
})

/** The same with streams of one node, all in one directory. */
const opener = (path: string, nodeId: string, ids: ReadonlyArray<string>, maxBufferedBytes?: number) =>
  openerOf(ids.map((id) => stream(path, nodeId, id)), maxBufferedBytes)

const abandoned = (registry: Metric.MetricRegistry): number | undefined => {
  const context = Context.make(Metric.MetricRegistry, registry)
  const found = Metric.snapshotUnsafe(context).find((one) => one.id === "wal_abandoned_logs")
  return found?.type === "Gauge" ? Number(found.state.value) : undefined
}

/** Node, stream and uncommitted records of each log of another node. */
const abandonedLogs = (registry: Metric.MetricRegistry) =>
  Metric.snapshotUnsafe(Context.make(Metric.MetricRegistry, registry)).flatMap((one) =>
    one.id === "wal_abandoned_records" && one.type === "Gauge"
      ? [[one.attributes?.["node"], one.attributes?.["stream"], Number(one.state.value)]]
      : []
  )

const inDirectory = <A, E, R>(use: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    return yield* use(yield* files.makeTempDirectoryScoped())
  }).pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

describe("the logs of a server", () => {
  it.live("share the bound of limits.max_buffered_bytes", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const { open } = yield* opener(path, "node", ["a", "b"], 1_500)
        const [a, b] = [yield* open("a"), yield* open("b")]
        const record = { payload: new Uint8Array(1_000) }
        yield* a.appendNow([record])
        assert.strictEqual((yield* Effect.flip(b.appendNow([record])))._tag, "BufferFull")
        yield* a.flush
        yield* b.appendNow([record])
      })
    ))

  it.live("open although the store of another one hangs", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const hung = `${path}/hung`
        const { open } = yield* openerOf([stream(hung, "node", "a"), stream(`${path}/well`, "node", "b")])
        const disk = yield* DiskFile.DiskFile
        const reached = yield* Deferred.make<void>()
        const hanging = yield* Effect.forkChild(
          Effect.provideService(open("a"), DiskFile.DiskFile, {
            ...disk,
            realPath: (of) =>
              of === hung ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) : disk.realPath(of)
          })
        )
        yield* Deferred.await(reached)
        const log = yield* open("b")
        assert.strictEqual((yield* log.append([{ payload: new Uint8Array(1) }])).first, 1)
        yield* Fiber.interrupt(hanging)
      })
    ))

  it.live("of other nodes with uncommitted records are counted at start", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        yield* Effect.scoped(Effect.gen(function*() {
          const { open } = yield* opener(path, "gone", ["a"])
          const wal = yield* open("a")
          yield* wal.append([{ payload: new Uint8Array(1) }])
        }))
        const { open } = yield* opener(path, "here", ["a"])
        yield* open("a")
        const registry = yield* Metric.MetricRegistry
        yield* until(() => abandoned(registry) === 1)
        assert.deepStrictEqual(abandonedLogs(registry), [["gone", "a", 1]])
      })
    ))
})
