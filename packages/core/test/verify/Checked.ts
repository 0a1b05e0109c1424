/** Logs that are verified and repaired: how tests make them, harm them and ask about them. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import * as WalVerify from "@effect-wal/core/WalVerify"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { assert } from "@effect/vitest"
import { Effect, References } from "effect"
import { Compression } from "../../src/codec/Compression.ts"
import { Digest } from "../../src/codec/Digest.ts"
import { encodeHeader, type SegmentHeader } from "../../src/format/SegmentHeader.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { drive, encode, makeWorld, type Options, records, store, type World } from "../scenarios/World.ts"

export const identity = { nodeId: "node", streamId: "log" }

/** As the process that asks: with a store, and nothing of the log in memory. */
export const onStore = <A, E, R>(effect: Effect.Effect<A, E, R>, given: ObjectStore["Service"]) =>
  effect.pipe(
    Effect.provideService(ObjectStore, given),
    Effect.provideService(Digest, Effect.succeed(nodeDigest)),
    Effect.provideService(Compression, Effect.succeed(nodeCompression)),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** Fails where anything but looking was asked of the store. */
export const assertReadOnly = (seen: FaultyObjectStore.FaultyHandles): void =>
  assert.deepStrictEqual(seen.requests.filter(({ operation }) => operation !== "get" && operation !== "list"), [])

/** Verifies the log of a world; asserts that nothing is written. */
export const check = Effect.fnUntraced(function*(world: World, options: Partial<WalVerify.ReportOptions> = {}) {
  const seen = FaultyObjectStore.make(world.memory.store)
  const result = yield* drive(onStore(WalVerify.report({ ...identity, ...options }), seen.store))
  assertReadOnly(seen)
  return result
})

/** A finding as `kind epoch/slot [from-to]`. */
export const short = (finding: WalVerify.Finding): string => {
  const { epoch, kind, known, lost, slot } = finding
  const place = epoch === undefined ? "" : ` ${epoch}/${slot}`
  const numbers = lost === undefined ? "" : ` ${lost.from}-${lost.to}${lost.exact ? "" : "+"}`
  return `${kind}${place}${numbers}${known ? " known" : ""}`
}

export const found = (world: World, options: Partial<WalVerify.ReportOptions> = {}) =>
  Effect.map(check(world, options), ({ findings }) => findings.map(short))

/** Records that each epoch of `makeEpochs` holds, by default. */
const perEpoch = 20

/**
 * Epochs of 20 records each in segments of 5, one writer after the other; all but the last are killed, the last one too:
 * it stays live. Numbers go from 1 up.
 */
export const makeEpochs = Effect.fnUntraced(function*(epochs: number, options: Options = {}, each = perEpoch) {
  const world = yield* makeWorld(options)
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const process = world.process(`w${epoch}`)
    const wal = yield* drive(process.open())
    yield* store(wal, records(each, (epoch - 1) * each + 1))
    process.crash()
  }
  return world
})

/** Writes a segment anew with another header, its checksum right: a lie that only the chain or its neighbours show. */
export const rewrite = (
  world: World,
  place: { readonly epoch: number; readonly slot: number },
  change: (header: SegmentHeader) => SegmentHeader
) =>
  Effect.gen(function*() {
    const key = world.key(place.epoch, place.slot)
    const header = yield* world.header(place.epoch, place.slot)
    const body = world.memory.objects.get(key)?.body.slice() ?? encode("")
    encodeHeader(change(header), body, nodeDigest)
    world.memory.put(key, body)
  })

/** The object at a key; dies where there is none. */
export const bytesAt = (world: World, key: string): Uint8Array => {
  const object = world.memory.objects.get(key)
  if (object === undefined) throw new Error(`no object ${key}`)
  return object.body
}
