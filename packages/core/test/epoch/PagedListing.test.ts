/** Listings of several pages: a writer stores slots between two of them, so no page says what the others should. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { WalReader } from "@effect-wal/core/WalReader"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Compression } from "../../src/codec/Compression.ts"
import { Digest } from "../../src/codec/Digest.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { drive, key, open, reopen, still, storeSegments, type TestLog } from "../support/LogWorld.ts"

/** The store as it is listed while these slots come: their page was read before, that of the later ones after. */
const listedBefore = ({ memory }: TestLog, slots: ReadonlyArray<number>) => {
  const keys = slots.map((slot) => key(slot))
  const store: ObjectStore["Service"] = {
    ...memory.store,
    list: (request) =>
      Effect.map(memory.store.list(request), (page) => ({
        ...page,
        objects: page.objects.filter((object) => !keys.includes(object.key))
      }))
  }
  return { ...memory, store }
}

const fourSegments = Effect.gen(function*() {
  const log = yield* open({ ...still, segment: { maxEntries: 10 } })
  yield* storeSegments(log.wal, 4, 10)
  return log
})

describe("slots that are stored while the listing goes on", () => {
  it.effect("[simulation] are no loss to whoever opens the log", () =>
    Effect.gen(function*() {
      const log = yield* fourSegments
      const memory = listedBefore(log, [0, 1])
      const next = yield* drive(reopen({ ...log, memory }, still))
      assert.strictEqual((yield* next.wal.status).durable, 40)
    }))

  it.effect("[simulation] are no loss to a reader on another node", () =>
    Effect.gen(function*() {
      const log = yield* fourSegments
      const { store } = listedBefore(log, [1, 2])
      const reader = yield* drive(WalReader.make({ nodeId: "node", streamId: "log" })).pipe(
        Effect.provideService(ObjectStore, store),
        Effect.provideService(Digest, Effect.succeed(nodeDigest)),
        Effect.provideService(Compression, Effect.succeed(nodeCompression))
      )
      assert.strictEqual((yield* reader.status).durable, 40)
    }))

  it.effect("are a loss where they are not there", () =>
    Effect.gen(function*() {
      const log = yield* fourSegments
      log.memory.objects.delete(key(2))
      const error = yield* drive(Effect.flip(reopen({ ...log, memory: listedBefore(log, [1]) }, still)))
      assert.deepInclude(error, { _tag: "SegmentMissing", key: key(2) })
    }))
})
