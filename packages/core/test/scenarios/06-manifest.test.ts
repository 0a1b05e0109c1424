/** The manifest is missing, gone, damaged or from the future: nothing is written, and each is a failure of its own. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { manifestKey, segmentsPrefix } from "../../src/format/ObjectKey.ts"
import {
  advanceUntil,
  decode,
  dense,
  drive,
  encode,
  killedWriter,
  makeWorld,
  prefix,
  readAll,
  records,
  store,
  type World
} from "./World.ts"

const key = manifestKey(prefix)

/** What opening fails with; asserts that the bucket is the same, byte for byte and tag for tag. */
const refusal = Effect.fnUntraced(function*(world: World) {
  const before = world.bucket
  const error = yield* drive(Effect.flip(world.process("next").open()))
  assert.deepStrictEqual(world.bucket, before)
  return error
})

describe("a manifest", () => {
  it.effect("[predecessor 9] that is missing beside segments is refused, also behind a page of foreign objects", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      world.memory.objects.delete(key)
      for (let index = 0; index < 1_200; index++) {
        world.memory.put(`${segmentsPrefix(prefix)}.${index}`, encode("foreign"))
      }
      const error = yield* refusal(world)
      assert.strictEqual(error._tag, "ManifestMissing")
      assert.deepStrictEqual("found" in error ? error.found : "", world.key(1, 0))
    }))

  it.effect("that is missing beside foreign objects only is that of a new log", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      world.memory.put(`${segmentsPrefix(prefix)}README.txt`, encode("foreign"))
      world.memory.put(`node/log2/segments/0000000001/000000000000.seg`, encode("of a sibling"))
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(5))
      assert.deepStrictEqual(yield* readAll(wal), dense(5))
    }))

  it.effect("[case 2] that vanishes under an open writer stops it, and is not created again", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(10))
      world.memory.objects.delete(key)
      yield* wal.commit(5)
      const error = yield* drive(Effect.flip(wal.trim(5)))
      assert.strictEqual(error._tag, "ManifestVanished")
      assert.strictEqual((yield* wal.status).state, "failed")
      assert.strictEqual((yield* Effect.flip(wal.append(records(1))))._tag, "ManifestVanished")
      yield* drive(wal.close)
      assert.isFalse(world.memory.objects.has(key))
      assert.strictEqual((yield* refusal(world))._tag, "ManifestMissing")
    }))

  it.effect("that vanishes while it is opened is ManifestVanished", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      const opener = world.process("opener")
      opener.faults.rule((request) => {
        if (request.operation === "replace") world.memory.objects.delete(key)
        return undefined
      })
      assert.strictEqual((yield* drive(Effect.flip(opener.open())))._tag, "ManifestVanished")
      assert.isFalse(world.memory.objects.has(key))
    }))

  it.effect("[case 14] that does not decode, or has a newer version, is refused and left as it is", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      yield* killedWriter(base, 10)
      const good = decode(base.memory.objects.get(key)?.body ?? encode(""))
      const bad: ReadonlyArray<readonly [string, string]> = [
        ["", "ManifestCorrupt"],
        [good.slice(0, 40), "ManifestCorrupt"],
        ["null", "ManifestCorrupt"],
        ["[]", "ManifestCorrupt"],
        [good.replace("\"version\":1", "\"version\":99"), "ManifestTooNew"],
        [good.replace("\"default\":0", "\"default\":\"12\""), "ManifestCorrupt"],
        [good.replace("\"default\":0", "\"default\":-1"), "ManifestCorrupt"]
      ]
      for (const [text, tag] of bad) {
        const world = yield* base.copy
        world.memory.put(key, encode(text))
        assert.strictEqual((yield* refusal(world))._tag, tag, text)
      }
    }))

  it.effect("[case 14] with a byte order mark or unknown fields opens; the fields survive every rewrite", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      const good = decode(world.memory.objects.get(key)?.body ?? encode(""))
      world.memory.put(key, encode(`\uFEFF${good.replace("{", "{\"x\":{\"y\":[1]},")}`))
      const wal = yield* drive(world.process("next").open())
      yield* store(wal, records(5, 11))
      yield* wal.commit(15)
      yield* drive(wal.trim(10))
      assert.deepStrictEqual((yield* world.manifest).unknown, { x: { y: [1] } })
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("third").open())), dense(15).slice(10))
    }))

  it.effect("[case 2] answered 409, 409, 412 in turn: every change is in it once, in few tries, none is dropped", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({
        parallelPut: { workers: 8 },
        segment: { maxEntries: 1, linger: "0ms" },
        manifest: { maxSegments: 8, maxDelay: "1s" }
      })
      const process = world.process("a")
      const wal = yield* drive(process.open())
      let count = 0
      process.faults.rule((request) => {
        if (request.operation !== "replace") return undefined
        const turn = count++ % 4
        if (turn < 2) return { _tag: "Fail", reason: "Conflict" }
        return turn === 2 ? { _tag: "Fail", reason: "PreconditionFailed" } : undefined
      })
      yield* store(wal, records(64))
      const report = yield* drive(wal.close)
      assert.deepStrictEqual(report, { streamId: "log", durable: 64, lost: null, spooled: null, manifestWritten: true })
      assert.deepStrictEqual((yield* world.manifest).checkpoint.seq, 64)
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("b").open())), dense(64))
    }))

  it.effect("[predecessor 24] that loses every try is left after eight, with pauses that grow, and tried again later", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ manifest: { maxSegments: 1, maxDelay: "1m" } })
      const process = world.process("a")
      const wal = yield* drive(process.open())
      let refuse = true
      let tries = 0
      process.faults.rule((request) => {
        if (request.operation !== "replace" || !refuse) return undefined
        tries++
        return { _tag: "Fail", reason: "PreconditionFailed" }
      })
      yield* store(wal, records(5))
      const at: Array<number> = []
      for (let step = 0; tries < 8 && step < 4_000; step++) {
        while (at.length < tries) at.push(step)
        yield* TestClock.adjust("10 millis")
      }
      assert.strictEqual(tries, 8)
      const pauses = at.slice(1).map((step, index) => step - (at[index] ?? 0)).slice(1)
      assert.isAtLeast(Math.min(...pauses), 1, "no more than one try follows at once")
      assert.isAbove(pauses.at(-1) ?? 0, pauses[0] ?? 0)
      const waiting = tries
      assert.strictEqual((yield* wal.status).state, "open")
      yield* store(wal, records(5, 6))
      assert.strictEqual(tries, waiting, "a batch that lost eight times waits")
      refuse = false
      yield* advanceUntil(
        () => process.faults.requests.filter((one) => one.operation === "replace").length > 10,
        "1 second"
      )
      assert.strictEqual((yield* world.manifest).checkpoint.seq, 10)
    }))

  it.effect("[predecessor 20] [predecessor 27] has one size for 20 and for 2,000 segments, for one PUT a segment", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({
        segment: { maxEntries: 1, linger: "0ms" },
        manifest: { maxSegments: 8, maxDelay: "1h" }
      })
      const wal = yield* drive(world.process("a").open())
      const size = () => world.memory.objects.get(key)?.body.length ?? 0
      const write = Effect.fnUntraced(function*(count: number) {
        yield* drive(Effect.flatMap(wal.append(records(count)), (appended) => appended.durable))
        yield* wal.flush
      })
      yield* write(400)
      const early = size()
      const puts = world.memory.count("create")
      yield* write(1_600)
      yield* drive(wal.trim(0))
      assert.isAtMost(size(), early * 1.3)
      assert.isAtMost(size(), 24_000)
      assert.strictEqual(world.memory.count("create") - puts, 1_600)
      assert.strictEqual(world.memory.count("get"), 1)
      assert.isAtMost(world.memory.count("replace"), 2_000 / 8 + 4)
    }))

  it.effect("is not written by an idle log, nor is anything else asked", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({
        manifest: { maxSegments: 8, maxDelay: "10s" },
        cursor: { interval: "1s" },
        retention: { policy: "committed" }
      })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(5))
      yield* wal.commit(5)
      yield* drive(Effect.sleep("30 seconds"))
      const before = world.memory.requests.length
      const idle = yield* Effect.forkChild(Effect.sleep("1 hour"), { startImmediately: true })
      yield* advanceUntil(() => idle.pollUnsafe() !== undefined, "10 seconds")
      yield* Fiber.join(idle)
      assert.strictEqual(world.memory.requests.length, before)
    }))
})
