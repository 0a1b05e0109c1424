/** Objects that are whole in themselves but do not belong together: the chain and the numbers tell. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { drive, encode, killedWriter, makeWorld, readAll, type World } from "./World.ts"

/** Writes the segment of a slot again with another header and the same body. */
const rewrite = Effect.fnUntraced(function*(world: World, slot: number, change: Partial<SegmentHeader>) {
  const header = yield* world.header(1, slot)
  const object = world.memory.objects.get(world.key(1, slot))?.body ?? encode("")
  const body = object.slice(object.length - header.storedBytes)
  world.memory.put(world.key(1, slot), encodeSegment({ ...header, ...change }, body, nodeDigest))
})

const damage = (world: World) =>
  Effect.gen(function*() {
    const wal = yield* drive(world.process("next").open())
    const error = yield* drive(Effect.flip(Stream.runCollect(wal.read())))
    return "key" in error ? [error._tag, error.key, "offset" in error ? error.offset : undefined] : [error._tag]
  })

describe("a segment that does not follow the one before", () => {
  it.effect("by its chain, with the right numbers, is damage", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      yield* rewrite(world, 1, { chain: "0".repeat(32) })
      assert.deepStrictEqual(yield* damage(world), ["SegmentCorrupt", world.key(1, 1), 128])
    }))

  it.effect("because it was replaced by one with other records is found at the next one", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      const header = yield* world.header(1, 1)
      yield* rewrite(world, 1, { lastAt: header.lastAt + 1 })
      assert.deepStrictEqual(yield* damage(world), ["SegmentCorrupt", world.key(1, 2), 128])
    }))

  it.effect("because two were swapped is damage", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      const [one, two] = [1, 2].map((slot) => world.memory.objects.get(world.key(1, slot))?.body ?? encode(""))
      world.memory.put(world.key(1, 1), two ?? encode(""))
      world.memory.put(world.key(1, 2), one ?? encode(""))
      assert.deepStrictEqual(yield* damage(world), ["SegmentCorrupt", world.key(1, 1), 16])
    }))

  it.effect("by its numbers is a gap with the missing ones named", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      yield* rewrite(world, 2, { firstSeq: 14 })
      const wal = yield* drive(world.process("next").open())
      const error = yield* drive(Effect.flip(Stream.runCollect(wal.read())))
      assert.deepStrictEqual(
        error._tag === "SequenceGap" ? [error.key, error.from, error.to] : [error._tag],
        [world.key(1, 2), 11, 13]
      )
    }))

  it.effect("is not damage where nothing is wrong", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      yield* rewrite(world, 1, {})
      assert.strictEqual((yield* readAll(yield* drive(world.process("next").open()))).length, 20)
    }))
})
