import { resolveOptions, type WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { logPrefix } from "@effect-wal/core/LogId"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { addressChecks, addressOf, clockRow, clockSkew } from "../../src/cli/doctor/AddressCheck.ts"
import type { CheckResult } from "../../src/cli/doctor/Check.ts"
import { spaceRow, syncRow } from "../../src/cli/doctor/DiskChecks.ts"
import { storeChecks } from "../../src/cli/doctor/StoreChecks.ts"
import { timesRow } from "../../src/cli/doctor/StoreTimes.ts"
import { percentilesOf } from "../../src/cli/Percentiles.ts"

type Rule = Parameters<FaultyObjectStore.FaultyHandles["rule"]>[0]

/** The rows of the checks of a store, and what they left in it. */
const checked = Effect.fnUntraced(function*(
  rule: Rule = () => undefined,
  change: (store: ObjectStore["Service"]) => ObjectStore["Service"] = (store) => store,
  advice: ReadonlyArray<string> = [],
  given: Partial<WalOptionsInput> = {},
  tries = 3
) {
  const memory = yield* MemoryObjectStore.make({ advice })
  const faulty = FaultyObjectStore.make(memory.store)
  faulty.rule(rule)
  const options = yield* resolveOptions({ nodeId: "n", streamId: "s", prefix: "wal", ...given })
  const rows: Array<CheckResult> = []
  yield* storeChecks({
    store: change(faulty.store),
    options,
    prefix: logPrefix(options),
    place: { bucket: "my-bucket", prefix: logPrefix(options) },
    tell: (result) =>
      Effect.sync(() => {
        rows.push(result)
      }),
    tries,
    objectBytes: 100
  })
  const statusOf = (check: string) => rows.find((row) => row.check === check)?.status
  const row = (check: string) => rows.find((each) => each.check === check)
  return { rows, row, statusOf, left: [...memory.objects.keys()] }
})

const denied = (operation: string): Rule => (request) =>
  request.operation === operation ? { _tag: "Fail", reason: "AccessDenied" } : undefined

describe("doctor on an object store", () => {
  it.live("finds a good store good, and leaves nothing in it", () =>
    Effect.gen(function*() {
      const { left, rows } = yield* checked()
      assert.deepStrictEqual(rows.map(({ check, status }) => [check, status]), [
        ["list", "ok"],
        ["put", "ok"],
        ["get", "ok"],
        ["listing", "ok"],
        ["conditional writes", "ok"],
        ["time of PUT", "ok"],
        ["time of GET", "ok"],
        ["time of LIST", "ok"],
        ["bucket settings", "ok"],
        ["delete", "ok"]
      ])
      assert.deepStrictEqual(left, [])
    }))

  it.live("asks nothing else of a store that is not there", () =>
    Effect.gen(function*() {
      const { row, rows } = yield* checked(() => ({ _tag: "Fail", reason: "NoSuchBucket" }))
      assert.strictEqual(row("list")?.status, "failed")
      assert.include(row("list")?.next, "Create the bucket")
      for (const each of rows.slice(1)) assert.strictEqual(each.status, "skipped", each.check)
    }))

  it.live("names each permission that is missing", () =>
    Effect.gen(function*() {
      const expected = [
        ["list", "list", "s3:ListBucket on arn:aws:s3:::my-bucket."],
        ["create", "put", "s3:PutObject on arn:aws:s3:::my-bucket/wal/n/s/*."],
        ["get", "get", "s3:GetObject on arn:aws:s3:::my-bucket/wal/n/s/*."],
        ["remove", "delete", "s3:DeleteObject on arn:aws:s3:::my-bucket/wal/n/s/*."]
      ] as const
      for (const [operation, check, permission] of expected) {
        const { row } = yield* checked(denied(operation))
        assert.strictEqual(row(check)?.status, "failed", check)
        assert.include(row(check)?.next, permission)
      }
    }))

  it.live("finds out that a store answers reads from before a write", () =>
    Effect.gen(function*() {
      const blind = yield* checked((request) =>
        request.operation === "get" && request.nth === 0 ? { _tag: "Fail", reason: "NotFound" } : undefined
      )
      assert.strictEqual(blind.statusOf("get"), "failed")
      assert.include(blind.row("get")?.means, "read-after-write")
      const forgetful = yield* checked(() => undefined, (store) => ({
        ...store,
        list: (request) =>
          Effect.map(store.list(request), (page) => ({
            ...page,
            objects: page.objects.filter(({ key }) => !key.endsWith("list-3"))
          }))
      }))
      assert.strictEqual(forgetful.statusOf("listing"), "failed")
      assert.include(forgetful.row("listing")?.found, "1 of 7 objects")
    }))

  it.live("takes a listing out of order for a warning", () =>
    Effect.gen(function*() {
      const { statusOf } = yield* checked(() => undefined, (store) => ({
        ...store,
        list: (request) => Effect.map(store.list(request), (page) => ({ ...page, objects: page.objects.toReversed() }))
      }))
      assert.strictEqual(statusOf("listing"), "warning")
    }))

  it.live("refuses a store that ignores conditions", () =>
    Effect.gen(function*() {
      const { left, row } = yield* checked(() => undefined, (store) => ({
        ...store,
        create: (key, body, options) =>
          store.create(key, body, options).pipe(
            Effect.catchIf((error) => error.reason === "AlreadyExists", () => Effect.succeed("tag"))
          )
      }))
      assert.strictEqual(row("conditional writes")?.status, "failed")
      assert.include(row("conditional writes")?.found, "create of a taken key")
      assert.deepStrictEqual(left, [])
    }))

  it.live("warns where conditional writes are opted out of, and takes a missing right to delete for one", () =>
    Effect.gen(function*() {
      const { row, statusOf } = yield* checked(denied("remove"), (store) => store, [], {
        conditionalWrites: "single_writer",
        retention: { policy: "keep" }
      })
      assert.strictEqual(statusOf("conditional writes"), "warning")
      assert.include(row("conditional writes")?.means, "second process")
      assert.strictEqual(statusOf("delete"), "warning")
    }))

  it.live("warns of rules and of versions in the bucket", () =>
    Effect.gen(function*() {
      const { rows } = yield* checked(() => undefined, (store) => store, [
        "life-cycle rule old covers wal/",
        "the bucket is versioned"
      ])
      const found = rows.filter(({ check }) => check === "bucket settings")
      assert.deepStrictEqual(found.map(({ status }) => status), ["warning", "warning"])
      assert.include(found[0]?.next, "out of the rule")
    }))

  it.live("removes more objects than a store takes in one call", () =>
    Effect.gen(function*() {
      const { left, statusOf } = yield* checked(() => undefined, (store) => store, [], {}, 1_000)
      assert.strictEqual(statusOf("delete"), "ok")
      assert.deepStrictEqual(left, [])
    }))

  it.live("takes the object of a write whose answer was lost for its own", () =>
    Effect.gen(function*() {
      const { left, rows } = yield* checked((request) =>
        // The first write, and one of those that are listed.
        request.operation === "create" && (request.nth === 0 || request.nth === 4)
          ? { _tag: "Fail", reason: "TimedOut", applied: true }
          : undefined
      )
      for (const { check, found, status } of rows) assert.strictEqual(status, "ok", `${check}: ${found}`)
      assert.deepStrictEqual(left, [])
    }))

  it.live("does not take another object for its own", () =>
    Effect.gen(function*() {
      const { left, row } = yield* checked((request) =>
        request.operation === "create" && request.nth === 0
          ? { _tag: "Fail", reason: "TimedOut", applied: true }
          : undefined, (store) => ({
          ...store,
          get: (key) => Effect.map(store.get(key), (found) => ({ ...found, body: new Uint8Array(3) }))
        }))
      assert.strictEqual(row("put")?.status, "failed")
      assert.include(row("put")?.found, "AlreadyExists")
      assert.deepStrictEqual(left, [])
    }))

  it.live("removes what a write has stored that is never answered well", () =>
    Effect.gen(function*() {
      const { left, statusOf } = yield* checked((request) =>
        request.operation === "create" ? { _tag: "Fail", reason: "TimedOut", applied: true } : undefined
      )
      assert.strictEqual(statusOf("put"), "failed")
      assert.deepStrictEqual(left, [])
    }))

  it.live("removes what it has stored when it is interrupted", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make({})
      const options = yield* resolveOptions({ nodeId: "n", streamId: "s" })
      yield* storeChecks({
        store: memory.store,
        options,
        prefix: logPrefix(options),
        place: { bucket: undefined, prefix: logPrefix(options) },
        tell: ({ check }) => check === "listing" ? Effect.interrupt : Effect.void,
        tries: 1,
        objectBytes: 1
      }).pipe(Effect.exit)
      assert.deepStrictEqual([...memory.objects.keys()], [])
    }))
})

