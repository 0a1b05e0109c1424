/** Replacing the manifest: what counts as success, what is merged with, what fences. */
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { decodeManifest, encodeManifest, type Manifest } from "../../src/format/ManifestCodec.ts"
import { swapManifest, type SwapRequest } from "../../src/manifest/ManifestStore.ts"
import { ObjectStore } from "../../src/store/ObjectStore.ts"
import { sampleManifest } from "../format/Samples.ts"
import { drive, gate, openGate } from "../scenarios/World.ts"

const key = "n/s/manifest.json"
const mine = { epoch: 4, nonce: "b".repeat(32) }

/** A store that holds the sample, and a swap that writes into `host` which try the body is of. */
const setUp = Effect.gen(function*() {
  const memory = yield* MemoryObjectStore.make()
  memory.put(key, encodeManifest(sampleManifest()))
  const faults = FaultyObjectStore.make(memory.store)
  const held = { manifest: sampleManifest(), tag: memory.objects.get(key)?.tag ?? "" }
  let tries = 0
  const next: SwapRequest["next"] = (current, commitId) => ({ ...current, host: `try ${++tries}`, commit_id: commitId })
  const swap = (request: Partial<SwapRequest> = {}) =>
    swapManifest(
      {
        key,
        streamId: "s",
        backoff: { base: Duration.millis(10), cap: Duration.seconds(1) },
        readAttempts: 3
      },
      held,
      { next, owner: mine, onConflict: () => Effect.void, attempts: 4, ...request }
    ).pipe(Effect.provideService(ObjectStore, faults.store), drive)
  const stored = Effect.suspend(() => decodeManifest(key, memory.objects.get(key)?.body ?? new Uint8Array(0)))
  const replace = (change: Partial<Manifest>) =>
    Effect.map(stored, (manifest) => memory.put(key, encodeManifest({ ...manifest, ...change })))
  return { memory, faults, swap, stored, replace }
})

const hostOf = (swapped: Effect.Success<ReturnType<Effect.Success<typeof setUp>["swap"]>>) =>
  "_tag" in swapped ? swapped._tag : swapped.manifest.host

