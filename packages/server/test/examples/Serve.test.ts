/** Each example configuration, as it is shipped, in the real program: on this disk, or on S3 over real HTTP. */
import { parseSlotKey } from "@effect-wal/core/format/ObjectKey"
import { readHeader } from "@effect-wal/core/format/SegmentCodec"
import type { StoredCodec } from "@effect-wal/core/format/SegmentHeader"
import { NodeDigest } from "@effect-wal/core/node"
import { gated } from "@effect-wal/testing/HttpS3Action"
import { type HttpS3Double, make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, FileSystem } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { environmentOf, linesOf, local, onS3, restarted, serve, stop, streamOf, temporary, textOf } from "./Examples.ts"

/** What each example says that it does: records of a full segment, uploads side by side, how segments are packed. */
const claims: Readonly<Record<string, readonly [entries: number, workers: number, codec: StoredCodec]>> = {
  durability_batch_job: [10_000, 4, "zstd"],
  durability_cold_storage: [10_000, 1, "zstd"],
  durability_example_aggressive: [10_000, 1, "none"],
  durability_example_compressed: [10_000, 1, "zstd"],
  durability_example_parallel: [1_000, 4, "none"],
  durability_example_s3: [1_000, 1, "none"],
  durability_real_time: [100, 2, "lz4"],
  durability_smoke_test: [10_000, 2, "zstd"]
}

const prefixOf = (name: string): string =>
  `some/prefix/${name === "durability_smoke_test" ? "smoke-node" : "node-0"}/${streamOf(name)}/`

/** The headers of what an epoch has stored, in order. */
const segments = (double: HttpS3Double["Service"], prefix: string, epoch: number) =>
  Effect.forEach(
    [...double.objects].filter(([key]) => parseSlotKey(prefix, key)?.epoch === epoch)
      .toSorted(([left], [right]) => left < right ? -1 : 1),
    ([key, { body }]) => Effect.map(readHeader(key, body, NodeDigest.nodeDigest), ({ header }) => header)
  ).pipe(Effect.map((headers) => headers.filter(({ kind }) => kind === "segment")))

describe("examples/*.yaml, served", () => {
  it("all of them are in the table of these tests", () => {
    assert.deepStrictEqual(Object.keys(claims), onS3)
  })

  it.live(`${local} keeps its records on this machine's disk`, () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      yield* stop(yield* restarted(local, { cwd, env: {} }), local, 201)
      assert.isTrue(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.exists(`${cwd}/data/wal/node-0/main`)))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live.each(Object.entries(claims))(
    "%s keeps its records on S3, and seals, uploads and packs as it says",
    ([name, [entries, workers, codec]]) =>
      Effect.gen(function*() {
        const double = yield* makeDouble()
        const cwd = yield* temporary
        const server = yield* restarted(name, { cwd, env: environmentOf(double.s3Options, "some/prefix") })
        const before = double.count("put", "/segments/")
        const gate = yield* Deferred.make<void>()
        double.rule((request) =>
          request.operation === "put" && request.key.includes("/segments/") ? gated(gate) : undefined
        )
        // Nobody waits: segments are sealed because they are full.
        const count = (workers + 1) * entries + 1
        assert.deepInclude(yield* server.append(linesOf(202, count), "?ack=accepted"), { count, ack: "accepted" })
        yield* double.until(() => double.count("put", "/segments/") >= before + workers)
        const { buffered, segments: { in_flight: inFlight } } = yield* server.status
        assert.strictEqual(inFlight, workers)
        assert.isAtLeast(buffered.queued_segments, 1)
        assert.strictEqual(double.count("put", "/segments/"), before + workers)
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual((yield* server.flush).status, 200)
        assert.deepStrictEqual(yield* server.read(201 + count, 1), linesOf(201 + count, 1))
        const [, ...stored] = yield* segments(double, prefixOf(name), 2)
        const full = stored.slice(0, workers + 1)
        assert.deepStrictEqual(full.map((header) => header.count), full.map(() => entries))
        assert.strictEqual(stored.reduce((sum, header) => sum + header.count, 0), count)
        assert.deepStrictEqual(full.map((header) => header.codec), full.map(() => codec))
        for (const { rawBytes, storedBytes } of full) {
          if (codec === "none") assert.strictEqual(storedBytes, rawBytes)
          else assert.isBelow(storedBytes, rawBytes / 2)
        }
        yield* stop(server, name, 201 + count)
        assert.isTrue([...double.objects.keys()].every((key) => key.startsWith(prefixOf(name))))
        assert.isTrue(double.requests.every((request) => request.accessKeyId === "double"))
        assert.deepStrictEqual(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(cwd)), [])
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("the command in the head of durability_smoke_test does what stands there", () =>
    Effect.gen(function*() {
      const name = "durability_smoke_test"
      const double = yield* makeDouble()
      const server = yield* serve(name, {
        cwd: yield* temporary,
        env: environmentOf(double.s3Options, "some/prefix")
      })
      const command = /^# +(seq 12000 .*)$/m.exec(textOf(name))?.[1] ?? ""
      const run = promisify(execFile)
      const { stdout } = yield* Effect.promise(() =>
        run("/bin/sh", ["-c", command.replace(":8180/", `:${server.port}/`)])
      )
      assert.deepStrictEqual(JSON.parse(stdout), {
        first_seq: 1,
        last_seq: 12_000,
        count: 12_000,
        epoch: 1,
        ack: "durable"
      })
      const stored = yield* segments(double, prefixOf(name), 1)
      assert.deepStrictEqual(stored.map((header) => header.count), [10_000, 2_000])
      assert.isTrue(stored.every(({ codec, rawBytes, storedBytes }) => codec === "zstd" && storedBytes < rawBytes))
    }).pipe(Effect.provide(NodeServices.layer)))
})
