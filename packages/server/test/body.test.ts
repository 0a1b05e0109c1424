/** Bodies in pieces: what is given back of them, and when. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { Readable, Writable } from "node:stream"
import { createGunzip, gzipSync } from "node:zlib"
import { type Body, discardBody, wholeBody, wholeLines } from "../src/body/Body.ts"
import { Feed } from "../src/body/Feed.ts"
import { Hold } from "../src/body/Hold.ts"
import { Pieces } from "../src/body/Pieces.ts"
import { RequestBody } from "../src/RequestBody.ts"
import { Settings } from "../src/Settings.ts"
import { append, call, json } from "./support/Client.ts"
import { settingsOf, startServer } from "./support/TestServer.ts"
import { turn, until } from "./support/Wait.ts"

/** So many pieces of these sizes in turn, each byte another than that before it. */
const piecesOf = (count: number, ...sizes: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  let next = 0
  return Array.from(
    { length: count },
    (_, nth) => Buffer.from(Array.from({ length: sizes[nth % sizes.length] ?? 0 }, () => next++ % 251))
  )
}

const collect = (given: ReadonlyArray<Uint8Array>): Body => {
  const pieces = new Pieces()
  for (const piece of given) pieces.add(piece)
  assert.strictEqual(pieces.length, Buffer.concat(given).length)
  return pieces.body()
}

/** What is kept for a body, bytes: of a buffer all, whatever part of it is used. */
const keptBytes = (body: Body): number =>
  [...new Set(body.map(({ buffer }) => buffer))].reduce((bytes, { byteLength }) => bytes + byteLength, 0)

