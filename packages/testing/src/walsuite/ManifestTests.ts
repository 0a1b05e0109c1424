/** The manifest, damaged or gone behind the log's back: the start is refused, and nothing is made worse. */
import { manifestKey } from "@effect-wal/core/format/ObjectKey"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Suite } from "./Suite.ts"
import type { WalPlace } from "./SuiteBackend.ts"
import { logPrefixAt, open } from "./SuiteProcess.ts"
import { decode, dense, encode, failureOf, readAll, records, store } from "./SuiteRecords.ts"

const keyOf = (place: WalPlace): string => manifestKey(logPrefixAt(place))

/** The manifest as it is stored now; no process is connected. */
const read = (place: WalPlace) =>
  Effect.scoped(Effect.gen(function*() {
    const raw = yield* place.connect
    return decode((yield* raw.get(keyOf(place))).body)
  }))

/** Another manifest, or none, in place of the one that is stored. */
const exchange = (place: WalPlace, text: string | undefined) =>
  Effect.scoped(Effect.gen(function*() {
    const raw = yield* place.connect
    yield* raw.remove([keyOf(place)])
    if (text !== undefined) yield* raw.create(keyOf(place), encode(text))
  }))

const closedLog = (place: WalPlace) =>
  Effect.gen(function*() {
    const writer = yield* open(place)
    yield* store(writer.wal, records(15))
    yield* writer.wal.commit(6)
    yield* writer.close
    return yield* read(place)
  })

export const manifestTests = ({ test }: Suite): void => {
  test("a manifest that is empty, cut, no object, or newer is refused and left as it is [case 14]", (place) =>
    Effect.gen(function*() {
      const good = yield* closedLog(place)
      const bad = [
        ["", "ManifestCorrupt"],
        [good.slice(0, good.length / 2), "ManifestCorrupt"],
        ["null", "ManifestCorrupt"],
        ["[]", "ManifestCorrupt"],
        [good.replace(/"version":\s*\d+/, "\"version\":99"), "ManifestTooNew"]
      ] as const
      for (const [text, tag] of bad) {
        yield* exchange(place, text)
        assert.strictEqual((yield* failureOf(open(place)))._tag, tag)
        assert.strictEqual(yield* read(place), text)
      }
      yield* exchange(place, good)
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(15))
      assert.strictEqual((yield* next.wal.status).cursors["default"]?.mark, 6)
    }))

  test("a byte order mark and fields of a later version are taken; the fields survive [case 14]", (place) =>
    Effect.gen(function*() {
      const good = yield* closedLog(place)
      yield* exchange(place, `\ufeff${good.replace("{", "{\"x_later\":1,")}`)
      const next = yield* open(place)
      yield* store(next.wal, records(5, 16))
      yield* next.close
      assert.match(yield* read(place), /"x_later":\s*1/)
      const last = yield* open(place)
      assert.deepStrictEqual(yield* readAll(last.wal), dense(20))
    }))

  test("a manifest that is gone beside segments is refused, and not made anew [predecessor 9]", (place) =>
    Effect.gen(function*() {
      const good = yield* closedLog(place)
      yield* exchange(place, undefined)
      for (let start = 0; start < 2; start++) {
        assert.strictEqual((yield* failureOf(open(place)))._tag, "ManifestMissing")
      }
      yield* exchange(place, good)
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(15))
    }))

  test("a manifest that vanishes under an open log ends it, and is not made anew [case 2]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place)
      yield* store(process.wal, records(15))
      yield* process.store.remove([keyOf(place)])
      yield* process.wal.commit(6)
      assert.strictEqual((yield* failureOf(process.wal.trim(1)))._tag, "ManifestVanished")
      assert.strictEqual((yield* failureOf(process.wal.append(records(1))))._tag, "ManifestVanished")
      assert.strictEqual((yield* failureOf(process.store.get(keyOf(place)))).reason, "NotFound")
    }))
}
