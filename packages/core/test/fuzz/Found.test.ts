/** What the fuzzer found in decoders, where the input is too long to be kept as bytes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { resolveOptions } from "../../src/config/ResolveOptions.ts"
import { encodeText } from "../../src/format/Bytes.ts"
import { highestMark, lowestMark } from "../../src/format/CursorSet.ts"
import { decodeManifest, encodeManifest } from "../../src/format/ManifestCodec.ts"
import { decodeBody, encodeBody } from "../../src/format/SegmentBody.ts"
import { boundary, columnsOf, sampleManifest } from "../format/Samples.ts"
import { endsOf } from "../support/Archives.ts"

/** More than a call takes as arguments. */
const many = 200_000

const withUnknown = (text: string) => {
  const good = new TextDecoder().decode(encodeManifest(sampleManifest()))
  return decodeManifest("manifest.json", encodeText(`${good.slice(0, -1)},"later":${text}}`))
}

describe("a manifest with a field of a later version", () => {
  it.effect("is refused where that is nested so deep that it could not be written again", () =>
    Effect.gen(function*() {
      for (const depth of [65, 100_000]) {
        const error = yield* Effect.flip(withUnknown("[".repeat(depth) + "]".repeat(depth)))
        assert.strictEqual(
          error._tag === "ManifestCorrupt" && error.reason,
          "an unknown field is nested deeper than 64"
        )
      }
      assert.isDefined(encodeManifest(yield* withUnknown("[".repeat(60) + "]".repeat(60))))
    }))

  it.effect("is refused where a rewrite would make null of a number", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(withUnknown("{\"a\":[1e400]}"))
      assert.strictEqual(
        error._tag === "ManifestCorrupt" && error.reason,
        "an unknown field holds a number that is too large"
      )
    }))
})

describe("more of something than a call takes as arguments", () => {
  it("cursors", () => {
    const marks = Object.fromEntries(Array.from({ length: many }, (_, index) => [`c${index}`, index + 5]))
    const cursors = { revision: { epoch: 1, n: 1 }, marks }
    assert.deepStrictEqual([lowestMark(cursors), highestMark(cursors)], [5, many + 4])
  })

  it.effect("ends in an archive", () =>
    Effect.gen(function*() {
      const end = JSON.stringify(boundary(2, 4, 40))
      const text = `{"format":"effect-wal ends","version":1,"ends":[${`${end},`.repeat(many)}${end}],"previous":null}`
      const manifest = sampleManifest({ ends_archive: { key: "a", through: 3 } })
      const ends = yield* endsOf(manifest, () => Effect.succeed({ body: encodeText(text), tag: "1" }))
      assert.strictEqual(ends.length, many + 1 + manifest.ends.length)
    }))
})

describe("options of the library", () => {
  it.effect("an unknown key that holds a tree thousands deep is an unknown key, no overflow", () =>
    Effect.gen(function*() {
      const deep: object = JSON.parse(
        `{"nodeId":"n","streamId":"s","other":${"{\"a\":".repeat(20_000)}0${"}".repeat(20_000)}}`
      )
      const error = yield* Effect.flip(resolveOptions({ nodeId: "n", streamId: "s", ...deep }))
      assert.deepStrictEqual(error.problems.map(({ path }) => path), ["other"])
    }))

  it.effect("a preset beside an empty segment is kept", () =>
    Effect.gen(function*() {
      const base = { nodeId: "n", streamId: "s", preset: "aggressive" } as const
      assert.deepStrictEqual(yield* resolveOptions({ ...base, segment: {} }), yield* resolveOptions(base))
      assert.isTrue(Result.isSuccess(yield* Effect.result(resolveOptions({ segment: {}, ...base }))))
    }))
})

describe("a time or a timestamp that is not finite", () => {
  it("is damage: it can't be written as JSON", () => {
    const body = encodeBody(columnsOf([{ payload: new Uint8Array(0), timestamp: Number.POSITIVE_INFINITY }]))
    assert.deepInclude(decodeBody(body, { firstSeq: 1, count: 1 }), { reason: "a timestamp is not finite" })
    const late = encodeBody(columnsOf([{ payload: new Uint8Array(0) }], Number.POSITIVE_INFINITY))
    assert.deepInclude(decodeBody(late, { firstSeq: 1, count: 1 }), { reason: "a time is not finite" })
  })
})
