/** Memory of packed objects: used again once it is stored, left alone where a request may still read it. */
import type { FaultyRequest } from "@effect-wal/testing/FaultyObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { drive, encode, key, open, type Options, readAll, still, store } from "../support/LogWorld.ts"

const text = (nth: number): string => `line ${nth} of a log file\n`.repeat(5_000)

/** Stores three segments, and answers in which memory each request's object lay. */
const memoryOf = Effect.fnUntraced(function*(
  options: Options,
  rule?: (request: FaultyRequest) => { readonly _tag: "Fail"; readonly reason: "Unavailable" } | undefined
) {
  const buffers: Array<ArrayBufferLike> = []
  const log = yield* open({ ...still, ...options }, {
    onCreate: (name, { buffer }) => {
      if (name.endsWith(".seg")) buffers.push(buffer)
    },
    rules: rule === undefined ? [] : [rule]
  })
  // The clock stands still after the first: times are part of what is packed, and of its size.
  yield* drive(store(log.wal, [{ payload: encode(text(1)) }]))
  for (const nth of [2, 3]) yield* store(log.wal, [{ payload: encode(text(nth)) }])
  const read = yield* readAll(log.wal)
  assert.deepStrictEqual(read.map(({ payload }) => Buffer.from(payload).toString()), [1, 2, 3].map(text))
  return buffers
})

const setting = { type: "zstd", level: 1 } as const

describe("memory of packed objects", () => {
  it.effect("is that of the one before, once that is stored", () =>
    Effect.gen(function*() {
      const buffers = yield* memoryOf({ compression: setting })
      assert.lengthOf(buffers, 3)
      assert.strictEqual(buffers[2], buffers[1])
      assert.strictEqual(buffers[1], buffers[0])
    }))

  it.effect("is not used again where an answer is not known: the request may still be read", () =>
    Effect.gen(function*() {
      let failures = 0
      const buffers = yield* memoryOf(
        { compression: setting },
        (request) =>
          request.operation === "create" && request.key === key(0) && failures++ === 0
            ? { _tag: "Fail", reason: "Unavailable" }
            : undefined
      )
      assert.lengthOf(buffers, 4)
      assert.strictEqual(buffers[1], buffers[0])
      assert.notStrictEqual(buffers[2], buffers[0])
      assert.strictEqual(buffers[3], buffers[2])
    }))

  it.effect("is that of the segment where nothing is packed", () =>
    Effect.gen(function*() {
      const buffers = yield* memoryOf({})
      assert.lengthOf(new Set(buffers), 3)
    }))
})
