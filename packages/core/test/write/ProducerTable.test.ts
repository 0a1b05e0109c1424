import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { type ProducerLimits, ProducerTable, type RememberedCall } from "../../src/write/ProducerTable.ts"

const callOf = (id: string, sequence: number, fingerprint = 1) => ({ id, sequence, fingerprint, contentBytes: 0 })

const remembered = (sequence: number, first: number, change: Partial<RememberedCall> = {}): RememberedCall => ({
  sequence,
  first,
  last: first + 1,
  epoch: 1,
  at: 0,
  fingerprint: 1,
  ...change
})

const limits: ProducerLimits = { max: 3, ttlMillis: 1_000 }

/** What a call of two records is: `new`, its numbers, or the refusal. */
const ask = (table: ProducerTable, id: string, sequence: number, now = 0, fingerprint = 1, count = 2) => {
  const answer = table.answer(callOf(id, sequence, fingerprint), count, now)
  if (answer === undefined) return "new"
  const result = Effect.runSync(Effect.result(answer))
  return Result.isSuccess(result) ? [result.success.first, result.success.last] : result.failure._tag
}

describe("the producer table", () => {
  it("answers repeats, refuses what contradicts or is too old, and lets new calls pass", () => {
    const table = new ProducerTable(limits)
    assert.strictEqual(ask(table, "a", 5), "new")
    table.accept("a", remembered(5, 1))
    for (const durable of [false, true]) {
      if (durable) table.durableThrough(2)
      assert.deepStrictEqual(ask(table, "a", 5), [1, 2])
      assert.strictEqual(ask(table, "a", 5, 0, 2), "ProducerConflict")
      assert.strictEqual(ask(table, "a", 5, 0, 1, 3), "ProducerConflict")
      assert.strictEqual(ask(table, "a", 4), "ProducerSequenceTooOld")
      assert.strictEqual(ask(table, "a", 6), "new")
      assert.strictEqual(ask(table, "b", 5), "new")
    }
    assert.strictEqual(table.repeats, 2)
  })

  it("remembers the newest five durable calls of each", () => {
    const table = new ProducerTable(limits)
    for (let sequence = 1; sequence <= 7; sequence++) table.remember("a", remembered(sequence, sequence * 2))
    assert.strictEqual(ask(table, "a", 2), "ProducerSequenceTooOld")
    for (let sequence = 3; sequence <= 7; sequence++) {
      assert.deepStrictEqual(ask(table, "a", sequence), [sequence * 2, sequence * 2 + 1])
    }
  })

  it("knows of older calls which are in the log, as far as there is no gap between them", () => {
    const table = new ProducerTable(limits)
    for (const sequence of [1, 2, 4, 5, 6, 8, 9, 10, 11, 12]) table.remember("a", remembered(sequence, sequence * 2))
    const has = (from: ProducerTable, sequence: number) => from.has({ id: "a", sequence, fingerprint: 1 }, 2, 0)
    const known = (from: ProducerTable) => Array.from({ length: 13 }, (_, nth) => nth).filter((nth) => has(from, nth))
    assert.deepStrictEqual(known(table), [4, 5, 6, 8, 9, 10, 11, 12])
    assert.deepStrictEqual(table.stored(0)[0]?.older, [4, 6])
    assert.deepStrictEqual(known(new ProducerTable(limits, table.stored(0))), known(table))
    // A late copy of one that was missing closes the gap.
    table.remember("a", remembered(3, 50))
    assert.deepStrictEqual(table.stored(0)[0]?.older, [3, 6])
    assert.strictEqual(ask(table, "a", 5), "ProducerSequenceTooOld")
  })

  it("still answers repeats of durable calls while a lower one, which a spool gave back late, is on its way", () => {
    const table = new ProducerTable(limits)
    for (const sequence of [6, 8]) table.remember("a", remembered(sequence, sequence * 2))
    table.accept("a", remembered(5, 50))
    for (const isDurable of [false, true]) {
      if (isDurable) table.durableThrough(51)
      assert.deepStrictEqual([5, 6, 8].map((sequence) => ask(table, "a", sequence)), [[50, 51], [12, 13], [16, 17]])
      assert.strictEqual(ask(table, "a", 7), "ProducerSequenceTooOld")
      assert.strictEqual(ask(table, "a", 9), "new")
    }
  })

  it("keeps what is durable beside any number of accepted calls: a crash can take those away", () => {
    const table = new ProducerTable({ ...limits, max: 1 })
    table.remember("a", remembered(1, 1))
    for (let sequence = 2; sequence <= 10; sequence++) table.accept("a", remembered(sequence, sequence * 2))
    for (let nth = 0; nth < 5; nth++) table.accept(`other ${nth}`, remembered(0, 100 + nth * 2))
    assert.deepStrictEqual(table.stored(0), [{ id: "a", calls: [[1, 1, 2, 1, 0, 1]] }])
    assert.deepStrictEqual([1, 2, 10].map((sequence) => ask(table, "a", sequence)), [[1, 2], [4, 5], [20, 21]])
    assert.strictEqual(table.size, 6)
    table.durableThrough(20)
    // The last call ends at 21.
    assert.deepStrictEqual(table.stored(0).map(({ calls }) => calls.map(([sequence]) => sequence)), [[5, 6, 7, 8, 9]])
    assert.deepStrictEqual(ask(table, "a", 10), [20, 21])
  })

  it("forgets the producer whose newest call is oldest beyond `max`", () => {
    const table = new ProducerTable(limits)
    for (const [nth, id] of ["a", "b", "c", "a", "d"].entries()) table.remember(id, remembered(nth, nth * 2 + 1))
    assert.deepStrictEqual(table.stored(0).map(({ id }) => id), ["c", "a", "d"])
    assert.strictEqual(ask(table, "b", 1), "new")
    assert.strictEqual(table.size, 3)
  })

  it("forgets a producer when its newest call is older than `ttl`, by the log's own time", () => {
    const table = new ProducerTable(limits)
    table.remember("a", remembered(5, 1, { at: 100 }))
    table.remember("b", remembered(1, 3, { at: 900 }))
    assert.deepStrictEqual(ask(table, "a", 5, 1_100), [1, 2])
    assert.deepStrictEqual(table.stored(1_100).length, 2)
    assert.strictEqual(ask(table, "a", 5, 1_101), "new")
    assert.strictEqual(ask(table, "a", 1, 1_101), "new")
    assert.deepStrictEqual(table.stored(1_101).map(({ id }) => id), ["b"])
    // A sequence that starts again is no older than what was forgotten.
    table.accept("a", remembered(0, 5, { at: 1_101 }))
    assert.strictEqual(ask(table, "a", 5, 1_101), "new")
    assert.deepStrictEqual(ask(table, "a", 0, 1_101), [5, 6])
    table.durableThrough(6)
    assert.deepStrictEqual(ask(table, "a", 0, 1_101), [5, 6])
    assert.strictEqual(ask(table, "a", 5, 1_101), "new")
    table.remember("c", remembered(0, 7, { at: 5_000 }))
    assert.strictEqual(table.size, 1)
  })

  it("does not forget what is on its way, however long that takes", () => {
    const table = new ProducerTable(limits)
    table.accept("a", remembered(1, 1))
    assert.deepStrictEqual(ask(table, "a", 1, 1_000_000), [1, 2])
  })

  it("comes back from what it stores", () => {
    const table = new ProducerTable(limits)
    for (const [nth, id] of ["a", "b", "a", "10", "2"].entries()) {
      table.remember(id, remembered(nth, nth * 2 + 1, { at: nth, epoch: 2, fingerprint: nth }))
    }
    const stored = table.stored(5)
    const again = new ProducerTable(limits, stored)
    assert.deepStrictEqual(again.stored(5), stored)
    assert.deepStrictEqual(new ProducerTable({ ...limits, max: 1 }, stored).stored(5).map(({ id }) => id), ["2"])
  })

  it("moves thousands of calls from accepted to durable, in order", () => {
    const table = new ProducerTable({ max: 10, ttlMillis: 1 })
    for (let sequence = 1; sequence <= 5_000; sequence++) table.accept("a", remembered(sequence, sequence * 2))
    for (let seq = 1; seq <= 10_001; seq += 7) table.durableThrough(seq)
    table.durableThrough(10_001)
    assert.deepStrictEqual(table.stored(0)[0]?.calls.map(([sequence]) => sequence), [4_996, 4_997, 4_998, 4_999, 5_000])
    assert.strictEqual(ask(table, "a", 4_995), "ProducerSequenceTooOld")
  })
})
