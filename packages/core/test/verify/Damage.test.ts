import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { bytesAt, check, found, makeEpochs, short } from "./Checked.ts"
import { byteHarms, lies, placeHarms } from "./Harms.ts"

describe("verify finds by bytes alone", () => {
  for (const { found: expected, harm, name } of [...byteHarms, ...placeHarms, ...lies]) {
    it.effect(`${name} [predecessor 7] [predecessor 22]`, () =>
      Effect.gen(function*() {
        const world = yield* makeEpochs(3)
        yield* harm(world)
        const { findings, report } = yield* check(world)
        assert.deepStrictEqual(findings.map(short), expected)
        assert.isFalse(report.intact)
        assert.strictEqual(report.findings, expected.length)
      }))
  }

  it.effect("a flipped bit in a segment or an end marker, wherever it is [predecessor 7]", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2, {}, 5)
      for (const key of [world.key(1, 0), world.key(1, 1)]) {
        const whole = bytesAt(world, key).slice()
        const isMarker = key === world.key(1, 1)
        for (let at = 0; at < whole.length; at += at < 152 ? 1 : 5) {
          const bytes = whole.slice()
          bytes[at] = (bytes[at] ?? 0) ^ 0x10
          world.memory.objects.set(key, { body: bytes, tag: "x", modifiedMillis: 0 })
          const { report } = yield* check(world)
          assert.isFalse(report.intact, `byte ${at} of ${key}`)
          const kinds = Object.keys(report.byKind)
          if (isMarker) assert.deepStrictEqual(kinds, ["data-at-end"])
          else assert.deepStrictEqual(kinds, ["segment-corrupt"], `byte ${at} of ${key}`)
        }
        world.memory.put(key, whole)
      }
      assert.isTrue((yield* check(world)).report.intact)
    }))

  it.effect("at most as many findings are kept as asked for; all are counted", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(3)
      for (const slot of [0, 1, 2, 3]) world.memory.objects.delete(world.key(2, slot))
      const { findings, report } = yield* check(world, { maxFindings: 2 })
      assert.strictEqual(findings.length, 2)
      assert.deepInclude(report, { findings: 4, byKind: { "segment-missing": 4 } })
      assert.strictEqual((yield* check(world, { maxFindings: 0 })).findings.length, 0)
    }))

  it.effect("a segment of a newer program is named, not called damaged", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      world.memory.damage(world.key(1, 1), (bytes) => {
        const view = new DataView(bytes.buffer)
        const crcAt = view.getUint32(12, true) - 4
        view.setUint16(8, 2, true)
        view.setUint32(crcAt, nodeDigest.crc32(bytes.subarray(0, crcAt)), true)
        return bytes
      })
      assert.deepStrictEqual(yield* found(world), ["segment-too-new 1/1 6-10"])
    }))
})
