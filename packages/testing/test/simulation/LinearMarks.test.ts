import { describe, it } from "@effect/vitest"
import { History } from "../../src/simulation/History.ts"
import { appended, bad, committed, good, marked } from "./support/HandHistory.ts"

describe("marks", () => {
  const withFive = () => {
    const history = new History()
    appended(history, [1, 2, 3, 4, 5], 1)
    return history
  }

  it("a lower commit changes nothing, acks in any order move the mark over what is contiguous", () => {
    const history = withFive()
    committed(history, 2)
    committed(history, 1)
    marked(history, 2)
    history.acked(history.ack("w1", { cursor: "default", from: 4, to: 5 }))
    marked(history, 2)
    history.acked(history.ack("w1", { cursor: "default", from: 3, to: 3 }))
    marked(history, 5)
    good(history)
  })

  it("a commit without an answer may show at any time, one that was refused never", () => {
    const history = withFive()
    const commit = history.commit("w1", "default", 3)
    marked(history, 0)
    marked(history, 3)
    history.unknown(commit)
    good(history)
    const refused = withFive()
    refused.refused(refused.commit("w1", "default", 3))
    marked(refused, 3)
    bad(refused, /shows 3, and no ack up to there has made 1 done/)
  })

  it("a mark goes back", () => {
    const history = withFive()
    history.commit("w1", "default", 2)
    history.commit("w1", "default", 4)
    marked(history, 4)
    marked(history, 2)
    bad(history, /went back: it showed 4, and 2 after that/)
  })

  it("a mark is below a commit that was answered", () => {
    const history = withFive()
    committed(history, 4)
    marked(history, 0)
    bad(history, /mark default is at 0 after 1 to 4 had been answered as done/)
  })

  it("a mark shows what was called done only later, or passes what is not done", () => {
    const early = withFive()
    marked(early, 4)
    early.commit("w1", "default", 4)
    bad(early, /shows 4 before that was called done/)
    const over = withFive()
    over.acked(over.ack("w1", { cursor: "default", from: 2, to: 4 }))
    marked(over, 4)
    bad(over, /no ack up to there has made 1 done/)
  })

  it("a mark shows a run of which the lower part was called done only later", () => {
    const history = withFive()
    history.ack("w1", { cursor: "default", from: 3, to: 3 })
    marked(history, 3)
    history.commit("w1", "default", 2)
    bad(history, /shows 3 before that was called done/)
  })

  it("a commit is answered above what is durable", () => {
    const history = withFive()
    const append = history.append("w1", [6])
    committed(history, 7)
    bad(history, /number 7 was told of/)
    history.durable(append, 6)
    const early = withFive()
    committed(early, 6)
    appended(early, [6], 6)
    bad(early, /from the future: number 6/)
  })

  it("a mark is above what is durable", () => {
    const history = withFive()
    history.commit("w1", "default", 6)
    marked(history, 6)
    appended(history, [6], 6)
    bad(history, /from the future: number 6 was seen/)
  })

  it("a look that comes after another one of the same mark is held to what made that mark", () => {
    const history = withFive()
    const early = history.mark("w1", "default")
    const late = history.mark("w1", "default")
    history.marked(late, 3)
    const commit = history.commit("w1", "default", 3)
    history.marked(early, 3)
    history.acked(commit)
    bad(history, /shows 3 before that was called done/)
  })

  it("an opening finds what was stored, or what an older writer has called since", () => {
    for (const found of [2, 3, 4]) {
      const history = withFive()
      committed(history, 2)
      history.persisted("w1", "default", 2)
      committed(history, 3)
      history.commit("w1", "default", 4)
      marked(history, found, "w2", true)
      marked(history, found, "w2")
      good(history)
    }
  })

  it("an opening finds less than was stored, less than an earlier opening, or more than anybody called", () => {
    const less = withFive()
    committed(less, 3)
    less.persisted("w1", "default", 3)
    marked(less, 2, "w2", true)
    bad(less, /is 2 at opening, 3 was stored before/)
    const again = withFive()
    committed(again, 3)
    marked(again, 3, "w2", true)
    marked(again, 2, "w3", true)
    bad(again, /is 2 at opening, 3 was stored before/)
    const more = withFive()
    committed(more, 3)
    marked(more, 4, "w2", true)
    bad(more, /is 4 at opening, nobody had called so much done/)
  })

  it("marks of one writer say nothing of those of another, and cursors nothing of each other", () => {
    const history = withFive()
    committed(history, 4)
    marked(history, 0, "w2", true)
    marked(history, 0, "w2")
    history.marked(history.mark("w1", "other"), 0)
    good(history)
  })
})
