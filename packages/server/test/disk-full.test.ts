/** A server on a local log whose disk has no room: what clients are told, and how it goes on. */
import { DiskError, DiskFile, type DiskFileService, nodeDisk } from "@effect-wal/core/node/DiskFile"
import { DiskFull, SequenceExhausted } from "@effect-wal/core/WalError"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Metric } from "effect"
import { HttpServer } from "effect/http"
import { errorResponse } from "../src/ApiError.ts"
import { loadConfig } from "../src/config/ServerConfig.ts"
import * as Server from "../src/Server.ts"
import { Settings } from "../src/Settings.ts"
import * as StoreLayer from "../src/StoreLayer.ts"
import { Streams } from "../src/Streams.ts"
import { append, call, json } from "./support/Client.ts"
import { settingsOf } from "./support/TestServer.ts"
import { turn, until } from "./support/Wait.ts"

const ndjson = "application/x-ndjson"

/** The disk of this machine; while `full`, a file takes nothing more. */
const fullDisk = () => {
  const state = { full: false }
  const refused = (path: string) =>
    new DiskError({ call: "writev", path, code: "ENOSPC", detail: "no space left on device" })
  const disk: DiskFileService = {
    ...nodeDisk,
    open: (path, mode) =>
      Effect.map(nodeDisk.open(path, mode), (handle) => ({
        ...handle,
        writeMany: (parts, position) =>
          Effect.suspend(() => state.full ? Effect.fail(refused(path)) : handle.writeMany(parts, position))
      }))
  }
  return { state, disk }
}

/** A server whose stream `orders` is a local log on the disk. */
const startOn = Effect.fnUntraced(function*(disk: DiskFileService) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  const backend = `{ type: local, local: { path: "${path}" }, retry: { base: 1ms, cap: 2ms } }`
  const { streams } = yield* loadConfig({
    text: `streams: [{ id: orders, durability: { backend: ${backend} } }]`,
    env: {}
  })
  const context = yield* Layer.build(Server.layer.pipe(
    Layer.provideMerge(StoreLayer.layer(streams)),
    Layer.provideMerge(Layer.succeed(Settings, settingsOf({ streams: ["orders"] }))),
    Layer.provideMerge(NodeServices.layer),
    Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map())),
    Layer.provideMerge(Layer.succeed(DiskFile, disk))
  ))
  const { address } = Context.get(context, HttpServer.HttpServer)
  if (address._tag === "UnixPathAddress") return yield* Effect.die("not a port")
  const opened = Context.get(context, Streams)
  yield* until(() => opened.entries().every(({ state }) => state._tag === "Open"))
  return { path, port: address.port }
})

const statusOf = (port: number) => Effect.map(call(port, "/v1/streams/orders"), json)

/** Asks for the status until it says so. */
const statusUntil = (port: number, says: (status: Readonly<Record<string, unknown>>) => boolean): Effect.Effect<void> =>
  Effect.flatMap(
    statusOf(port),
    (status) => says(status) ? Effect.void : Effect.andThen(turn, statusUntil(port, says))
  )

const payloads = (port: number) =>
  Effect.map(
    call(port, "/v1/streams/orders/records"),
    (answer) => json(answer).records.map((record: { readonly payload: unknown }) => record.payload)
  )

describe("a full disk", () => {
  it.live(
    "[case 20] is answered 507 disk_full with Retry-After; reading goes on, and appends do once there is room",
    () =>
      Effect.gen(function*() {
        const { disk, state } = fullDisk()
        const { path, port } = yield* startOn(disk)
        assert.strictEqual((yield* append(port, ndjson, "1\n")).status, 200)
        state.full = true
        assert.deepInclude(json(yield* append(port, ndjson, "2\n", "?ack=accepted")), { first_seq: 2, ack: "accepted" })
        yield* statusUntil(port, (status) => "last_store_error" in status)
        for (const ack of ["durable", "accepted"]) {
          const refused = yield* append(port, ndjson, "3\n", `?ack=${ack}`)
          assert.strictEqual(refused.status, 507)
          assert.strictEqual(refused.headers["retry-after"], "5")
          assert.deepInclude(json(refused).error, {
            code: "disk_full",
            data: "not-durable",
            retryable: true,
            details: { path }
          })
        }
        assert.deepStrictEqual(yield* payloads(port), [1])
        assert.deepInclude(yield* statusOf(port), { state: "open", last_accepted: 2, durable: 1 })
        state.full = false
        yield* statusUntil(port, (status) => status["durable"] === 2)
        assert.deepInclude(json(yield* append(port, ndjson, "4\n")), { first_seq: 3, last_seq: 3, epoch: 1 })
        assert.deepStrictEqual(yield* payloads(port), [1, 2, 4])
        assert.notProperty(yield* statusOf(port), "last_store_error")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it("only a 507 that can be repeated says when", () => {
    assert.strictEqual(errorResponse(new DiskFull({ path: "data" })).headers["retry-after"], "5")
    assert.notProperty(errorResponse(new SequenceExhausted({ streamId: "orders" })).headers, "retry-after")
  })
})
