/** The ends of hundreds of epochs, most of them in the archive: written by a real log. */
import { decodeManifest } from "@effect-wal/core/format/ManifestCodec"
import { manifestKey } from "@effect-wal/core/format/ObjectKey"
import { logPrefix } from "@effect-wal/core/LogId"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import { type MemoryHandles, MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { recordedEnds } from "../../../src/cli/data/RecordedEnds.ts"
import { CommandFailed } from "../../../src/cli/Failure.ts"

const options = { nodeId: "n", streamId: "s", segmentTuning: { linger: 0 } } as const
const key = manifestKey(logPrefix({ ...options, prefix: "" }))

/** So many epochs with a record each, the last one without an end. */
const filled = Effect.fnUntraced(function*(epochs: number) {
  const memory = yield* MemoryObjectStore.make()
  for (let epoch = 1; epoch <= epochs; epoch++) {
    yield* Wal.make(options).pipe(
      Effect.flatMap((log) => log.append([{ payload: Uint8Array.of(1) }])),
      Effect.flatMap(({ durable }) => durable),
      Effect.scoped,
      Effect.provideService(ObjectStore, memory.store)
    )
  }
  return memory
})

const endsOf = Effect.fnUntraced(function*(memory: MemoryHandles) {
  const manifest = yield* decodeManifest(key, memory.objects.get(key)?.body ?? new Uint8Array(0))
  const found = yield* recordedEnds(manifest, (name) => {
    const object = memory.objects.get(name)
    return object === undefined
      ? Effect.fail(new CommandFailed({ code: "gone", message: name, next: "", exit: "notFound" }))
      : Effect.succeed(object)
  })
  return { manifest, found }
})

describe("the recorded ends", () => {
  it.live("are those of the manifest and of its archive, and without the archive those that are there, and why", () =>
    Effect.gen(function*() {
      const memory = yield* filled(400)
      const { found, manifest } = yield* endsOf(memory)
      assert.isBelow(manifest.ends.length, 257)
      assert.deepStrictEqual(found.ends.map(({ epoch }) => epoch), Array.from({ length: 399 }, (_, index) => index + 1))
      assert.isUndefined(found.damage)
      const archive = manifest.ends_archive?.key ?? ""
      memory.damage(archive, (body) => body.slice(0, 50))
      const damaged = yield* endsOf(memory)
      assert.deepStrictEqual(damaged.found.ends, manifest.ends)
      assert.strictEqual(damaged.found.damage?._tag, "ManifestCorrupt")
      memory.objects.delete(archive)
      assert.strictEqual((yield* endsOf(memory)).found.damage?.message, archive)
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None")))
})
