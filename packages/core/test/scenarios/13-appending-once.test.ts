/** Repeats of a producer's call after restarts, crashes, take-overs and lost answers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { encodeSegment, readSegment } from "../../src/format/SegmentCodec.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { WalService } from "../../src/WalService.ts"
import {
  advanceUntil,
  dense,
  drive,
  gate,
  holdCreates,
  killWhileOpening,
  makeWorld,
  openGate,
  type Process,
  readAll,
  records,
  requestsOfOpening,
  type World
} from "./World.ts"

const by = (sequence: number, id = "p") => ({ producer: { id, sequence } })

/** Call `n` of a producer: records `r{2n + 1}` and `r{2n + 2}`. */
const call = (n: number) => records(2, 2 * n + 1)

/** Makes call `n` and waits until it is durable; answers what it got. */
const make = Effect.fnUntraced(function*(wal: WalService, n: number, id = "p") {
  const { durable, epoch, first, isRepeat = false, last } = yield* wal.append(call(n), by(n, id))
  yield* drive(durable)
  return { first, last, epoch, isRepeat }
})

/** What call `n` gets in a log that holds nothing but the calls before it. */
const original = (n: number, epoch = 1) => ({ first: 2 * n + 1, last: 2 * n + 2, epoch, isRepeat: true })

const numbered = (count: number) => Array.from({ length: count }, (_, n) => n)

/** A process that makes so many calls, each a segment of its own, and is killed. */
const killedAfter = Effect.fnUntraced(function*(world: World, calls: number) {
  const process = world.process("first")
  const wal = yield* drive(process.open())
  for (const n of numbered(calls)) yield* make(wal, n)
  process.crash()
})

/** Each of these calls gets its own numbers, in a new process, and nothing is there twice. */
const expectRepeats = Effect.fnUntraced(function*(process: Process, calls: ReadonlyArray<number>, total: number) {
  const wal = yield* drive(process.open())
  for (const n of calls) assert.deepStrictEqual(yield* make(wal, n), original(n))
  assert.deepStrictEqual(yield* readAll(wal), dense(total * 2))
  return wal
})

const gets = (process: Process): ReadonlyArray<string> =>
  process.faults.requests.filter(({ operation }) => operation === "get").map(({ key }) => key)

