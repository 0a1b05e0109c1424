/** Damage behind the log's back: loud, exact, and nothing is made worse. */
import { encodeSegment, readHeader } from "@effect-wal/core/format/SegmentCodec"
import { nodeDigest } from "@effect-wal/core/node/NodeDigest"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { zstdCompressSync } from "node:zlib"
import type { Suite } from "./Suite.ts"
import type { Scar, WalPlace } from "./SuiteBackend.ts"
import { open, type Process } from "./SuiteProcess.ts"
import {
  assertFailure,
  dense,
  encode,
  failureOf,
  keyAt,
  range,
  readAll,
  records,
  replayed,
  skipping,
  store
} from "./SuiteRecords.ts"
import { drive } from "./SuiteTime.ts"

/** What damages a slot of a log, as it is stored now. */
const scarrer = (place: WalPlace, process: Process, slots: number) =>
  Effect.gen(function*() {
    const bodies: Array<Uint8Array> = []
    for (const slot of range(0, slots - 1)) bodies.push((yield* process.store.get(keyAt(place, slot))).body)
    return (slot: number, change: Pick<Scar, "at" | "length">) =>
      place.scar({ key: keyAt(place, slot), body: bodies[slot] ?? assert.fail(`no slot ${slot}`), ...change })
  })

/** A log of segments of ten records whose writer has closed it. */
const closedLog = (place: WalPlace, segments: number, mark = 0) =>
  Effect.gen(function*() {
    const writer = yield* open(place)
    yield* store(writer.wal, records(segments * 10))
    yield* writer.wal.commit(mark)
    const scar = yield* scarrer(place, writer, segments)
    yield* writer.close
    return scar
  })

/** Another object under the key of a segment. */
const exchange = (raw: ObjectStore["Service"], key: string, change: (body: Uint8Array) => Uint8Array) =>
  Effect.gen(function*() {
    const { body } = yield* raw.get(key)
    yield* raw.remove([key])
    yield* raw.create(key, change(body.slice()))
  })

const assertWhole = (replay: Effect.Success<ReturnType<typeof replayed>>, expected: ReadonlyArray<number>) => {
  assert.isUndefined(replay.error)
  assert.deepStrictEqual(replay.before, expected)
}

const middleTests = ({ backend, test }: Suite) => {
  for (const [name, at] of [["body", -10], ["header", 40]] as const) {
    test(`a flipped ${name} byte in the middle: loud, or one lost range with skip; nothing is written over [case 11] [predecessor 7] [predecessor 22]`, (place) =>
      Effect.gen(function*() {
        const scar = yield* closedLog(place, 6)
        yield* scar(2, { at, length: 1 })
        const next = yield* open(place)
        const { before, error } = yield* replayed(next.wal)
        assert.deepStrictEqual(before, range(1, 20))
        // A journal that no longer finds the segment says so; an object that does not read is named as damaged.
        const tags = backend.objects ? ["SegmentCorrupt"] : ["SegmentCorrupt", "SegmentMissing"]
        assert.include(tags, error?._tag)
        assertFailure(error, { key: keyAt(place, 2) })
        assert.deepStrictEqual(yield* skipping(next.wal), [...range(1, 20), "lost 21-30", ...range(31, 60)])
        yield* store(next.wal, records(5, 61))
        yield* next.crash
        const last = yield* open(place)
        assert.deepStrictEqual(yield* skipping(last.wal), [...range(1, 20), "lost 21-30", ...range(31, 65)])
      }))
  }

  test("damage below the cursor hurts nobody [case 18]", (place) =>
    Effect.gen(function*() {
      const scar = yield* closedLog(place, 6, 35)
      yield* scar(2, { at: -10, length: 4 })
      const next = yield* open(place)
      assertWhole(yield* replayed(next.wal), range(36, 60))
    }))

  test("a lost range counts as done once it was delivered [case 18]", (place) =>
    Effect.gen(function*() {
      const scar = yield* closedLog(place, 4)
      yield* scar(1, { at: -10, length: 1 })
      const { wal } = yield* open(place)
      yield* wal.ack({ from: 1, to: 10 })
      yield* wal.ack({ from: 21, to: 40 })
      assert.strictEqual((yield* wal.status).cursors["default"]?.mark, 10)
      assert.deepStrictEqual(yield* skipping(wal), ["lost 11-20", ...range(21, 40)])
      assert.strictEqual((yield* wal.status).cursors["default"]?.mark, 40)
    }))
}

