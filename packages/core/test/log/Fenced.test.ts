import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { encodeEndMarker } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { open, prefix, records, settle, still } from "../support/LogWorld.ts"

describe("a log that learns of a newer writer", () => {
  it.effect("takes nothing more, while what is under way below the end marker is still answered", () =>
    Effect.gen(function*() {
      const { faults, memory, wal } = yield* open({
        ...still,
        segment: { maxEntries: 1 },
        parallelPut: { workers: 2 }
      })
      const { epoch, logId } = yield* wal.status
      const owner = { epoch: epoch + 1, host: "newer" }
      const place = { logId, nonce: "f".repeat(32), epoch, slot: 1, owner }
      memory.put(slotKey(prefix, epoch, 1), encodeEndMarker(place, nodeDigest))
      const gate = yield* Deferred.make<void>()
      faults.rule(({ key }) => key === slotKey(prefix, epoch, 0) ? { _tag: "HoldBefore", gate } : undefined)
      const [first, second] = [yield* wal.append(records(1)), yield* wal.append(records(1, 2))]
      const acks = yield* Effect.forkChild(Effect.all([Effect.exit(first.durable), Effect.exit(second.durable)]))
      yield* settle
      assert.strictEqual((yield* Effect.flip(wal.append(records(1))))._tag, "WriterFenced")
      const status = yield* wal.status
      assert.deepStrictEqual([status.state, status.newOwner], ["fenced", "newer"])
      assert.isUndefined(acks.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      const [below, at] = yield* Fiber.join(acks)
      assert.deepStrictEqual([Exit.isSuccess(below), Exit.isSuccess(at)], [true, false])
    }))
})