describe("a repeat", () => {
  it.effect("after an orderly restart is answered from the manifest alone", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const wal = yield* drive(world.process("first").open())
      for (const n of numbered(3)) yield* make(wal, n)
      yield* drive(wal.close)
      assert.deepStrictEqual((yield* world.manifest).producers?.map(({ calls, id }) => [id, calls.length]), [["p", 3]])
      const second = world.process("second")
      yield* drive(second.open())
      assert.deepStrictEqual(gets(second), ["node/log/manifest.json", world.key(1, 2)])
      yield* expectRepeats(world.process("third"), [0, 1, 2], 3)
    }))

  it.effect("after a kill is answered from the segments, within the newest five of its producer", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedAfter(world, 7)
      assert.isUndefined((yield* world.manifest).producers)
      const wal = yield* expectRepeats(world.process("second"), [2, 3, 4, 5, 6], 7)
      const old = yield* Effect.flip(wal.append(call(1), by(1)))
      assert.strictEqual(old._tag, "ProducerSequenceTooOld")
      const conflict = yield* Effect.flip(wal.append(call(1), by(6)))
      assert.strictEqual(conflict._tag, "ProducerConflict")
    }))

  it.effect("is answered although something else was in the segment's place when it was read first", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedAfter(world, 3)
      const key = world.key(1, 1)
      const body = world.memory.objects.get(key)?.body
      const [page, second] = [yield* gate, world.process("second")]
      // After its header was looked at, to find the end.
      const isRead = () => second.faults.requests.filter((one) => one.key === key).length === 2
      second.faults.rule((request) => request.key === key && isRead() ? { _tag: "HoldAfter", gate: page } : undefined)
      world.memory.put(key, new TextEncoder().encode("<html></html>"))
      const repeats = yield* Effect.forkChild(expectRepeats(second, [0, 1, 2], 3), { startImmediately: true })
      yield* advanceUntil(isRead)
      world.memory.put(key, body ?? new Uint8Array())
      yield* openGate(page)
      yield* drive(Fiber.join(repeats))
    }))

  it.effect("is answered from both: the manifest up to its checkpoint, the segments after it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ manifest: { maxSegments: 3, maxDelay: "1h" } })
      yield* killedAfter(world, 5)
      assert.strictEqual((yield* world.manifest).checkpoint.slot, 3)
      assert.deepStrictEqual((yield* world.manifest).producers?.[0]?.calls.map(([sequence]) => sequence), [0, 1, 2])
      const second = world.process("second")
      yield* expectRepeats(second, [0, 1, 2, 3, 4], 5)
      const read = gets(second).slice(0, 4)
      assert.sameMembers([...read], ["node/log/manifest.json", world.key(1, 4), world.key(1, 3), world.key(1, 4)])
    }))

  it.effect("keeps its epoch over many restarts and crashes", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedAfter(world, 2)
      for (const nth of numbered(4)) {
        const process = world.process(`host ${nth}`)
        const wal = yield* drive(process.open())
        assert.deepStrictEqual(yield* make(wal, 0, "p"), original(0))
        // Something else, so that the epoch is not empty; without a producer.
        yield* drive(Effect.flatMap(wal.append(records(1, 5 + nth)), ({ durable }) => durable))
        process.crash()
      }
      const wal = yield* drive(world.process("last").open())
      assert.deepStrictEqual(yield* make(wal, 1), original(1))
      assert.deepStrictEqual(yield* readAll(wal), dense(8))
    }))

  it.effect("after a take-over is answered by the new writer, and fails at the fenced one", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const old = yield* drive(world.process("old").open())
      yield* make(old, 0)
      const fresh = yield* drive(world.process("new").open())
      assert.deepStrictEqual(yield* make(fresh, 0), original(0))
      const lost = yield* old.append(call(1), by(1))
      assert.strictEqual((yield* drive(Effect.flip(lost.durable)))._tag, "WriterFenced")
      for (const n of [0, 1]) assert.strictEqual((yield* Effect.flip(old.append(call(n), by(n))))._tag, "WriterFenced")
      // What the fenced writer could not store is new, and gets its own numbers.
      assert.deepStrictEqual(yield* make(fresh, 1), { first: 3, last: 4, epoch: 2, isRepeat: false })
      assert.deepStrictEqual(yield* readAll(fresh), dense(4))
    }))

  it.effect("of a call that was stored and never answered gets the numbers that it has", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("first")
      const wal = yield* drive(process.open())
      yield* make(wal, 0)
      process.faults.rule(({ operation }) => operation === "create" ? { _tag: "Silence", applied: true } : undefined)
      const { durable } = yield* wal.append(call(1), by(1))
      yield* Effect.forkChild(Effect.exit(durable), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      process.crash()
      yield* expectRepeats(world.process("second"), [0, 1], 2)
    }))

  it.effect("after a lost answer in one process waits for the one segment", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("first")
      const wal = yield* drive(process.open())
      let lost = 0
      process.faults.rule(({ operation }) =>
        operation === "create" && lost++ < 2 ? { _tag: "Fail", reason: "TimedOut", applied: true } : undefined
      )
      yield* wal.append(call(0), by(0))
      assert.deepStrictEqual(yield* make(wal, 0), original(0))
      assert.deepStrictEqual(yield* readAll(wal), dense(2))
    }))

  it.effect("of a call that was lost in a crash is new, and only what exists is answered", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ segment: { maxEntries: 2, linger: "0ms" }, parallelPut: { workers: 4 } })
      const process = world.process("first")
      const wal = yield* drive(process.open())
      yield* holdCreates(process, "/000000000003.seg")
      const answers = yield* Effect.forEach(numbered(8), (n) => wal.append(call(n), by(n)))
      yield* drive(answers[2]?.durable ?? Effect.void)
      process.crash()
      const second = yield* drive(world.process("second").open())
      for (const n of [0, 1, 2]) assert.deepStrictEqual(yield* make(second, n), original(n))
      for (const n of [3, 4, 5, 6, 7]) {
        assert.deepStrictEqual(yield* make(second, n), { ...original(n, 2), isRepeat: false })
      }
      for (const n of [3, 7]) assert.deepStrictEqual(yield* make(second, n), original(n, 2))
      assert.deepStrictEqual(yield* readAll(second), dense(16))
    }))

  it.effect("stays known when calls that pushed it out were lost with their process", () =>
    Effect.gen(function*() {
      const options = { segment: { maxEntries: 2, linger: "0ms" }, producers: { max: 1 } } as const
      const world = yield* makeWorld(options)
      const process = world.process("first")
      const wal = yield* drive(process.open())
      yield* make(wal, 0)
      yield* holdCreates(process, "/000000000001.seg")
      for (const n of numbered(8)) yield* wal.append(call(n + 1), by(n + 1))
      yield* wal.append(call(9), by(9, "another"))
      // The manifest is written while they are on their way.
      yield* wal.commit(2)
      yield* drive(wal.trim(0))
      assert.deepStrictEqual((yield* world.manifest).producers?.map(({ calls, id }) => [id, calls.length]), [["p", 1]])
      process.crash()
      yield* expectRepeats(world.process("second"), [0], 1)
    }))

  it.effect("of records that are deleted is still answered, also after a restart", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const process = world.process("first")
      const wal = yield* drive(process.open())
      for (const n of numbered(4)) yield* make(wal, n)
      yield* wal.commit(6)
      assert.strictEqual(yield* drive(wal.trim(6)), 6)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(world.slots, ["0000000001/000000000003.seg"])
      assert.deepStrictEqual(yield* make(wal, 0), original(0))
      process.crash()
      const second = yield* drive(world.process("second").open())
      for (const n of numbered(4)) assert.deepStrictEqual(yield* make(second, n), original(n))
      assert.deepStrictEqual(yield* readAll(second), dense(8).slice(6))
    }))

  it.effect("is answered wherever openings in between were killed", () =>
    Effect.gen(function*() {
      const made = yield* makeWorld({ manifest: { maxSegments: 2, maxDelay: "1h" } })
      yield* killedAfter(made, 3)
      const requests = yield* requestsOfOpening(made)
      assert.isAbove(requests.length, 5)
      for (const [nth] of requests.entries()) {
        for (const applied of [false, true]) {
          const world = yield* made.copy
          yield* killWhileOpening(world.process("killed"), nth, applied)
          yield* expectRepeats(world.process("second"), [0, 1, 2], 3)
        }
      }
    }))

  it.effect("is refused while the log closes, and answered by the next one", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("first")
      const wal = yield* drive(process.open())
      const held = yield* gate
      process.faults.rule(({ operation }) => operation === "create" ? { _tag: "HoldBefore", gate: held } : undefined)
      yield* wal.append(call(0), by(0))
      const closing = yield* Effect.forkChild(wal.close, { startImmediately: true })
      assert.strictEqual((yield* Effect.flip(wal.append(call(0), by(0))))._tag, "WalClosed")
      yield* openGate(held)
      yield* drive(Fiber.join(closing))
      yield* expectRepeats(world.process("second"), [0], 1)
    }))
})

