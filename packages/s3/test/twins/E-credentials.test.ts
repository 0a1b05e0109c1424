/** Twins of the credentials case: they end in the middle of a take-over. */
import { errorAnswer } from "@effect-wal/testing/HttpS3Action"
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { make } from "../../src/S3ObjectStore.ts"
import { append, openLog, readAll } from "./LogOnDouble.ts"

/** Gives K1, then K2, and so on. */
const rotating = () => {
  let asked = 0
  const provider = Effect.sync(() => {
    const accessKeyId = `K${++asked}`
    return { accessKeyId, secretAccessKey: Redacted.make(`secret of ${accessKeyId}`) }
  })
  return { asked: () => asked, credentials: { provider } }
}

describe("credentials that end while a log is taken over", () => {
  it.live("[kind E] at any of its requests: one refresh, the log opens, and each record is there once", () =>
    Effect.gen(function*() {
      for (let lastOfK1 = 0; lastOfK1 < 10; lastOfK1++) {
        const double = yield* makeDouble()
        const before = yield* openLog(yield* make(double.s3Options))
        yield* append(before, "one", "two")
        const source = rotating()
        const store = yield* make({ ...double.s3Options, credentials: source.credentials })
        let served = 0
        double.rule((request) =>
          request.accessKeyId === "K1" && served++ >= lastOfK1 ? errorAnswer(400, "ExpiredToken") : undefined
        )
        const wal = yield* openLog(store)
        yield* append(wal, "three")
        assert.deepStrictEqual(yield* readAll(wal), ["1:one", "2:two", "3:three"], `after ${lastOfK1} requests`)
        assert.isAtMost(source.asked(), 2)
        assert.strictEqual((yield* wal.status).epoch, 2)
      }
    }))

  it.live("[kind E] and again before each of its writes: it opens with the newest, and takes over once", () =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      yield* append(yield* openLog(yield* make(double.s3Options)), "one")
      const source = rotating()
      const store = yield* make({ ...double.s3Options, credentials: source.credentials })
      const spent = new Set<string>()
      // Each key is good for reading, and for one write.
      double.rule((request) => {
        const id = request.accessKeyId ?? ""
        if (request.operation !== "put" || !id.startsWith("K")) return undefined
        if (spent.has(id)) return errorAnswer(400, "ExpiredToken")
        spent.add(id)
        return undefined
      })
      const wal = yield* openLog(store)
      yield* append(wal, "two", "three")
      assert.deepStrictEqual(yield* readAll(wal), ["1:one", "2:two", "3:three"])
      assert.isAtLeast(source.asked(), 5)
      assert.strictEqual((yield* wal.status).epoch, 2)
    }))
})
