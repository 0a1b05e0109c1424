import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeArchive } from "../../src/format/EndsArchiveCodec.ts"
import type { Manifest } from "../../src/format/ManifestCodec.ts"
import { ObjectStoreError } from "../../src/store/ObjectStoreError.ts"
import { boundary, sampleManifest } from "../format/Samples.ts"
import { endsOf } from "../support/Archives.ts"

type Pointer = Manifest["ends_archive"]

const newest = { key: "newest", through: 9 }

/** The epochs of the ends of a log whose archives lead to each other as said; `asked` gets the key of each read. */
const epochsOf = (previous: Readonly<Record<string, Pointer>>, asked: Array<string> = []) => {
  const manifest = sampleManifest({ ends: [], ends_archive: newest, trim: boundary(1, 0, 0) })
  const ends = endsOf(manifest, (key) => {
    asked.push(key)
    const pointer = previous[key]
    return pointer === undefined
      ? Effect.fail(new ObjectStoreError({ operation: "get", key, reason: "NotFound", detail: "no" }))
      : Effect.succeed({
        body: encodeArchive({ ends: [boundary(10 - asked.length, 4, 40)], previous: pointer }),
        tag: "1"
      })
  })
  return Effect.map(ends, (all) => all.map(({ epoch }) => epoch))
}

describe("archives of ends", () => {
  it.effect("are followed from the newest back, as far as the trim point", () =>
    Effect.gen(function*() {
      const chain = { newest: { key: "a", through: 8 }, a: { key: "b", through: 1 }, b: { key: "c", through: 0 } }
      assert.deepStrictEqual(yield* epochsOf(chain), [7, 8, 9])
      assert.deepStrictEqual(yield* epochsOf({ newest: null }), [9])
    }))

  it.effect("that name each other, or themselves, are damage that is seen at once", () =>
    Effect.gen(function*() {
      const broken: ReadonlyArray<[chain: Readonly<Record<string, Pointer>>, key: string, through: number]> = [
        [{ newest }, "newest", 9],
        [{ newest: { key: "a", through: 8 }, a: newest }, "a", 9],
        [{ newest: { key: "a", through: 9 }, a: null }, "newest", 9]
      ]
      for (const [chain, key, through] of broken) {
        const asked: Array<string> = []
        const error = yield* Effect.flip(epochsOf(chain, asked))
        assert.deepInclude(error, { _tag: "ManifestCorrupt", key })
        assert.include(error.message, `it is ${through}`)
        assert.strictEqual(asked.at(-1), key)
        assert.strictEqual(new Set(asked).size, asked.length)
      }
    }))
})