describe("what is remembered", () => {
  it.effect("ends with `ttl`, over a restart as without", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ producers: { ttl: "1m" } })
      yield* killedAfter(world, 2)
      yield* TestClock.adjust("61 seconds")
      const wal = yield* drive(world.process("second").open())
      assert.deepStrictEqual(yield* make(wal, 0), { first: 5, last: 6, epoch: 2, isRepeat: false })
    }))

  it.effect("is no more than the new `max` after a restart", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const wal = yield* drive(world.process("first").open())
      for (const n of numbered(4)) yield* make(wal, n, `p${n}`)
      yield* drive(wal.close)
      const second = yield* drive(world.process("second", { producers: { max: 2 } }).open())
      for (const n of [2, 3]) assert.deepStrictEqual(yield* make(second, n, `p${n}`), original(n))
      assert.isFalse((yield* make(second, 1, "p1")).isRepeat)
    }))

  it.effect("leaves out a damaged segment: its records are gone, so nothing answers with them", () =>
    Effect.gen(function*() {
      const made = yield* makeWorld()
      yield* killedAfter(made, 3)
      for (const harm of ["lost", "damaged"] as const) {
        const world = yield* made.copy
        const key = world.key(1, 1)
        if (harm === "lost") world.memory.objects.delete(key)
        else world.memory.damage(key, (body) => body.fill(0, body.length - 3))
        const wal = yield* drive(world.process("second").open()).pipe(Effect.result)
        // A hole below stored segments is a loss that opening refuses already.
        if (harm === "lost") {
          assert.strictEqual(wal._tag === "Failure" ? wal.failure._tag : "", "SegmentMissing")
        } else if (wal._tag === "Success") {
          for (const n of [0, 2]) assert.deepStrictEqual(yield* make(wal.success, n), original(n))
          const old = yield* Effect.flip(wal.success.append(call(1), by(1)))
          assert.strictEqual(old._tag, "ProducerSequenceTooOld")
        } else assert.fail(wal.failure.message)
      }
    }))

  it.effect("cannot be known where a segment is of a newer program: opening refuses", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedAfter(world, 3)
      const key = world.key(1, 1)
      const context = { digest: nodeDigest, compression: nodeCompression, maxSegmentBytes: 1_000_000 }
      const { body, header } = yield* readSegment(
        key,
        world.memory.objects.get(key)?.body ?? new Uint8Array(0),
        context
      )
      const extensions = [...header.extensions, { type: 99, critical: true, bytes: new Uint8Array(0) }]
      world.memory.put(key, encodeSegment({ ...header, extensions }, body, nodeDigest))
      const before = world.manifestTag
      assert.strictEqual((yield* drive(Effect.flip(world.process("second").open())))._tag, "SegmentTooNew")
      assert.notStrictEqual(world.manifestTag, before)
      assert.strictEqual((yield* world.manifest).live, 1)
    }))

  it.effect("costs an opening no request where nobody has named a producer", () =>
    Effect.gen(function*() {
      const plain = yield* makeWorld()
      const wal = yield* drive(plain.process("first").open())
      for (const n of numbered(5)) yield* drive(Effect.flatMap(wal.append(call(n)), ({ durable }) => durable))
      const named = yield* makeWorld()
      yield* killedAfter(named, 5)
      const count = Effect.fnUntraced(function*(world: World) {
        const process = (yield* world.copy).process("second")
        yield* drive(process.open())
        return gets(process).length
      })
      // The manifest, the last header, and headers of what is as small as an end marker.
      assert.strictEqual(yield* count(plain), 2 + 4)
      assert.strictEqual(yield* count(named), 2 + 4 + 5)
    }))
})