const lastTests = ({ backend, test }: Suite) => {
  const crashedLog = (place: WalPlace) =>
    Effect.gen(function*() {
      const writer = yield* open(place)
      for (const from of [1, 11, 21]) yield* store(writer.wal, records(10, from))
      const scar = yield* scarrer(place, writer, 3)
      yield* writer.crash
      return scar
    })

  if (!backend.objects) {
    test("a torn end: what is whole before it stays, new records go on, later starts are clean [case 11]", (place) =>
      Effect.gen(function*() {
        const scar = yield* crashedLog(place)
        yield* scar(2, { at: -7, length: 7 })
        const second = yield* open(place)
        assert.deepStrictEqual(yield* readAll(second.wal), dense(20))
        assert.strictEqual((yield* store(second.wal, records(5, 21))).first, 21)
        yield* second.crash
        for (let start = 0; start < 2; start++) {
          const next = yield* open(place)
          assert.deepStrictEqual(yield* readAll(next.wal), dense(25))
          yield* next.crash
        }
      }))
    return
  }
  test("the last segment is no torn tail: a bad header is refused at the start, nothing is written over [case 11]", (place) =>
    Effect.gen(function*() {
      const scar = yield* crashedLog(place)
      yield* scar(2, { at: 40, length: 4 })
      const raw = yield* place.connect
      const { body } = yield* raw.get(keyAt(place, 2))
      for (let start = 0; start < 2; start++) {
        assertFailure(yield* failureOf(open(place)), { _tag: "SegmentCorrupt", key: keyAt(place, 2) })
      }
      assert.deepStrictEqual((yield* raw.get(keyAt(place, 2))).body, body)
    }))

  test("the last segment is no torn tail: a bad body is found by who reads it, and the log goes on [case 11]", (place) =>
    Effect.gen(function*() {
      const scar = yield* crashedLog(place)
      yield* scar(2, { at: -7, length: 7 })
      const next = yield* open(place)
      assert.strictEqual((yield* store(next.wal, records(5, 31))).first, 31)
      assert.strictEqual((yield* replayed(next.wal)).error?._tag, "SegmentCorrupt")
      assert.deepStrictEqual(yield* skipping(next.wal), [...range(1, 20), "lost 21-30", ...range(31, 35)])
    }))
}

