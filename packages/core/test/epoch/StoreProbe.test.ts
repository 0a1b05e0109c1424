import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { Digest } from "../../src/codec/Digest.ts"
import { probeStore } from "../../src/epoch/StoreProbe.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { ProcessRegistry, ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import { ObjectStore } from "../../src/store/ObjectStore.ts"
import { ObjectStoreError, type Reason } from "../../src/store/ObjectStoreError.ts"
import { Wal } from "../../src/Wal.ts"
import { drive, prefix } from "../scenarios/World.ts"

type Store = ObjectStore["Service"]

const backoff = { base: Duration.millis(10), cap: Duration.seconds(1) }

const refuse = (operation: "create" | "replace", key: string, reason: Reason, detail = "as the test asked") =>
  Effect.fail(new ObjectStoreError({ operation, key, reason, detail }))

const probe = (store: Store) => drive(probeStore({ prefix, backoff }).pipe(Effect.provideService(ObjectStore, store)))

/** A store with some operations of its own over one in memory; asserts that the probe leaves nothing behind. */
const probed = Effect.fnUntraced(
  function*(change: (inner: Store, put: (key: string, body: Uint8Array) => void) => Partial<Store>) {
    const memory = yield* MemoryObjectStore.make({ id: "memory:probe" })
    const store = ObjectStore.of({ ...memory.store, ...change(memory.store, memory.put) })
    const result = yield* Effect.result(probe(store))
    assert.deepStrictEqual([...memory.objects.keys()], [], "the probe's objects are removed")
    return result
  }
)

const failedCheck = Effect.fnUntraced(function*(change: Parameters<typeof probed>[0]) {
  const result = yield* probed(change)
  if (result._tag === "Success") return "passed"
  const error = result.failure
  return error._tag === "ConditionalWritesUnsupported" ? error.check : error._tag
})