describe("replacing the manifest", () => {
  it.effect("succeeds by the store's word, without a read", () =>
    Effect.gen(function*() {
      const { memory, stored, swap } = yield* setUp
      assert.strictEqual(hostOf(yield* swap()), "try 1")
      assert.strictEqual((yield* stored).host, "try 1")
      assert.strictEqual(memory.count("get"), 0)
    }))

  it.effect("[case 1] succeeds when what is read back has the id of that very body", () =>
    Effect.gen(function*() {
      for (const reason of ["TimedOut", "PreconditionFailed", "Conflict"] as const) {
        const { faults, memory, swap } = yield* setUp
        faults.rule((request) => request.operation === "replace" ? { _tag: "Fail", reason, applied: true } : undefined)
        const swapped = yield* swap()
        assert.strictEqual(hostOf(swapped), "try 1")
        assert.strictEqual("_tag" in swapped ? "" : swapped.tag, memory.objects.get(key)?.tag)
        assert.strictEqual(memory.count("replace"), 1)
      }
    }))

  it.effect("gets in although a busy writer replaces it more often than tries are made", () =>
    Effect.gen(function*() {
      const { replace, swap } = yield* setUp
      let written = 0
      const busy = Effect.suspend(() => replace({ commit_id: String(++written).padStart(32, "0") }))
      yield* busy
      yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.sleep("2 millis"), busy)))
      assert.strictEqual(hostOf(yield* swap()), "try 2")
    }))

  it.effect("goes on after an earlier try of its own that landed late: that body is not the one that was asked for", () =>
    Effect.gen(function*() {
      const { faults, stored, swap } = yield* setUp
      const late = yield* gate
      faults.rule((request) =>
        request.operation === "replace" && request.nth === 0
          ? { _tag: "Ghost", reason: "TimedOut", gate: late }
          : undefined
      )
      const before = yield* gate
      faults.rule((request) =>
        request.operation === "replace" && request.nth === 1 ? { _tag: "HoldBefore", gate: before } : undefined
      )
      const landing = Effect.andThen(openGate(late), openGate(before))
      const swapped = yield* swap({
        onConflict: (_, attempt) => attempt === 0 ? Effect.forkDetach(landing) : Effect.void
      })
      assert.strictEqual(hostOf(swapped), "try 3")
      assert.strictEqual((yield* stored).host, "try 3")
    }))

  it.effect("builds each try anew from what was read", () =>
    Effect.gen(function*() {
      const { replace, stored, swap } = yield* setUp
      yield* replace({ unknown: { x: 1 }, live_window: 7 })
      assert.strictEqual(hostOf(yield* swap()), "try 2")
      const manifest = yield* stored
      assert.deepStrictEqual([manifest.unknown, manifest.live_window], [{ x: 1 }, 7])
    }))

  it.effect("[predecessor 10] never merges over another epoch or nonce, and says whose it is", () =>
    Effect.gen(function*() {
      for (const change of [{ epoch: 5 }, { nonce: "f".repeat(32) }]) {
        const { memory, replace, swap } = yield* setUp
        yield* replace({ ...change, host: "other" })
        const tag = memory.objects.get(key)?.tag
        const error = yield* Effect.flip(swap())
        assert.deepStrictEqual(
          error._tag === "WriterFenced" ? [error.epoch, error.byEpoch, error.byHost] : [error._tag],
          [4, "epoch" in change ? 5 : 4, "other"]
        )
        assert.strictEqual(memory.objects.get(key)?.tag, tag)
      }
    }))

  it.effect("starts again from anybody's body while claiming", () =>
    Effect.gen(function*() {
      const { memory, replace } = yield* setUp
      yield* replace({ epoch: 9, nonce: "f".repeat(32) })
      const manifest = sampleManifest()
      const swapped = yield* drive(
        swapManifest(
          {
            key,
            streamId: "s",
            backoff: { base: Duration.millis(10), cap: Duration.seconds(1) },
            readAttempts: 3
          },
          { manifest, tag: "\"old\"" },
          {
            next: (current, commitId) => ({ ...current, epoch: current.epoch + 1, commit_id: commitId }),
            onConflict: () => Effect.void,
            attempts: 4
          }
        ).pipe(Effect.provideService(ObjectStore, memory.store))
      )
      assert.strictEqual("_tag" in swapped ? 0 : swapped.manifest.epoch, 10)
    }))

  it.effect("[case 2] of one that is gone is ManifestVanished, and it stays gone", () =>
    Effect.gen(function*() {
      const { memory, swap } = yield* setUp
      memory.objects.delete(key)
      assert.strictEqual((yield* Effect.flip(swap()))._tag, "ManifestVanished")
      assert.isFalse(memory.objects.has(key))
    }))

  it.effect("[case 2] gives up after so many tries with the last answer, and takes none of them for success", () =>
    Effect.gen(function*() {
      for (const reason of ["TimedOut", "Conflict", "PreconditionFailed"] as const) {
        const { faults, stored, swap } = yield* setUp
        faults.rule((request) => request.operation === "replace" ? { _tag: "Fail", reason } : undefined)
        const swapped = yield* swap()
        assert.strictEqual("_tag" in swapped ? swapped.last.reason : "", reason)
        assert.strictEqual(faults.requests.filter((request) => request.operation === "replace").length, 4)
        assert.strictEqual((yield* stored).host, "host")
      }
    }))

  it.effect("[case 2] what trying again does not change is said after one try, and is none for success", () =>
    Effect.gen(function*() {
      for (const reason of ["AccessDenied", "NoSuchBucket", "UnexpectedResponse"] as const) {
        const { faults, stored, swap } = yield* setUp
        faults.rule((request) => request.operation === "replace" ? { _tag: "Fail", reason } : undefined)
        const error = yield* Effect.flip(swap())
        assert.strictEqual(error._tag, reason === "UnexpectedResponse" ? reason : "AccessDenied")
        assert.strictEqual(faults.requests.filter((request) => request.operation === "replace").length, 1)
        assert.strictEqual((yield* stored).host, "host")
      }
    }))

  it.effect("[case 1] a refusal that was applied all the same is read back as success", () =>
    Effect.gen(function*() {
      const { faults, swap } = yield* setUp
      faults.rule((request) =>
        request.operation === "replace" ? { _tag: "Fail", reason: "UnexpectedResponse", applied: true } : undefined
      )
      assert.isFalse("_tag" in (yield* swap()))
    }))
})