describe("a body in pieces", () => {
  it("is put together only where it came in several", () => {
    const one = new Uint8Array([1, 2])
    assert.strictEqual(wholeBody([one]), one)
    assert.deepStrictEqual([...wholeBody([one, new Uint8Array([3])])], [1, 2, 3])
    assert.strictEqual(wholeBody([]).length, 0)
  })

  it("has whole lines in each piece, once it is cut behind them", () => {
    const texts = wholeLines(["a\nb", "c", "d\ne\nf", "\n", "g"].map((text) => Buffer.from(text)))
    assert.deepStrictEqual(texts.map((piece) => Buffer.from(piece).toString()), ["a\n", "bcd\n", "e\n", "f\n", "g"])
  })

  it("gives memory back that is large and its own, and no other", () => {
    const own = new Uint8Array(20_000)
    const small = new Uint8Array(10_000)
    const part = new Uint8Array(40_000).subarray(0, 20_000)
    discardBody([own, small, part])
    assert.deepStrictEqual([own.length, small.length, part.length], [0, 10_000, 20_000])
  })

  it("is kept as it comes where its pieces are large or few", () => {
    for (const given of [piecesOf(0), piecesOf(1, 1), piecesOf(16, 100), piecesOf(40, 1_024)]) {
      const body = collect(given)
      assert.strictEqual(body.length, given.length)
      for (const [nth, piece] of body.entries()) assert.strictEqual(piece, given[nth])
    }
  })

  it.each([
    { count: 17, sizes: [1] },
    { count: 100_000, sizes: [1] },
    { count: 200, sizes: [1_023] },
    { count: 400, sizes: [1_024, 1] },
    { count: 300, sizes: [3, 0, 5_000, 700] },
    { count: 60, sizes: [1, 16_384, 4_095, 20_000] }
  ])("takes few pieces and little beside its bytes, however small they come: $count of $sizes", ({ count, sizes }) => {
    const given = piecesOf(count, ...sizes)
    const whole = Buffer.concat(given)
    const body = collect(given)
    assert.isTrue(Buffer.concat(body).equals(whole))
    // The first ones as they came, two for each large one, those of growing buffers.
    assert.isAtMost(body.length, 16 + whole.length / 512 + 12)
    // Only the last buffer has room left, and none is larger than what had come before it.
    const copies = body.filter((piece) => !given.some((one) => one === piece))
    assert.isAtMost(keptBytes(copies), whole.length + Math.min(16_384, whole.length))
  })

  it.effect("is collected so from a request", () =>
    Effect.gen(function*() {
      const given = piecesOf(50_000, 1)
      const bodies = yield* RequestBody
      const body = yield* Effect.callback<Body>((resume) => {
        bodies.read(Readable.from(given), (read) => resume(Effect.orDie(Effect.fromResult(read))))
      })
      assert.isTrue(Buffer.concat(body).equals(Buffer.concat(given)))
      assert.isBelow(body.length, 50)
    }).pipe(Effect.provide(RequestBody.layer), Effect.provideService(Settings, settingsOf({}))))

  it.effect("is unpacked in few pieces, and is on the account until then", () =>
    Effect.gen(function*() {
      const given = piecesOf(50_000, 1)
      const budget = { heldBytes: 0, limitBytes: 100_000 }
      const written: Array<Uint8Array> = []
      let goOn = () => {}
      const target = new Writable({
        write: (chunk: Uint8Array, _encoding, done) => {
          written.push(chunk)
          goOn = done
        }
      })
      const feed = new Feed(target, new Hold(budget))
      for (const piece of given) feed.add(piece)
      // The first is being written, and nothing waits in the stream.
      assert.deepStrictEqual([written.length, target.writableLength, budget.heldBytes], [1, 1, 49_999])
      feed.end()
      while (!target.writableFinished) {
        goOn()
        yield* turn
      }
      assert.isTrue(Buffer.concat(written).equals(Buffer.concat(given)))
      assert.isBelow(written.length, 50)
      assert.strictEqual(budget.heldBytes, 0)
    }))

  it.effect("is off the account when it is given up while it is unpacked", () =>
    Effect.gen(function*() {
      const budget = { heldBytes: 0, limitBytes: 1_000_000 }
      const packed = gzipSync(Buffer.concat([randomBytes(300_000), Buffer.alloc(10_000_000)]))
      const gunzip = createGunzip()
      const write = gunzip.write.bind(gunzip)
      let calledBack = 0
      const watched = Object.assign(gunzip, {
        write: (piece: Uint8Array, done: (error?: Error | null) => void) =>
          write(piece, (error) => {
            done(error)
            calledBack++
          })
      })
      const hold = new Hold(budget)
      const feed = new Feed(watched, hold)
      for (let at = 0; at < 240_000; at += 60_000) feed.add(packed.subarray(at, at + 60_000))
      gunzip.destroy()
      hold.release()
      // When the piece is done that was being unpacked.
      yield* until(() => calledBack > 0)
      yield* turn
      assert.deepStrictEqual([calledBack, budget.heldBytes], [1, 0])
    }))

  it.effect.each(["identity", "gzip"])(
    "has the same records in chunks of a byte each, as %s",
    (encoding) =>
      Effect.gen(function*() {
        const { log, port } = yield* startServer()
        const text = Array.from({ length: 300 }, (_, nth) => JSON.stringify(`${nth} ö`)).join("\n")
        const answer = yield* call(port, "/v1/streams/orders/records", {
          method: "POST",
          headers: { "content-type": "application/x-ndjson", "content-encoding": encoding },
          pieces: [...encoding === "gzip" ? gzipSync(text) : Buffer.from(text)].map((byte) => Buffer.of(byte))
        })
        assert.strictEqual(json(answer).count, 300)
        assert.strictEqual(log.records.map(({ payload }) => Buffer.from(payload).toString()).join("\n"), text)
      })
  )

  it.effect("that is packed has room where it is alone, however much of it waits to be unpacked", () =>
    Effect.gen(function*() {
      const maxBodyBytes = 300_000
      const { port } = yield* startServer({ limits: { maxBodyBytes, maxInFlightBodyBytes: maxBodyBytes } })
      const body = Buffer.concat([Buffer.alloc(200_000), randomBytes(100_000)])
      const answer = yield* call(port, "/v1/streams/orders/records", {
        method: "POST",
        headers: { "content-type": "application/octet-stream", "content-encoding": "gzip" },
        pieces: [gzipSync(body)]
      })
      assert.strictEqual(json(answer).count, 1)
    }))

  it.effect("is gone only when the log has its records", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const lines = Array.from({ length: 100 }, (_, nth) => JSON.stringify(`${nth} ${"x".repeat(1_000)}`))
      assert.strictEqual(json(yield* append(port, "application/x-ndjson", lines.join("\n"))).count, 100)
      assert.deepStrictEqual(log.records.map(({ payload }) => Buffer.from(payload).toString()), lines)
      const bytes = Buffer.alloc(100_000, "y")
      yield* append(port, "application/octet-stream", bytes)
      assert.isTrue(Buffer.from(log.records[100]?.payload ?? []).equals(bytes))
    }))
})
