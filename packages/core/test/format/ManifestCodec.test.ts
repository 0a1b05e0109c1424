import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Boundary, Count, Epoch, Hex128 } from "../../src/format/Boundary.ts"
import { decodeText, encodeText } from "../../src/format/Bytes.ts"
import { decodeManifest, encodeManifest } from "../../src/format/ManifestCodec.ts"
import { sampleManifest } from "./Samples.ts"

const key = "n/s/manifest.json"
const good = decodeText(encodeManifest(sampleManifest())) ?? ""

const refused = (text: string | Uint8Array) =>
  Effect.flip(decodeManifest(key, typeof text === "string" ? encodeText(text) : text)).pipe(
    Effect.map((error) =>
      error._tag === "ManifestTooNew" ? [error._tag, error.key, error.found, error.max] : [error._tag, error.key]
    )
  )

const corrupt = ["ManifestCorrupt", key]

const Fields = Schema.Struct({
  log_id: Hex128,
  epoch: Epoch,
  live: Epoch,
  live_window: Count,
  host: Schema.String.check(Schema.makeFilter((text) => text.isWellFormed())),
  trim: Boundary,
  checkpoint: Boundary,
  ends: Schema.Array(Boundary).check(Schema.isMaxLength(5)),
  index: Schema.Array(Boundary).check(Schema.isMaxLength(5)),
  other: Count
})

describe("a manifest", () => {
  it.effect.prop("comes back as it went in", [Fields], ([{ other, ...fields }]) =>
    Effect.gen(function*() {
      const manifest = sampleManifest({
        ...fields,
        cursors: { revision: { epoch: other, n: 1 }, marks: { default: other, "a.b-c": 3 } },
        ends_archive: { key: "x", through: other }
      })
      const encoded = encodeManifest(manifest)
      assert.deepEqual(encodeManifest(yield* decodeManifest(key, encoded)), encoded)
    }), { arbitrary: { runs: 100 } })

  it.effect("[case 14] that is empty, cut, null, a list or no JSON is damaged", () =>
    Effect.gen(function*() {
      for (
        const text of [
          "",
          "{\"segments\":[{\"key\":\"seg-000",
          "null",
          "[]",
          "12",
          "\"text\"",
          "not json",
          good.slice(0, -1)
        ]
      ) {
        assert.deepStrictEqual(yield* refused(text), corrupt, text)
      }
      assert.deepStrictEqual(yield* refused(Uint8Array.of(0x7b, 0xff, 0x7d)), corrupt)
    }))

  it.effect("[case 14] of a newer version is too new, even if nothing else of it is known", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* refused("{\"version\":99}"), ["ManifestTooNew", key, 99, 1])
      assert.deepStrictEqual(yield* refused(good.replace("\"version\":1", "\"version\":2")), [
        "ManifestTooNew",
        key,
        2,
        1
      ])
      for (const version of ["0", "-1", "\"1\"", "null", "0.5"]) {
        assert.deepStrictEqual(yield* refused(good.replace("\"version\":1", `"version":${version}`)), corrupt, version)
      }
    }))

  it.effect("[case 14] with a wrong type, a missing field or a number out of range is damaged", () =>
    Effect.gen(function*() {
      const parsed: Readonly<Record<string, unknown>> = JSON.parse(good)
      for (const name of Object.keys(parsed)) {
        assert.deepStrictEqual(yield* refused(JSON.stringify({ ...parsed, [name]: undefined })), corrupt, name)
        assert.deepStrictEqual(yield* refused(JSON.stringify({ ...parsed, [name]: true })), corrupt, name)
      }
      for (
        const [from, to] of [
          ["\"default\":30", "\"default\":\"12\""],
          ["\"default\":30", "\"default\":-1"],
          ["\"default\":30", "\"default\":1.5"],
          ["\"default\":30", "\"default\":9007199254740993"],
          ["\"default\":30", "\"other\":30"],
          ["\"log_id\":\"a", "\"log_id\":\"A"],
          ["\"epoch\":4", "\"epoch\":-4"],
          // More than a key can name.
          ["\"epoch\":4", "\"epoch\":10000000000"]
        ] as const
      ) {
        assert.include(good, from)
        assert.deepStrictEqual(yield* refused(good.replace(from, to)), corrupt, to)
      }
    }))

  it.effect("[case 14] with a byte order mark is read", () =>
    Effect.gen(function*() {
      assert.deepEqual(yield* decodeManifest(key, encodeText(`\uFEFF${good}`)), sampleManifest())
    }))

  it.effect("says what is remembered of producers, in order, or nothing at all", () =>
    Effect.gen(function*() {
      const producers = [
        { id: "10", calls: [[0, 1, 2, 1, 1.5, 0xffff_ffff], [7, 3, 3, 2, 4, 0]] as const },
        { id: "2", calls: [[1, 4, 4, 2, 5, 1]] as const }
      ]
      const manifest = sampleManifest({ producers })
      assert.deepEqual(yield* decodeManifest(key, encodeManifest(manifest)), manifest)
      assert.notInclude(good, "producers")
      const text = decodeText(encodeManifest(manifest)) ?? ""
      assert.deepStrictEqual(yield* refused(text.replace("[0,1,2,1,", "[0,1,2,-1,")), corrupt)
      assert.deepStrictEqual(yield* refused(text.replace("[0,1,2,1,", "[1,2,1,")), corrupt)
      assert.deepStrictEqual(yield* refused(text.replace("\"id\":\"10\"", "\"id\":10")), corrupt)
    }))

  it.effect("[case 14] keeps the fields that it does not know through a rewrite", () =>
    Effect.gen(function*() {
      const decoded = yield* decodeManifest(key, encodeText(good.replace("{", "{\"x\":1,\"later\":{\"p\":[2]},")))
      assert.deepEqual(decoded.unknown, { x: 1, later: { p: [2] } })
      const again = yield* decodeManifest(key, encodeManifest({ ...decoded, epoch: 9 }))
      assert.deepEqual(again, { ...sampleManifest({ epoch: 9 }), unknown: { x: 1, later: { p: [2] } } })
    }))
})
