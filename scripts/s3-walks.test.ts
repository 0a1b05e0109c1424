import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { nodeDigest } from "../packages/core/src/node/NodeDigest.ts"
import type { ObjectStoreError } from "../packages/core/src/store/ObjectStoreError.ts"
import { Bucket } from "../packages/testing/src/simulation/Bucket.ts"
import { Network } from "../packages/testing/src/simulation/Network.ts"
import { SeededRandom } from "../packages/testing/src/simulation/SeededRandom.ts"
import { SimProcess } from "../packages/testing/src/simulation/SimProcess.ts"
import { drawFaults, type FaultRates, healthy } from "../packages/testing/src/simulation/StoreFaults.ts"
import { Timeline } from "../packages/testing/src/simulation/Timeline.ts"
import { Trace } from "../packages/testing/src/simulation/Trace.ts"
import { walk } from "../packages/testing/src/simulation/Walk.ts"
import { s3Itself } from "./sim/S3Dialect.ts"
import { makeS3Store, storeOfSeed, wearsS3 } from "./sim/S3Dress.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (body: Uint8Array | undefined): string => new TextDecoder().decode(body)

const told = (effect: Effect.Effect<unknown, ObjectStoreError>) =>
  Effect.match(effect, { onFailure: ({ reason }) => reason, onSuccess: () => "success" })

/** One process and its way to a bucket, with nothing else in the world. */
const wireIn = (rates: Partial<FaultRates>) => {
  const random = new SeededRandom(1)
  const timeline = new Timeline()
  const bucket = new Bucket(timeline, 0)
  const none = healthy(drawFaults(random))
  const faults = { ...none, rates: { ...none.rates, ...rates }, refusals: [] }
  const network = new Network(timeline, random, faults, new Trace(timeline, false))
  const ready: Array<SimProcess> = []
  const hooks = { onReady: (one: SimProcess) => ready.push(one), onInterruption: () => undefined }
  const process = new SimProcess({ id: 0, timeline, hooks, maxOperations: 100, epochMillis: 0 })
  const run = (untilMillis: number) => {
    do for (let one = ready.shift(); one !== undefined; one = ready.shift()) if (one.isReady) one.runStep()
    while (timeline.advance(untilMillis))
  }
  const store = makeS3Store(s3Itself)({ process, bucket, network, random, deadlineMillis: 500 })
  return { bucket, network, process, run, store }
}

describe("the wire in S3's dress", () => {
  it("[case 2] a client gives up at its deadline, and what it has sent comes later as it was", () => {
    let gaveUp = false
    for (let at = 0; at < 20; at++) {
      const { bucket, network, process, run, store } = wireIn({ ghost: 1 })
      for (let skipped = 0; skipped < at; skipped++) process.fork(store.list({ prefix: "" }), Context.empty())
      const body = bytes("first")
      let reason: string | undefined
      const creating = Effect.map(told(store.create("a", body)), (answered) => {
        reason = answered
        // Its owner may do with the bytes what it likes now.
        body.fill(0)
      })
      process.fork(creating, Context.empty())
      run(600)
      assert.include(["TimedOut", "Unavailable"], reason)
      network.heal()
      run(10_000)
      assert.strictEqual(text(bucket.objects.get("a")?.body), "first")
      gaveUp ||= reason === "TimedOut"
    }
    assert.isTrue(gaveUp)
  })

  it("a body that breaks off is no answer, and is asked for again by whoever wants it", () => {
    const { bucket, process, run, store } = wireIn({ truncated: 1 })
    bucket.create("a", bytes("whole"))
    const reasons: Array<string> = []
    for (const ask of [store.get("a"), store.list({ prefix: "" }), store.remove(["b"])]) {
      process.fork(Effect.map(told(ask), (reason) => reasons.push(reason)), Context.empty())
    }
    run(600)
    assert.deepStrictEqual(reasons, ["Unavailable", "Unavailable", "Unavailable"])
  })
})

const dressedSeeds = Array.from({ length: 20 }, (_, index) => index < 10 ? 10 + index : 20 + index)

describe("walks in S3's dress", () => {
  it("are about half of all, whatever the step between seeds", () => {
    const shareOf = (step: number) =>
      Array.from({ length: 1_000 }, (_, index) => index * step).filter(wearsS3).length / 1_000
    assert.deepStrictEqual([1, 2, 3, 4, 8].map(shareOf), [0.5, 0.5, 0.5, 0.4, 0.4])
    assert.isTrue(dressedSeeds.every(wearsS3))
  })

  it("the same seed is the same walk, and not that of a plain store", () => {
    const [seed = 10] = dressedSeeds
    const run = () => walk(seed, { digest: nodeDigest, keepTrace: true, makeStore: storeOfSeed(seed) })
    const first = run()
    assert.deepStrictEqual(run(), first)
    assert.isTrue(first.trace.some((line) => line.endsWith(" applied: 200")))
    assert.notStrictEqual(walk(seed, { digest: nodeDigest }).digest, first.digest)
    const other = makeS3Store(s3Itself)
    assert.notStrictEqual(walk(seed, { digest: nodeDigest, makeStore: other }).digest, first.digest)
  })

  for (const seed of dressedSeeds) {
    it(`seed ${seed} breaks nothing`, () => {
      assert.deepStrictEqual(walk(seed, { digest: nodeDigest, makeStore: storeOfSeed(seed) }).violations, [])
    })
  }
})
