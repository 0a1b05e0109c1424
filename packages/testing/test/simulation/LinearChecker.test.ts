import { assert, describe, it } from "@effect/vitest"
import { History } from "../../src/simulation/History.ts"
import { checkLinearizable } from "../../src/simulation/Linearizability.ts"
import { generator } from "../../src/walsuite/SuiteRandom.ts"
import { isLinearizable } from "./support/BruteForce.ts"
import { appended, marked, read } from "./support/HandHistory.ts"
import { layoutHistory, marksHistory } from "./support/LayoutHistory.ts"
import { randomHistory } from "./support/RandomHistory.ts"

describe("the checker", () => {
  const agrees = (history: History, name: string) => {
    const verdict = checkLinearizable(history)
    const message = `${name}: ${verdict._tag === "Violation" ? verdict.message : verdict._tag}`
    assert.strictEqual(verdict._tag, isLinearizable(history) ? "Linearizable" : "Violation", message)
    return verdict
  }

  it("comes to the same verdict as trying all orders, where some answers of a right log are falsified", () => {
    const counts = { Linearizable: 0, Violation: 0, Undecided: 0 }
    for (let seed = 1; seed <= 4_000; seed++) {
      const falsified = [0, 0.05, 0.2][seed % 3] ?? 0
      const history = randomHistory({ seed, operations: 3 + seed % 7, falsified, marks: seed % 4 === 0 })
      const verdict = agrees(history, `random ${seed}`)
      if (falsified === 0) assert.strictEqual(verdict._tag, "Linearizable", `random ${seed}`)
      counts[verdict._tag]++
    }
    assert.isAbove(counts.Violation, 500)
  })

  it("comes to the same verdict as trying all orders, where only times and what nobody saw decide", () => {
    let searched = 0
    let refuted = 0
    for (let seed = 1; seed <= 2_000; seed++) {
      const verdict = agrees(layoutHistory(seed), `layout ${seed}`)
      if (verdict._tag === "Linearizable" && verdict.steps > 0) searched++
      if (verdict._tag === "Violation" && verdict.message.includes("stays free")) refuted++
      agrees(marksHistory(seed), `marks ${seed}`)
    }
    assert.isAbove(searched, 500)
    assert.isAbove(refuted, 30)
  })

  /** Appends without an answer, of the given lengths, and one that was durable above so many numbers. */
  const withHole = (lengths: ReadonlyArray<number>, hole: number) => {
    const history = new History()
    let id = 1
    for (const length of lengths) history.append("w1", Array.from({ length }, () => id++), "whole")
    history.durable(history.append("w2", [id]), hole + 1)
    return history
  }

  it("searches nothing where every number was named, and one step a number where single records fill a hole", () => {
    const named = new History()
    for (let id = 1; id <= 300; id++) named.append("w1", [id])
    appended(named, [1_000], 3, "w2")
    read(named, [40, 30], { process: "w2", strength: "weak" })
    assert.deepStrictEqual(checkLinearizable(named), { _tag: "Linearizable", steps: 0 })
    const singles = withHole(Array.from({ length: 20_000 }, () => 1), 15_000)
    assert.deepStrictEqual(checkLinearizable(singles), { _tag: "Linearizable", steps: 15_000 })
  })

  it("treats appends of one length as one: sixty of two records are refuted for an odd hole in as many steps", () => {
    const verdict = checkLinearizable(withHole(Array.from({ length: 60 }, () => 2), 61), { searchSteps: 31 })
    assert.strictEqual(verdict._tag, "Violation")
  })

  it("fills a hole with appends of given lengths exactly when some of them sum up to it", () => {
    const random = generator(1)
    for (let round = 0; round < 300; round++) {
      const lengths = Array.from({ length: 3 + Math.floor(random() * 6) }, () => 2 + Math.floor(random() * 7))
      const sums = lengths.reduce((known, length) => [...known, ...known.map((sum) => sum + length)], [0])
      const hole = 1 + Math.floor(random() * 40)
      if (hole > Math.max(...sums)) continue
      const verdict = checkLinearizable(withHole(lengths, hole))
      assert.strictEqual(
        verdict._tag,
        sums.includes(hole) ? "Linearizable" : "Violation",
        `${lengths.join()} for ${hole}`
      )
    }
  })

  it("gives up at its bound, and says so", () => {
    const lengths = Array.from({ length: 20 }, (_, index) => 2 * (index + 1))
    const verdict = checkLinearizable(withHole(lengths, 211), { searchSteps: 500 })
    assert.strictEqual(verdict._tag, "Undecided")
    if (verdict._tag !== "Undecided") return
    assert.strictEqual(verdict.steps, 501)
    assert.match(verdict.reason, /^who stands at number \d+ was not found in 501 steps; it exists by #20 w2/)
    assert.strictEqual(checkLinearizable(withHole(lengths, 212), { searchSteps: 500 })._tag, "Linearizable")
  })

  it("names the operations of a contradiction in words, the earliest first", () => {
    const history = new History()
    appended(history, [1, 2], 1)
    read(history, [1], { process: "w2" })
    const verdict = checkLinearizable(history)
    assert.strictEqual(
      verdict._tag === "Violation" ? verdict.message : "",
      "stale: the log ended before number 2 when a strong read began, number 2 had been acknowledged before\n" +
        "  #0 w1, at 1 to 2: append of ids 1, 2 (prefix): durable as 1 to 2\n" +
        "  #1 w2, at 3 to 4: strong read from 1: ids 1"
    )
  })

  it("judges nonsense that a log tells, and throws on nonsense of its own caller", () => {
    for (const first of [0, -1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER]) {
      const history = new History()
      appended(history, [1], first)
      assert.strictEqual(checkLinearizable(history)._tag, "Violation")
      const mark = new History()
      marked(mark, first === 0 ? 1 : first)
      assert.strictEqual(checkLinearizable(mark)._tag, "Violation")
    }
    const history = new History()
    const append = history.append("w1", [1])
    history.durable(append, 1)
    assert.throws(() => history.unknown(append), /ends twice/)
    assert.throws(() => history.append("w1", [1]), /id 1 is appended twice/)
    assert.throws(() => history.append("w1", []), /no records/)
    assert.throws(() => read(history, [], { from: 0 }), /numbers start at 1/)
    assert.throws(() => history.commit("w1", "default", -1), /an ack of 1 to -1/)
  })
})
