/** Twins of the clock case: the machine that takes over has another time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { open, records, reopen, seqs, settle, still, store } from "../support/LogWorld.ts"

const dayMillis = 24 * 3_600_000

/** The clock of another machine: the same seconds, another date. */
const shifted = (real: Clock.Clock, byMillis: number): Clock.Clock => ({
  ...real,
  currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + byMillis,
  currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now + byMillis)
})

describe("a take-over by a machine with another date", () => {
  it.effect.each([-dayMillis, dayMillis, -10 * 365 * dayMillis])(
    "[kind E] %i ms away: appended_at never falls, reads by time find all, the interval still seals",
    (byMillis) =>
      Effect.gen(function*() {
        const real = yield* Clock.Clock
        const options = { ...still, segment: { maxEntries: 5, flushInterval: "1s", linger: "1s" } } as const
        yield* TestClock.setTime(2 * dayMillis)
        const first = yield* open(options)
        yield* store(first.wal, records(5))
        yield* TestClock.adjust("1 minute")
        yield* store(first.wal, records(5, 6))
        const second = yield* reopen(first, options).pipe(Effect.provideService(Clock.Clock, shifted(real, byMillis)))
        yield* store(second.wal, records(5, 11))
        yield* second.wal.append(records(1, 16))
        yield* TestClock.adjust("1 second")
        yield* settle
        assert.strictEqual((yield* second.wal.status).durable, 16)
        const read = yield* Stream.runCollect(second.wal.read())
        const times = read.map((record) => record.appendedAt)
        assert.deepStrictEqual(times, times.slice().sort((left, right) => left - right))
        for (const at of new Set(times)) {
          const from = yield* Stream.runCollect(second.wal.read({ from: { appendedAtMillis: at } }))
          assert.deepStrictEqual(seqs(from), read.filter((one) => one.appendedAt >= at).map((one) => one.seq))
        }
      })
  )
})
