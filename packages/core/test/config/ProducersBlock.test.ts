import { decodeBackend } from "@effect-wal/core/config/DecodeBackend"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"

const decode = (producers: unknown) =>
  decodeBackend({ type: "object_store", node_id: "n", stream_id: "s", s3: { bucket: "my-bucket" }, producers })

describe("the producers block", () => {
  it.effect("limits what is remembered", () =>
    Effect.gen(function*() {
      const { options } = yield* decode({ max: 17, ttl: "30s" })
      assert.deepStrictEqual(options.producers, { max: 17, ttl: Duration.seconds(30) })
    }))

  it.effect("names all that is wrong with it", () =>
    Effect.gen(function*() {
      const { problems } = yield* Effect.flip(decode({ max: "many", ttl: 5, size: 1 }))
      assert.sameMembers(problems.map(({ path }) => path), [
        "backend.producers.size",
        "backend.producers.max",
        "backend.producers.ttl"
      ])
    }))
})
