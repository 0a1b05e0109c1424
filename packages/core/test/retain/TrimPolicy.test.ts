import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SparseIndex } from "../../src/manifest/SparseIndex.ts"
import { decideTrim, type TrimSituation } from "../../src/retain/TrimPolicy.ts"
import { boundary } from "../format/Samples.ts"

const index = new SparseIndex(Array.from({ length: 10 }, (_, slot) => boundary(1, slot + 1, (slot + 1) * 10)), 100)

const trim = (change: Partial<TrimSituation>, marks: Readonly<Record<string, number>> = { default: 0 }) =>
  decideTrim({
    policy: "committed",
    current: boundary(1, 0, 0),
    cursors: { revision: { epoch: 1, n: 1 }, marks },
    requestedSeq: 0,
    atMost: (seq) => index.atMost(seq),
    aged: undefined,
    tooYoungFrom: undefined,
    ...change
  }).seq

describe("the trim point", () => {
  it.each(
    [
      ["committed, whole segments only", {}, { default: 35 }, 30],
      ["committed, one short of a segment", {}, { default: 39 }, 30],
      ["committed, at a boundary", {}, { default: 40 }, 40],
      ["committed, the slowest cursor decides", {}, { default: 100, slow: 12 }, 10],
      ["committed, a new cursor at 0 holds everything", {}, { default: 100, fresh: 0 }, 0],
      ["keep, nothing by itself", { policy: "keep" }, { default: 100 }, 0],
      ["keep, on request", { policy: "keep", requestedSeq: 55 }, { default: 100 }, 50],
      ["keep, on request but not past a cursor", { policy: "keep", requestedSeq: 55 }, { default: 33 }, 30],
      ["age, past a cursor, explicitly", { policy: "age", aged: boundary(1, 7, 70) }, { default: 0 }, 70],
      ["age, nothing known", { policy: "age" }, { default: 100 }, 0],
      ["committed does not look at age", { aged: boundary(1, 7, 70) }, { default: 20 }, 20],
      ["what is too young stays", { tooYoungFrom: boundary(1, 3, 30) }, { default: 100 }, 30],
      [
        "too young counts for age too",
        {
          policy: "age",
          aged: boundary(1, 7, 70),
          tooYoungFrom: boundary(1, 2, 20)
        },
        { default: 0 },
        20
      ],
      ["never back", { current: boundary(1, 6, 60), tooYoungFrom: boundary(1, 3, 30) }, { default: 45 }, 60]
    ] as const
  )("%s", (_, change, marks, expected) => {
    assert.strictEqual(trim(change, marks), expected)
  })

  const Mark = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 120 }))
  it.prop(
    "never rises past a cursor, never falls",
    [Mark, Mark, Mark, Schema.Literals(["committed", "keep"])],
    (input) => {
      const [mark, other, requestedSeq, policy] = input
      const current = boundary(1, 2, 20)
      const seq = trim({ policy, requestedSeq, current }, { default: mark, other })
      assert.isAtLeast(seq, 20)
      assert.isAtMost(seq, Math.max(20, Math.min(mark, other)))
    }
  )
})
