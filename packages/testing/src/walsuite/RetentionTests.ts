/** Deleting: what may go, what goes, and time that jumps. */
import { assert } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import type { Suite } from "./Suite.ts"
import { open, type Process } from "./SuiteProcess.ts"
import { dense, failureOf, isSlot, isStored, keyAt, range, readAll, records, store } from "./SuiteRecords.ts"
import { drive, settle, until } from "./SuiteTime.ts"

const yearsMillis = 10 * 365 * 24 * 3_600_000
const dayMillis = 24 * 3_600_000

const trimmedTo = (process: Process) => Effect.map(process.wal.status, (status) => status.trimmedTo)

const removes = (process: Process) => process.faults.requests.filter(({ operation }) => operation === "remove")

const trimTests = ({ test }: Suite) => {
  for (const [mark, trimmed] of [[35, 30], [39, 30], [40, 40]] as const) {
    test(`cursor ${mark} of 100: 1 to ${trimmed} go, nothing else, and they stay gone [case 17] [predecessor 25]`, (place) =>
      Effect.gen(function*() {
        const options = { retention: { policy: "committed" }, manifest: { maxSegments: 1, maxDelay: "1s" } } as const
        const first = yield* open(place, options)
        yield* store(first.wal, records(100))
        yield* first.wal.commit(mark)
        yield* first.pass("5 seconds")
        assert.strictEqual(yield* drive(first.wal.trim(100)), trimmed)
        const gone = trimmed / 10
        yield* until(Effect.map(isStored(first, keyAt(place, gone - 1)), (stored) => !stored))
        for (const slot of range(0, 9)) {
          assert.strictEqual(yield* isStored(first, keyAt(place, slot)), slot >= gone, `slot ${slot}`)
        }
        assert.deepStrictEqual(yield* readAll(first.wal), dense(100, trimmed + 1))
        assert.deepInclude(yield* failureOf(Stream.runDrain(first.wal.read({ from: trimmed }))), {
          _tag: "Trimmed",
          trimmedTo: trimmed
        })
        yield* first.crash
        const second = yield* open(place, options)
        assert.strictEqual(yield* trimmedTo(second), trimmed)
        assert.deepStrictEqual(yield* readAll(second.wal), dense(100, trimmed + 1))
        const replay = yield* drive(Stream.runCollect(second.wal.replay({ until: "durable-end" })))
        assert.strictEqual(replay.at(0)?.seq, mark + 1)
      }))
  }

  test("the slowest cursor decides, and the status says which it is [case 17]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, { retention: { policy: "committed" } })
      yield* store(process.wal, records(50))
      yield* process.wal.commit(12, { cursor: "slow" })
      yield* process.wal.commit(50)
      assert.strictEqual(yield* drive(process.wal.trim(50)), 10)
      assert.strictEqual((yield* process.wal.status).heldBackBy, "slow")
      yield* process.wal.removeCursor("slow")
      assert.strictEqual(yield* drive(process.wal.trim(50)), 50)
    }))

  test("when all is trimmed, numbers go on above it, whatever the end was [predecessor 9]", (place) =>
    Effect.gen(function*() {
      const options = { retention: { policy: "committed" } } as const
      for (let round = 0; round < 4; round++) {
        const process = yield* open(place, options)
        const appended = yield* store(process.wal, records(20, round * 20 + 1))
        assert.strictEqual(appended.first, round * 20 + 1)
        yield* process.wal.commit(appended.last)
        assert.strictEqual(yield* drive(process.wal.trim(appended.last)), appended.last)
        yield* until(Effect.map(isStored(process, keyAt(place, 1, round + 1)), (stored) => !stored))
        yield* round % 2 === 0 ? process.crash : process.end
      }
      const last = yield* open(place, options)
      assert.deepStrictEqual(yield* readAll(last.wal), [])
      assert.strictEqual((yield* store(last.wal, records(1))).first, 81)
    }))

  test("nothing goes by itself where the policy is keep; trim takes what the cursors allow", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, { manifest: { maxSegments: 1, maxDelay: "1s" } })
      yield* store(process.wal, records(50))
      yield* process.wal.commit(50)
      yield* process.pass("1 minute")
      assert.strictEqual(yield* trimmedTo(process), 0)
      assert.deepStrictEqual(removes(process), [])
      assert.strictEqual(yield* drive(process.wal.trim(25)), 20)
    }))

  test("max_bytes of the policy age deletes the oldest, whatever the cursor says [case 17]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, {
        retention: { policy: "age", maxBytes: 1_200 },
        manifest: { maxSegments: 1, maxDelay: "1s" }
      })
      for (const n of range(0, 5)) {
        yield* store(process.wal, records(10, n * 10 + 1))
        yield* process.pass("61 seconds")
      }
      yield* until(Effect.map(trimmedTo(process), (seq) => seq >= 10))
      const left = yield* readAll(process.wal)
      assert.deepStrictEqual(left, dense(60, (yield* trimmedTo(process)) + 1))
      assert.isAtLeast(left.length, 10)
    }))
}