describe("the rows of doctor", () => {
  it("take percentiles by nearest rank", () => {
    assert.deepStrictEqual(percentilesOf([]), { p50: 0, p90: 0, p99: 0, max: 0 })
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
    assert.deepStrictEqual(percentilesOf(hundred), { p50: 50, p90: 90, p99: 99, max: 100 })
  })

  it("warn of slow requests at the thresholds of the source documents", () => {
    assert.strictEqual(timesRow("time of PUT", [10, 20, 200], "1 kB").status, "ok")
    assert.include(timesRow("time of PUT", [10, 20, 201], "1 kB").means, "slower than 200 ms")
    assert.include(timesRow("time of PUT", [10, 20, 501], "1 kB").means, "slower than 500 ms")
  })

  it("tell the least difference of clocks that explains an answer", () => {
    assert.strictEqual(clockSkew(1_500, 100, 1_000), 0)
    assert.strictEqual(clockSkew(1_950, 100, 2_000), 0)
    assert.strictEqual(clockSkew(5_000, 100, 1_000), 3_001)
    assert.strictEqual(clockSkew(1_000, 100, 9_000), -7_900)
    assert.strictEqual(clockRow(0).status, "ok")
    assert.strictEqual(clockRow(30_000).status, "ok")
    assert.include(clockRow(120_000).found, "2 min ahead of the store's")
    assert.strictEqual(clockRow(-120_000).status, "warning")
    assert.strictEqual(clockRow(-1_000_000).status, "failed")
  })

  it("know the address of a store, or who knows it", () => {
    const endpoint = "http://127.0.0.1:9000"
    assert.deepStrictEqual(addressOf({ endpoint, region: "r" }, { AWS_ENDPOINT_URL: "http://a" }), {
      url: endpoint,
      isGuess: false
    })
    for (const variable of ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]) {
      assert.deepStrictEqual(addressOf({ region: "eu-west-1" }, { [variable]: "http://a" }), { variable })
    }
    const guessed = (region: string) => addressOf({ region }, { AWS_ENDPOINT_URL: "" })
    assert.deepStrictEqual(guessed("eu-west-1"), { url: "https://s3.eu-west-1.amazonaws.com", isGuess: true })
    assert.deepStrictEqual(guessed("cn-north-1"), { url: "https://s3.cn-north-1.amazonaws.com.cn", isGuess: true })
    assert.isUndefined(addressOf({}, {}))
  })

  for (const [isGuess, status] of [[true, "warning"], [false, "failed"]] as const) {
    it.live(`an address that does not answer: ${status}, where it is ${isGuess ? "" : "not "}a guess`, () =>
      Effect.gen(function*() {
        const rows: Array<CheckResult> = []
        yield* addressChecks({ url: "http://127.0.0.1:1", isGuess }, (row) => Effect.sync(() => rows.push(row)))
        assert.deepStrictEqual(rows.map((row) => [row.check, row.status]), [["address", status]])
      }).pipe(Effect.provide(FetchHttpClient.layer)))
  }

  it("warn of syncs that are slow, impossibly quick, or into memory", () => {
    assert.strictEqual(syncRow("disk sync", [1, 2, 3], false).status, "ok")
    assert.include(syncRow("disk sync", [1, 2, 60], false).means, "longer than 50 ms")
    assert.include(syncRow("disk sync", [0.001, 0.002], false).means, "no disk is that quick")
    assert.include(syncRow("disk sync", [1, 2], true).means, "in memory")
  })

  it("warn of a disk with too little room", () => {
    assert.strictEqual(spaceRow("disk space", 10, 10).status, "ok")
    assert.strictEqual(spaceRow("disk space", 9, 10).status, "warning")
    assert.strictEqual(spaceRow("disk space", 0, 10).status, "failed")
  })
})
