/** The store of the benchmarks: what it keeps, and what it counts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { withStore } from "../src/store/StoreProcess.ts"
import { withClient } from "../src/support/RemoteLog.ts"
import { commitTo, writeLog } from "../src/support/StoredLog.ts"

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

describe("the store of the benchmarks", () => {
  it("keeps segments, and tells GETs of segments and of headers apart", () =>
    withStore(
      { latency: { kind: "none" }, keepsSegments: true },
      (server) =>
        withClient(server, (client) =>
          quiet(Effect.gen(function*() {
            yield* writeLog(client, 20)
            const written = yield* Effect.promise(() => server.counts())
            assert.deepInclude(written, { segments: 0, headers: 0 })
            assert.isAtLeast(written.PUT, 20)
            const { objects } = yield* client.list({ prefix: "node/log/segments/" })
            assert.strictEqual(objects.length, 20)
            for (const { key, sizeBytes } of objects) {
              assert.strictEqual((yield* client.get(key)).body.length, sizeBytes)
            }
            assert.strictEqual((yield* client.get(objects[0]?.key ?? "", { firstBytes: 8 })).body.length, 8)
            const read = yield* Effect.promise(() => server.counts())
            assert.deepInclude(read, { PUT: 0, GET: 21, LIST: 1, segments: 20, headers: 1 })
            // Another opening finds the log, and its cursor can go to its end.
            yield* commitTo(client, 200)
            assert.strictEqual((yield* client.list({ prefix: "node/log/segments/" })).objects.length, 21)
          })))
    ))

  it("takes another latency while it runs", () =>
    withStore({ latency: { kind: "none" }, keepsSegments: true }, async (server) => {
      await server.setLatency({ kind: "fixed", millis: 1 })
      assert.deepInclude(await server.counts(), { PUT: 0, GET: 0 })
    }))
})