const deleteTests = ({ backend, test }: Suite) => {
  test("a delete that fails, as a whole, is tried again until it is done; the log goes on [case 17]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, { retention: { policy: "committed" } })
      yield* store(process.wal, records(30))
      yield* process.wal.commit(20)
      let refuses = true
      process.faults.rule((request) =>
        refuses && request.operation === "remove" ? { _tag: "Fail", reason: "AccessDenied" } : undefined
      )
      assert.strictEqual(yield* drive(process.wal.trim(30)), 20)
      yield* until(Effect.sync(() => removes(process).length >= 3))
      assert.isTrue(yield* isStored(process, keyAt(place, 0)))
      yield* store(process.wal, records(5, 31))
      assert.deepStrictEqual(yield* readAll(process.wal), dense(35, 21))
      refuses = false
      yield* until(Effect.map(isStored(process, keyAt(place, 1)), (stored) => !stored))
      assert.isFalse(yield* isStored(process, keyAt(place, 0)))
      assert.isTrue(yield* isStored(process, keyAt(place, 2)))
    }))

  if (!backend.objects) return
  test("foreign objects, siblings and end markers stay; they are no segments [case 12]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(30))
      yield* first.crash
      const raw = yield* place.connect
      const base = keyAt(place, 0).slice(0, -"segments/0000000001/000000000000.seg".length)
      const sibling = (name: string) => `${base.slice(0, -1)}${name}/segments/0000000001/000000000000.seg`
      const foreign = [
        ...[".DS_Store", "README.txt", "manifest.json.bak", "segments/0000000001/x.tmp", "segments/1/2.seg"]
          .map((name) => base + name),
        sibling("2"),
        sibling("-old")
      ]
      for (const key of foreign) yield* raw.create(key, Uint8Array.of(0x50, 0x4b, 3, 4))
      const second = yield* open(place, { retention: { policy: "committed" } })
      assert.deepStrictEqual(yield* readAll(second.wal), dense(30))
      yield* second.wal.commit(30)
      assert.strictEqual(yield* drive(second.wal.trim(30)), 30)
      yield* until(Effect.map(isStored(second, keyAt(place, 2)), (stored) => !stored))
      yield* settle
      for (const key of foreign) assert.isTrue(yield* isStored(second, key), key)
      // The end marker of the first epoch.
      assert.isTrue(yield* isStored(second, keyAt(place, 3)))
      yield* raw.remove(foreign)
      const asked = second.faults.requests.filter(({ key, operation }) => operation === "remove" && !isSlot(key))
      assert.deepStrictEqual(asked, [])
    }))
}

const timeTests = ({ test }: Suite) => {
  test("timestamps of clients come back unchanged, however far off [case 17]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      const timestamps = [0, -1, 1_785_000_000, 1_785_000_000_000_000, 9e15, -1.5, Number.MAX_VALUE]
      yield* store(first.wal, timestamps.map((timestamp) => ({ payload: Uint8Array.of(1), timestamp })))
      yield* first.crash
      const { wal } = yield* open(place)
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual([...read].map((record) => record.timestamp), timestamps)
      assert.strictEqual(
        (yield* failureOf(wal.append([{ payload: Uint8Array.of(1), timestamp: Number.NaN }])))._tag,
        "InvalidRecord"
      )
    }))

  test("a wall clock that jumps ten years on and a day back deletes nothing uncommitted and stops no timer [case 17]", (place) =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      let jumpMillis = 0
      const jumping: Clock.Clock = {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + jumpMillis,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + jumpMillis)
      }
      const process = yield* open(place, {
        retention: { policy: "committed", minAge: "1h" },
        manifest: { maxSegments: 1, maxDelay: "1s" },
        segment: { flushInterval: "1s" }
      }).pipe(Effect.provideService(Clock.Clock, jumping))
      yield* store(process.wal, records(10))
      yield* process.wal.commit(5)
      let accepted = 10
      for (const jump of [yearsMillis, yearsMillis - dayMillis, yearsMillis]) {
        jumpMillis = jump
        // Nobody waits for these: the timer seals them.
        yield* process.wal.append(records(3, accepted + 1))
        accepted += 3
        yield* process.pass("3 seconds")
        assert.strictEqual((yield* process.wal.status).durable, accepted)
      }
      assert.strictEqual(yield* trimmedTo(process), 0)
      assert.deepStrictEqual(yield* readAll(process.wal), dense(19))
      const read = yield* drive(Stream.runCollect(process.wal.read()))
      const times = [...read].map((record) => record.appendedAt)
      assert.deepStrictEqual(times, [...times].sort((left, right) => left - right))
      assert.isAtLeast(times.at(-1) ?? 0, yearsMillis)
    }))
}

export const retentionTests = (suite: Suite): void => {
  trimTests(suite)
  deleteTests(suite)
  timeTests(suite)
}
