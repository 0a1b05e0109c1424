import { resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import type { WalStatus } from "@effect-wal/core/WalService"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { activityOf } from "../../src/dashboard/ActivityView.ts"
import { type Counters, logKey } from "../../src/dashboard/Counters.ts"
import { SampleWindow } from "../../src/dashboard/SampleWindow.ts"
import { StreamHistory } from "../../src/dashboard/StreamHistory.ts"

const counters = (more: Partial<Counters>): Counters => ({
  appended: 0,
  durable: 0,
  segments: 0,
  rawBytes: 0,
  storedBytes: 0,
  manifestCommits: 0,
  manifestConflicts: 0,
  takeovers: 0,
  requests: { get: 0, create: 0, replace: 0, list: 0, remove: 0 },
  retries: {},
  put: { buckets: [], count: 0, sum: 0 },
  size: { buckets: [], count: 0, sum: 0 },
  ...more
})

const status = (bytes: number, queuedSegments: number, more: Partial<WalStatus> = {}): WalStatus => ({
  nodeId: "node-0",
  streamId: "orders",
  state: "open",
  logId: "",
  epoch: 1,
  lastAccepted: 0,
  durable: 0,
  spooled: 0,
  trimmedTo: 0,
  cursors: {},
  atRisk: { records: 0, bytes: 0, oldestAgeMillis: 0 },
  buffered: { bytes, limitBytes: 1_000, queuedSegments },
  segments: { durable: 0, inFlight: 0 },
  epochs: [],
  ...more
})

/** A window with samples of these numbers, five seconds apart. */
const windowOf = (samples: ReadonlyArray<readonly [counters: Partial<Counters>, bytes: number, queued: number]>) => {
  const window = new SampleWindow()
  for (const [index, [given, bufferedBytes, queuedSegments]] of samples.entries()) {
    window.add({
      at: index * 5_000,
      counters: counters(given),
      bufferedBytes,
      spoolBytes: bufferedBytes,
      queuedSegments
    })
  }
  return window
}

const setup = Effect.map(
  resolveOptions({ nodeId: "node-0", streamId: "orders" }),
  (options) => ({ options, store: "s3" as const })
)

describe("activityOf", () => {
  it("has rates of the last five seconds, and the rest of the last minute", () => {
    const samples = Array.from(
      { length: 30 },
      (_, index) => [{ appended: index * index * 5, manifestConflicts: index }, 0, 0] as const
    )
    const activity = activityOf(windowOf(samples), status(0, 0), undefined)
    assert.strictEqual(activity?.window_s, 60)
    assert.strictEqual(activity?.rates.accepted, 29 * 29 - 28 * 28)
    assert.deepStrictEqual(activity?.conflicts, { window: 12, total: 29 })
  })

  it.effect("costs what S3 charges for a month at the rate of the window, and nothing on a disk", () =>
    Effect.gen(function*() {
      const s3 = yield* setup
      const requests = (puts: number) => ({ get: 0, create: puts, replace: puts, list: 0, remove: puts })
      const window = windowOf([[{ requests: requests(0) }, 0, 0], [{ requests: requests(5) }, 0, 0]])
      const charged = activityOf(window, status(0, 0), s3)?.requests
      assert.deepStrictEqual(charged?.per_month, { puts: 2 * 30 * 86_400, gets: 0, lists: 0 })
      // $0.005 for a thousand.
      assert.strictEqual(charged?.dollars_per_month, 25.92)
      assert.isUndefined(activityOf(window, status(0, 0), { ...s3, store: "local" })?.requests.dollars_per_month)
    }))

  it.effect("says until when there is room: by bytes, by the queue, or by the spool", () =>
    Effect.gen(function*() {
      const s3 = yield* setup
      const left = (bytes: number, queued: number, more: Partial<WalStatus> = {}) =>
        activityOf(windowOf([[{}, 0, 0], [{}, bytes, queued]]), status(bytes, queued, more), s3)?.full_in_s
      assert.strictEqual(left(100, 0), 45)
      assert.strictEqual(left(100, 8), 5)
      assert.strictEqual(left(100, 16), 0)
      assert.strictEqual(left(0, 0), null)
      const spool = { path: "", records: 0, segments: 0, bytes: 100, limitBytes: 500 }
      assert.strictEqual(left(100, 16, { spool }), 20)
      assert.strictEqual(left(100, 16, { spool: { ...spool, problem: "full" } }), 0)
    }))
})

describe("SampleWindow", () => {
  it("keeps a minute, and begins anew with a log that does", () => {
    const window = windowOf(Array.from({ length: 200 }, (_, index) => [{ appended: index }, 0, 0] as const))
    assert.strictEqual(window.size, 13)
    window.add({
      at: 1_000_000,
      counters: counters({ appended: 1 }),
      bufferedBytes: 0,
      spoolBytes: 0,
      queuedSegments: 0
    })
    assert.strictEqual(window.size, 1)
  })
})

describe("StreamHistory", () => {
  it("keeps the highest value of each five seconds, ten minutes of them", () => {
    const history = new StreamHistory()
    const point = (value: number) => ({ accepted: value, at_risk: 10 - value, put_p99_ms: 0, lag: 0 })
    for (let second = 0; second < 10; second++) history.add(second * 1_000, point(second))
    assert.deepStrictEqual(history.view, { accepted: [4, 9], at_risk: [10, 5], put_p99_ms: [0, 0], lag: [0, 0] })
    // A clock that is set back makes no points.
    history.add(0, point(20))
    assert.deepStrictEqual(history.view.accepted, [4, 20])
    for (let second = 10; second < 2_000; second++) history.add(second * 1_000, point(0))
    assert.strictEqual(history.view.lag.length, 120)
  })
})

describe("logKey", () => {
  it("tells logs apart whose ids look alike", () => {
    assert.notStrictEqual(logKey("a", "b\",\"c"), logKey("a\",\"b", "c"))
  })
})