const objectTests = ({ backend, test }: Suite) => {
  if (!backend.objects) return
  const kinds: ReadonlyArray<readonly [string, (body: Uint8Array) => Uint8Array]> = [
    ["cut by 7 bytes", (body) => body.subarray(0, body.length - 7)],
    ["ends in zeros", (body) => body.fill(0, body.length - 40)],
    ["only its header", (body) => body.subarray(0, 200)],
    ["followed by 4 MiB of zeros", (body) => Buffer.concat([body, new Uint8Array(4 * 1_048_576)])],
    ["empty", () => encode("")],
    ["a zip file", () => Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0)]
  ]
  test(`a segment that is ${kinds.map(([name]) => name).join(", or ")} is SegmentCorrupt [case 11] [case 12]`, (place) =>
    Effect.gen(function*() {
      yield* closedLog(place, kinds.length * 2 + 1)
      const raw = yield* place.connect
      for (const [index, [, damage]] of kinds.entries()) yield* exchange(raw, keyAt(place, index * 2 + 1), damage)
      const { wal } = yield* open(place)
      for (const [index, [name]] of kinds.entries()) {
        // Each is met by a replay that starts behind the one before.
        yield* wal.commit(index * 20 + 5)
        const { before, error } = yield* replayed(wal)
        assert.deepStrictEqual(before, range(index * 20 + 6, index * 20 + 10), name)
        assertFailure(error, { _tag: "SegmentCorrupt", key: keyAt(place, index * 2 + 1) }, name)
      }
    }))

  test("a segment that is missing: the range above the cursor, nobody below it [case 18] [predecessor 8]", (place) =>
    Effect.gen(function*() {
      yield* closedLog(place, 10, 50)
      const raw = yield* place.connect
      yield* raw.remove([keyAt(place, 3)])
      const { wal } = yield* open(place)
      assertWhole(yield* replayed(wal), range(51, 100))
      yield* wal.commit(35, { cursor: "late" })
      const { before, error } = yield* replayed(wal, "late")
      assert.deepStrictEqual(before, [])
      assertFailure(error, { _tag: "SegmentMissing", key: keyAt(place, 3), from: 31, to: 40 })
      assert.deepStrictEqual(yield* skipping(wal, "late"), ["lost 36-40", ...range(41, 100)])
    }))

  test("all segments gone above a cursor is refused, below it numbers go on [predecessor 9]", (place) =>
    Effect.gen(function*() {
      const options = { retention: { policy: "committed" } } as const
      const writer = yield* open(place, options)
      yield* store(writer.wal, records(20))
      yield* writer.wal.commit(20)
      yield* drive(writer.wal.trim(20))
      yield* store(writer.wal, records(20, 21))
      yield* writer.wal.commit(25)
      yield* writer.close
      const raw = yield* place.connect
      const bodies = yield* Effect.forEach([2, 3], (slot) => raw.get(keyAt(place, slot)))
      yield* raw.remove(range(0, 3).map((slot) => keyAt(place, slot)))
      assertFailure(yield* failureOf(open(place)), { _tag: "SegmentMissing", from: 26, to: 40 })
      for (const [index, { body }] of bodies.entries()) yield* raw.create(keyAt(place, index + 2), body)
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(40, 21))
      assert.strictEqual((yield* store(next.wal, records(1, 41))).first, 41)
    }))

  test("a segment of 8 KB that unpacks to 64 MiB, behind a header that says 1,000 bytes [case 15]", (place) =>
    Effect.gen(function*() {
      yield* closedLog(place, 4)
      const raw = yield* place.connect
      const key = keyAt(place, 1)
      const { body } = yield* raw.get(key)
      const { header } = yield* readHeader(key, body, nodeDigest)
      const packed = zstdCompressSync(new Uint8Array(64 * 1_048_576))
      const sizes = { rawBytes: 1_000, storedBytes: packed.length, storedCrc: nodeDigest.crc32(packed) }
      yield* exchange(raw, key, () => encodeSegment({ ...header, codec: "zstd", ...sizes }, packed, nodeDigest))
      const { wal } = yield* open(place)
      const { before, error } = yield* replayed(wal)
      assert.deepStrictEqual(before, range(1, 10))
      assertFailure(error, { _tag: "SegmentCorrupt", key })
    }))

  test("a segment that may not be read is AccessDenied, never missing; a single 404 is asked again [case 18]", (place) =>
    Effect.gen(function*() {
      yield* closedLog(place, 4)
      const { faults, wal } = yield* open(place)
      let misses = 1
      const lift = faults.rule((request) =>
        request.operation === "get" && request.key === keyAt(place, 1) && misses-- > 0
          ? { _tag: "Fail", reason: "NotFound" }
          : undefined
      )
      assertWhole(yield* replayed(wal), range(1, 40))
      lift()
      faults.rule((request) =>
        request.operation === "get" && request.key === keyAt(place, 1)
          ? { _tag: "Fail", reason: "AccessDenied" }
          : undefined
      )
      const { before, error } = yield* replayed(wal)
      assert.deepStrictEqual(before, range(1, 10))
      assert.strictEqual(error?._tag, "AccessDenied")
    }))
}

export const damageTests = (suite: Suite): void => {
  middleTests(suite)
  lastTests(suite)
  objectTests(suite)
}
