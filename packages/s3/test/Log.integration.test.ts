import { NonceSource } from "@effect-wal/core/Nonce"
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { Wal } from "@effect-wal/core/Wal"
import { WalReader } from "@effect-wal/core/WalReader"
import { realS3 } from "@effect-wal/testing/RealS3"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, References, Scope, Stream } from "effect"
import { layer } from "../src/S3ObjectStore.ts"

const server = realS3(process.env)

const records = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ payload: new TextEncoder().encode(`record ${from + index}`) }))

/** A writer of the log as a process of its own, with its scope. */
const writer = Effect.fnUntraced(function*(prefix: string, host: string) {
  const scope = yield* Scope.make()
  const wal = yield* Wal.make({
    nodeId: "node",
    streamId: "log",
    prefix,
    host,
    segment: { maxEntries: 10, linger: "0ms" },
    parallelPut: { workers: 2, pipelineDepth: 2 },
    compression: { type: "zstd", thresholdBytes: 1 }
  }).pipe(
    Effect.provideService(Scope.Scope, scope),
    Effect.provideService(ProcessRegistry, new ProcessRegistryState())
  )
  return { wal, close: Scope.close(scope, Exit.void) }
})

if (server === undefined) {
  // `scripts/test-setup.ts` says loudly that this file is left out, and how to run it.
  describe.skip("a log on a real S3 server", () => {
    it("needs a server", () => undefined)
  })
} else {
  describe("a log on a real S3 server", () => {
    it.live(
      "is durable, survives its writer, fences it, and is read without being written",
      () =>
        Effect.gen(function*() {
          const prefix = `log-${yield* yield* NonceSource}`
          const first = yield* writer(prefix, "first")
          yield* Effect.flatMap(first.wal.append(records(1, 95)), (appended) => appended.durable)
          yield* first.wal.commit(30)
          // The first writer is still alive when the second takes over: it is fenced, and nothing of its is lost.
          const second = yield* writer(prefix, "second")
          const late = yield* Effect.exit(Effect.flatMap(first.wal.append(records(0, 1)), ({ durable }) => durable))
          assert.isTrue(Exit.isFailure(late))
          assert.strictEqual((yield* first.wal.status).newOwner, "second")
          const appended = yield* second.wal.append(records(96, 5))
          yield* appended.durable
          assert.deepStrictEqual([appended.first, appended.last, appended.epoch], [96, 100, 2])
          const reader = yield* WalReader.make({ nodeId: "node", streamId: "log", prefix })
          const read = yield* Stream.runCollect(reader.read())
          // What is committed may be deleted at any time.
          const texts = read.filter(({ seq }) => seq > 30)
            .map(({ payload, seq }) => `${seq}: ${new TextDecoder().decode(payload)}`)
          assert.deepStrictEqual(texts, Array.from({ length: 70 }, (_, index) => `${index + 31}: record ${index + 31}`))
          yield* second.wal.commit(100)
          yield* second.close
          yield* first.close
          // What was committed and may go is gone; the next writer goes on after it.
          const third = yield* writer(prefix, "third")
          const status = yield* third.wal.status
          assert.deepStrictEqual([status.durable, status.trimmedTo, status.cursors["default"]?.mark], [100, 100, 100])
          yield* third.close
        }).pipe(
          Effect.scoped,
          Effect.provide(Layer.fresh(layer(server))),
          Effect.provideService(References.MinimumLogLevel, "None")
        ),
      120_000
    )
  })
}
