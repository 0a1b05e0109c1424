/** Case 17 on S3: deletes that fail inside a success, and buckets where deleting frees nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bytes, setUp } from "../support.ts"

describe("deleting on S3", () => {
  it.effect("[case 17] [kind K] an error for a key inside a 200 is a failure of that key, and of no other", () =>
    Effect.gen(function*() {
      const { double, store } = yield* setUp()
      for (const key of ["seg1", "seg2", "seg3"]) yield* store.create(key, bytes("1"))
      double.settings.deleteErrors = new Map([["seg1", "AccessDenied"], ["seg3", "InternalError"]])
      assert.deepStrictEqual(yield* store.remove(["seg1", "seg2", "seg3", "gone"]), [
        { key: "seg1", code: "AccessDenied" },
        { key: "seg3", code: "InternalError" }
      ])
      double.settings.deleteErrors = new Map()
      assert.deepStrictEqual(yield* store.remove(["seg1", "seg3"]), [])
      assert.strictEqual(double.objects.size, 0)
    }))

  it.effect.each([["Enabled", true], ["Suspended", false], [undefined, false]] as const)(
    "[case 17] [kind K] a bucket with versioning %s is pointed out: %s",
    ([versioning, pointedOut]) =>
      Effect.gen(function*() {
        const { store } = yield* setUp({ versioning })
        const advice = yield* store.advice("wal/node/main/")
        assert.strictEqual(advice.some((line) => /version/.test(line)), pointedOut)
      })
  )
})
