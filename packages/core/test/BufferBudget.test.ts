/** Whom the bound over several logs tells what. */
import { assert, describe, it } from "@effect/vitest"
import { BufferBudgetState } from "../src/BufferBudget.ts"

describe("the budget of several logs", () => {
  it("tells them of room that is given back only while one of them waits for it", () => {
    const budget = new BufferBudgetState(100)
    let told = 0
    const unsubscribe = budget.subscribe(() => {
      told++
    })
    budget.take(100)
    budget.give(10)
    assert.strictEqual(told, 0)
    const stop = budget.wait()
    assert.strictEqual(told, 1)
    budget.give(10)
    assert.strictEqual(told, 2)
    stop()
    budget.give(10)
    assert.strictEqual(told, 2)
    unsubscribe()
    budget.wait()
    assert.strictEqual(told, 2)
    assert.strictEqual(budget.usedBytes, 70)
  })
})