describe("the store probe", () => {
  it.effect("passes a store that has both conditions, and removes what it wrote", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* failedCheck(() => ({})), "passed")
    }))

  it.effect("[case 3] [predecessor 13] 501 to a conditional create: the check is named, nothing is tried again", () =>
    Effect.gen(function*() {
      let requests = 0
      const result = yield* probed(() => ({
        create: (key) => {
          requests++
          return refuse("create", key, "NotSupported", "NotImplemented: If-None-Match")
        }
      }))
      assert.strictEqual(result._tag, "Failure")
      if (result._tag === "Failure" && result.failure._tag === "ConditionalWritesUnsupported") {
        assert.deepStrictEqual(
          [result.failure.store, result.failure.check, result.failure.found],
          ["memory:probe", "create of a free key", "NotImplemented: If-None-Match"]
        )
      } else assert.fail("another error")
      assert.strictEqual(requests, 1)
    }))

  it.effect("501 to a conditional replace", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* failedCheck(() => ({ replace: (key) => refuse("replace", key, "NotSupported") })),
        "replace with a wrong tag"
      )
    }))

  it.effect("[predecessor 13] a store that ignores the condition of a create", () =>
    Effect.gen(function*() {
      const check = yield* failedCheck((_, put) => ({
        create: (key, body) =>
          Effect.sync(() => {
            put(key, body)
            return "\"tag\""
          })
      }))
      assert.strictEqual(check, "create of a taken key")
    }))

  it.effect("a store that ignores the condition of a replace", () =>
    Effect.gen(function*() {
      const ignoring = yield* failedCheck((inner, put) => ({
        replace: (key, body) =>
          Effect.sync(() => {
            put(key, body)
            return "\"tag\""
          }).pipe(Effect.tap(() => inner.list({ prefix: "" })))
      }))
      assert.strictEqual(ignoring, "replace with a wrong tag")
    }))

  it.effect("a store that creates on a replace of a missing key", () =>
    Effect.gen(function*() {
      const check = yield* failedCheck((inner) => ({
        replace: (key, body, tag) =>
          Effect.catchIf(inner.replace(key, body, tag), (error) =>
            error.reason === "NotFound", () =>
            inner.create(key, body))
      }))
      assert.strictEqual(check, "replace of a missing key")
    }))

  it.effect("[case 4] a store whose tags never match, as weak ones or ones in the wrong spelling", () =>
    Effect.gen(function*() {
      const check = yield* failedCheck((inner) => ({
        create: (key, body) => Effect.map(inner.create(key, body), (tag) => `W/${tag}`)
      }))
      assert.strictEqual(check, "replace with the right tag")
    }))

  it.effect("several winners of a race of creates, which one after another does not show", () =>
    Effect.gen(function*() {
      let running = 0
      const check = yield* failedCheck((inner, put) => ({
        create: (key, body) =>
          Effect.suspend(() => {
            const overlapping = ++running > 1
            return Effect.yieldNow.pipe(
              Effect.andThen(
                overlapping
                  ? Effect.sync(() => {
                    put(key, body)
                    return "\"tag\""
                  })
                  : inner.create(key, body)
              ),
              Effect.ensuring(Effect.sync(() => running--))
            )
          })
      }))
      assert.strictEqual(check, "8 creates at once")
    }))

  it.effect("several winners of a race of replaces", () =>
    Effect.gen(function*() {
      let running = 0
      const check = yield* failedCheck((inner, put) => ({
        replace: (key, body, tag) =>
          Effect.suspend(() => {
            const overlapping = ++running > 1
            return Effect.yieldNow.pipe(
              Effect.andThen(
                overlapping
                  ? Effect.sync(() => {
                    put(key, body)
                    return "\"tag\""
                  })
                  : inner.replace(key, body, tag)
              ),
              Effect.ensuring(Effect.sync(() => running--))
            )
          })
      }))
      assert.strictEqual(check, "8 replaces at once")
    }))

  it.effect("a winner whose body is not what is read back", () =>
    Effect.gen(function*() {
      const check = yield* failedCheck((inner) => ({
        get: (key, request) =>
          key.includes("race") ? Effect.succeed({ body: new Uint8Array(3), tag: "\"1\"" }) : inner.get(key, request)
      }))
      assert.strictEqual(check, "8 creates at once")
    }))

  it.effect("an answer without a meaning", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* failedCheck(() => ({ create: (key) => refuse("create", key, "UnexpectedResponse", "418") })),
        "create of a free key"
      )
    }))

  it.effect("denied rights and a store that is down are their own errors, not a verdict on the store", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* failedCheck(() => ({ create: (key) => refuse("create", key, "AccessDenied") })),
        "AccessDenied"
      )
      assert.strictEqual(
        yield* failedCheck(() => ({ create: (key) => refuse("create", key, "Unavailable") })),
        "StoreUnavailable"
      )
    }))

  it.effect("lost answers and 409s, to each request, do not condemn a good store", () =>
    Effect.gen(function*() {
      const count = yield* Effect.gen(function*() {
        const memory = yield* MemoryObjectStore.make()
        const counting = FaultyObjectStore.make(memory.store)
        yield* probe(counting.store)
        return counting.requests.length
      })
      for (const fault of [{ reason: "TimedOut", applied: true }, { reason: "Conflict", applied: false }] as const) {
        for (let nth = 0; nth < count; nth++) {
          const memory = yield* MemoryObjectStore.make()
          const faulty = FaultyObjectStore.make(memory.store)
          let at = 0
          faulty.rule(() => at++ === nth ? { _tag: "Fail", ...fault } : undefined)
          yield* probe(faulty.store)
          assert.strictEqual(memory.objects.size, 0)
        }
      }
    }))

  it.effect("[case 3] opening a log probes before anything else; a store that fails the probe holds nothing afterwards", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const keys: Array<string> = []
      const store = ObjectStore.of({
        ...memory.store,
        create: (key) => {
          keys.push(key)
          return refuse("create", key, "NotSupported", "NotImplemented")
        }
      })
      const open = Wal.make({ nodeId: "node", streamId: "log" }).pipe(
        Effect.provideService(ObjectStore, store),
        Effect.provideService(ProcessRegistry, new ProcessRegistryState()),
        Effect.provideService(Digest, Effect.succeed(nodeDigest))
      )
      assert.strictEqual((yield* drive(Effect.flip(open)))._tag, "ConditionalWritesUnsupported")
      assert.strictEqual(keys.length, 1)
      assert.isTrue(keys.every((key) => key.startsWith(`${prefix}probe/`)))
      assert.strictEqual(memory.objects.size, 0)
      assert.strictEqual(memory.count("get") + memory.count("list"), 0)
    }))
})
