import { describe, it } from "@effect/vitest"
import { History } from "../../src/simulation/History.ts"
import { appended, bad, good, read } from "./support/HandHistory.ts"

describe("histories of the log that some order explains", () => {
  it("one writer, one record after the other, and reads of all of it", () => {
    const history = new History()
    read(history, [])
    appended(history, [7], 1)
    read(history, [7])
    appended(history, [8, 9], 2)
    read(history, [7, 8, 9])
    read(history, [9], { from: 3 })
    read(history, [], { from: 4 })
    good(history)
  })

  it("appends in flight at once are durable in the order of their numbers, whoever called first", () => {
    const history = new History()
    const one = history.append("w1", [1])
    const other = history.append("w1", [2, 3])
    history.durable(other, 1)
    history.durable(one, 3)
    good(history)
  })

  it("a strong read may see an append in flight, and a part of it", () => {
    const history = new History()
    const append = history.append("w1", [1, 2, 3])
    read(history, [1, 2])
    history.durable(append, 1)
    good(history)
  })

  it("a record of a crashed writer that was read has its place, one that was not has none", () => {
    const history = new History()
    history.append("w1", [1])
    history.append("w1", [2])
    read(history, [2], { process: "w2" })
    appended(history, [3], 2, "w2")
    read(history, [2, 3], { process: "w2" })
    good(history)
  })

  it("an append without an answer may take effect long after", () => {
    const history = new History()
    history.unknown(history.append("w1", [1]))
    appended(history, [2], 1, "w2")
    read(history, [2], { process: "w2" })
    read(history, [2, 1], { process: "w2" })
    good(history)
  })

  it("what a spool stores again in pieces may have others in between", () => {
    const history = new History()
    history.unknown(history.append("w1", [1, 2, 3], "pieces"))
    appended(history, [5], 2, "w2")
    appended(history, [6], 4, "w2")
    read(history, [1, 5, 2, 6], { process: "w2" })
    good(history)
  })

  it("a read that starts above what was trimmed says nothing of what is below", () => {
    const history = new History()
    history.unknown(history.append("w1", [1, 2]))
    appended(history, [3], 3, "w2")
    read(history, [3], { from: 3, process: "w2" })
    good(history)
  })

  it("a weak read may be stale and may be cut", () => {
    const history = new History()
    appended(history, [1, 2], 1)
    read(history, [1, 2], { process: "reader" })
    read(history, [1], { process: "reader", strength: "weak" })
    read(history, [], { process: "reader", strength: "weak" })
    good(history)
  })
})

describe("histories of the log that no order explains", () => {
  it("an acknowledged record is not in a later strong read", () => {
    const history = new History()
    appended(history, [1], 1)
    appended(history, [2], 2)
    read(history, [1], { process: "w2" })
    bad(history, /stale: .* number 2 .* number 2 had been acknowledged/)
  })

  it("a strong read that began after another one shows less", () => {
    const history = new History()
    history.append("w1", [1])
    read(history, [1])
    read(history, [])
    bad(history, /stale: .* seen before/)
  })

  it("one number is acknowledged for two records", () => {
    const history = new History()
    appended(history, [1, 2], 1)
    appended(history, [3], 2, "w2")
    bad(history, /number 2 names two records, 2 and 3/)
  })

  it("two appends one after the other change places", () => {
    const history = new History()
    appended(history, [1], 2)
    appended(history, [2], 1)
    bad(history, /order: the append of number 1 began after number 2/)
  })

  it("a record is in the log twice", () => {
    const history = new History()
    history.unknown(history.append("w1", [1]))
    appended(history, [2], 2, "w2")
    history.append("w2", [3])
    read(history, [1, 2, 1], { process: "w2" })
    bad(history, /record 1 has two numbers, 1 and 3/)
  })

  it("a record that nobody had acknowledged is read, and then it is gone", () => {
    const history = new History()
    history.append("w1", [1])
    read(history, [1], { process: "reader", strength: "weak" })
    appended(history, [2], 1, "w2")
    bad(history, /number 1 names two records/)
  })

  it("a record is read before its append began", () => {
    const history = new History()
    const early = history.read("reader")
    history.seen(early, { from: 1, ids: [1], strength: "weak" })
    history.append("w1", [1])
    bad(history, /from the future: number 1/)
  })

  it("a weak read is ahead of what is durable", () => {
    const history = new History()
    history.unknown(history.append("w1", [1]))
    read(history, [1, 2], { process: "reader", strength: "weak" })
    appended(history, [2], 2, "w2")
    bad(history, /from the future: number 2/)
  })

  it("a refused record is in the log", () => {
    const history = new History()
    appended(history, [2], 1)
    history.refused(history.append("w1", [1]))
    history.append("w1", [3])
    read(history, [2, 1], { process: "w2" })
    bad(history, /record 1 was refused/)
  })

  it("a record that nobody appended is read", () => {
    const history = new History()
    appended(history, [1], 1)
    history.append("w1", [2])
    read(history, [1, 99])
    bad(history, /read as 99, which nobody appended/)
  })

  it("a crash takes the first record of an append and leaves the second", () => {
    const history = new History()
    appended(history, [1], 1)
    history.append("w1", [2, 3])
    read(history, [1, 3], { process: "w2" })
    bad(history, /record 3 is number 2, so record 2 of the same append is 1; but number 1 names two records/)
  })

  it("others stand within an append that is stored at once, or a read ends within it", () => {
    const history = new History()
    history.append("w1", [1, 2], "whole")
    read(history, [1], { process: "w2" })
    bad(history, /inside of an append that is one segment/)
    const same = new History()
    same.append("w1", [1, 2], "whole")
    appended(same, [3], 2, "w2")
    read(same, [1, 3], { process: "w2" })
    bad(same, /number 2 names two records/)
  })

  it("an append that is stored at once would have to be there in part", () => {
    const seen = new History()
    const append = seen.append("w1", [1, 2], "whole")
    read(seen, [1], { process: "reader", strength: "weak" })
    read(seen, [], { from: 2, process: "w1" })
    seen.durable(append, 1)
    bad(seen, /stale: .* before number 1 .* number 1 had been seen/)
    const unseen = new History()
    unseen.append("w1", [1, 2], "whole")
    unseen.acked(unseen.commit("w1", "default", 1))
    read(unseen, [], { from: 2, process: "w1" })
    appended(unseen, [3], 3, "w2")
    bad(unseen, /number 1 is the first that stays free/)
  })

  it("a record comes under another number than it was accepted with", () => {
    const history = new History()
    const append = history.append("w1", [1])
    history.accepted(append, 1)
    appended(history, [2], 1, "w2")
    read(history, [2, 1], { process: "w2" })
    bad(history, /accepted as number 1 and has number 2/)
  })

  it("pieces of an append change their order", () => {
    const history = new History()
    history.append("w1", [1, 2], "pieces")
    read(history, [2, 1], { process: "w2" })
    bad(history, /changed their order/)
  })

  it("numbers leave a hole that no append can have filled", () => {
    const history = new History()
    history.unknown(history.append("w1", [1], "whole"))
    appended(history, [2], 3, "w2")
    history.append("w2", [3])
    bad(history, /number 2 is the first that stays free/)
  })

  it("the only appends that could fill a hole began too late, or do not fit its length", () => {
    const late = new History()
    appended(late, [1], 2)
    late.append("w1", [2])
    bad(late, /number 1 is the first that stays free/)
    const long = new History()
    long.append("w1", [1, 2], "whole")
    long.append("w1", [3, 4], "whole")
    appended(long, [5], 4)
    bad(long, /number 3 is the first that stays free/)
  })
})
