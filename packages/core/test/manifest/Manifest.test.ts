import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Boundary, compareBoundaries } from "../../src/format/Boundary.ts"
import { compareRevisions } from "../../src/format/CursorSet.ts"
import { type Manifest, maxEnds } from "../../src/format/ManifestCodec.ts"
import {
  activate,
  advance,
  claim,
  endsToArchive,
  liveStart,
  newManifest,
  recordedTail,
  settle,
  storedIndexEntries
} from "../../src/manifest/Manifest.ts"
import { boundary, sampleManifest } from "../format/Samples.ts"

const writer = (name: string) => ({ nonce: name.repeat(32).slice(0, 32), host: name })
const id = (count: number) => count.toString(16).padStart(32, "0")
const at = (point: Boundary) => [point.epoch, point.slot]

const checkInvariants = (before: Manifest, after: Manifest) => {
  assert.isAtLeast(after.epoch, before.epoch)
  assert.isAtLeast(compareBoundaries(after.trim, before.trim), 0, "the trim point only rises")
  assert.isAtLeast(after.trim.seq, before.trim.seq)
  assert.isAtLeast(compareBoundaries(after.checkpoint, before.checkpoint), 0, "the checkpoint only rises")
  assert.isAtLeast(compareRevisions(after.cursors.revision, before.cursors.revision), 0)
  assert.notStrictEqual(after.commit_id, before.commit_id)
  assert.deepStrictEqual(after.unknown, before.unknown)
  assert.strictEqual(after.log_id, before.log_id)
  let last = after.trim
  for (const end of after.ends) {
    assert.isAbove(compareBoundaries(end, last), 0, "ends lie above the trim point, ascending")
    assert.isAbove(end.slot, 0)
    last = end
  }
  assert.strictEqual(new Set(after.ends.map((end) => end.epoch)).size, after.ends.length, "one end an epoch")
  if (after.live !== 0) {
    assert.strictEqual(after.checkpoint.epoch, after.live)
    assert.isTrue(
      after.trim.epoch === after.live || after.ends.some((end) => end.epoch === after.trim.epoch) ||
        after.ends_archive !== null,
      "the trim point is in an epoch that is live or has a recorded end"
    )
  }
  for (const entry of after.index) assert.isAbove(compareBoundaries(entry, after.trim), 0)
  assert.isAtMost(after.index.length, storedIndexEntries)
}

const Step = Schema.Struct({
  kind: Schema.Literals(["open", "crash", "write", "trim", "commit"]),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 }))
})

describe("the transitions of the manifest", () => {
  it("keep what is remembered of producers, replace it whole, and leave out a table that is empty", () => {
    const table = (id: string) => [{ id, calls: [[0, 1, 1, 1, 1, 0]] as const }]
    const { checkpoint, cursors, index, trim, ...rest } = sampleManifest({ producers: table("a") })
    const manifest: Manifest = { ...rest, checkpoint, cursors, index, trim }
    const progress = { checkpoint, cursors, index, trim }
    const activation = { cursors, window: 1, commitId: id(3) }
    for (
      const next of [
        (producers?: ReturnType<typeof table>) =>
          advance(manifest, { ...progress, ...(producers === undefined ? {} : { producers }) }, id(3)),
        (producers?: ReturnType<typeof table>) =>
          activate(manifest, { ...activation, ...(producers === undefined ? {} : { producers }) })
      ]
    ) {
      assert.deepStrictEqual(next().producers, table("a"))
      assert.deepStrictEqual(next(table("b")).producers, table("b"))
      assert.isFalse("producers" in next([]))
    }
    assert.deepStrictEqual(claim(manifest, writer("y"), id(2)).producers, table("a"))
  })

  it("of a new log: nobody has claimed it, nothing is live", () => {
    const manifest = newManifest({ logId: "a".repeat(32), chain: "d".repeat(32) }, writer("x"), id(1))
    assert.deepStrictEqual([manifest.epoch, manifest.live, manifest.ends, at(manifest.trim)], [0, 0, [], [1, 0]])
    assert.deepStrictEqual(manifest.cursors, { revision: { epoch: 0, n: 0 }, marks: { default: 0 } })
  })

  it("a claim changes epoch, owner and commit id, nothing else", () => {
    const before = sampleManifest({ unknown: { x: 1 } })
    assert.deepStrictEqual(claim(before, writer("n"), id(2)), {
      ...before,
      epoch: 5,
      nonce: "n".repeat(32),
      host: "n",
      commit_id: id(2)
    })
  })

  it("an activation records the end, makes the claimed epoch live and is the same when it is done again", () => {
    const claimed = claim(sampleManifest(), writer("n"), id(2))
    const activation = { ended: boundary(4, 9, 160), cursors: claimed.cursors, window: 3, commitId: id(3) }
    const once = activate(claimed, activation)
    assert.deepStrictEqual(once.ends.map(at), [[2, 5], [3, 2], [4, 9]])
    assert.deepStrictEqual([once.live, once.live_window, at(once.checkpoint), once.checkpoint.seq], [5, 3, [5, 0], 160])
    assert.deepStrictEqual(activate(once, activation), once)
  })

  it("an epoch that ends at slot 0 is not listed", () => {
    const claimed = claim(sampleManifest(), writer("n"), id(2))
    const next = activate(claimed, { ended: boundary(4, 0, 70), cursors: claimed.cursors, window: 1, commitId: id(3) })
    assert.deepStrictEqual(next.ends.map(at), [[2, 5], [3, 2]])
    assert.strictEqual(next.checkpoint.seq, 70)
  })

  it("an activation takes the cursors with the higher revision, from either side", () => {
    const claimed = claim(sampleManifest(), writer("n"), id(2))
    const set = (n: number, mark: number) => ({ revision: { epoch: 4, n }, marks: { default: mark } })
    const next = (n: number, mark: number) =>
      activate(claimed, { cursors: set(n, mark), window: 1, commitId: id(3) }).cursors
    assert.deepStrictEqual(next(8, 5), set(8, 5), "a newer set wins as a whole")
    assert.deepStrictEqual(next(6, 99), claimed.cursors)
  })

  it("a trim point at an end moves to the start of the next epoch that holds something", () => {
    const settled = settle(sampleManifest({ trim: boundary(2, 5, 50) }))
    assert.deepStrictEqual([at(settled.trim), settled.trim.seq, settled.ends.map(at)], [[3, 0], 50, [[3, 2]]])
    const last = settle(sampleManifest({ trim: boundary(3, 2, 70) }))
    assert.deepStrictEqual([at(last.trim), last.ends], [[4, 0], []])
  })

  it("a trim point in an epoch whose end is archived stays where it is", () => {
    const manifest = sampleManifest({
      trim: boundary(1, 2, 10),
      ends: [boundary(3, 2, 70)],
      ends_archive: { key: "x", through: 2 }
    })
    assert.deepStrictEqual(at(settle(manifest).trim), [1, 2])
    assert.deepStrictEqual(settle(manifest).ends_archive, { key: "x", through: 2 })
    assert.isNull(settle({ ...manifest, trim: boundary(3, 1, 60) }).ends_archive)
  })

  it("the oldest half of the ends moves out when the list is full", () => {
    const ends = Array.from({ length: maxEnds }, (_, index) => boundary(index + 1, 1, index + 1))
    const manifest = sampleManifest({
      epoch: 300,
      live: 300,
      trim: boundary(1, 0, 0),
      ends,
      checkpoint: boundary(300, 0, 256)
    })
    assert.deepStrictEqual(endsToArchive({ ...manifest, ends: ends.slice(1) }), [])
    const moved = endsToArchive(manifest)
    assert.deepStrictEqual([moved.length, moved.at(-1)?.epoch], [128, 128])
    const next = activate(claim(manifest, writer("n"), id(2)), {
      ended: boundary(300, 4, 300),
      cursors: manifest.cursors,
      window: 1,
      archived: { key: "x", through: 128 },
      commitId: id(3)
    })
    assert.deepStrictEqual([next.ends.length, next.ends[0]?.epoch, next.ends.at(-1)?.epoch], [129, 129, 300])
    assert.deepStrictEqual(at(next.trim), [1, 0])
  })

  it("a commit never takes anything back", () => {
    const before = sampleManifest()
    const next = advance(
      before,
      {
        checkpoint: boundary(4, 1, 80),
        trim: boundary(2, 1, 10),
        cursors: { revision: { epoch: 4, n: 1 }, marks: { default: 9 } },
        index: []
      },
      id(4)
    )
    assert.deepStrictEqual([next.checkpoint, next.trim, next.cursors], [before.checkpoint, before.trim, before.cursors])
  })

  it.prop("keep their invariants over any life of a log", [Schema.Array(Step)], ([steps]) => {
    let manifest = newManifest({ logId: "a".repeat(32), chain: "d".repeat(32) }, writer("x"), id(0))
    let count = 1
    let durable = boundary(1, 0, 0)
    let points: ReadonlyArray<Boundary> = []
    const apply = (next: Manifest) => {
      checkInvariants(manifest, next)
      manifest = next
    }
    const open = () => {
      apply(claim(manifest, writer("w"), id(count++)))
      const ended = manifest.live === 0 ? undefined : durable
      const tail = ended ?? recordedTail(manifest)
      apply(activate(manifest, {
        cursors: manifest.cursors,
        window: 2,
        commitId: id(count++),
        ...(ended === undefined ? {} : { ended })
      }))
      durable = { ...tail, epoch: manifest.epoch, slot: 0 }
      assert.deepStrictEqual(at(liveStart(manifest)), [manifest.epoch, 0])
      assert.strictEqual(liveStart(manifest).seq, tail.seq)
    }
    open()
    for (const { amount, kind } of steps) {
      if (kind === "open") open()
      if (kind === "crash") apply(claim(manifest, writer("v"), id(count++)))
      if (kind === "write") {
        for (let slot = 0; slot < amount; slot++) {
          durable = boundary(durable.epoch, durable.slot + 1, durable.seq + 3)
          points = [...points, durable]
        }
      }
      if (kind !== "trim" && kind !== "commit") continue
      if (manifest.live !== manifest.epoch) open()
      const trim = kind === "trim" ? points[Math.min(amount, points.length - 1)] ?? manifest.trim : manifest.trim
      apply(advance(manifest, {
        checkpoint: durable,
        trim,
        cursors: { revision: { epoch: manifest.epoch, n: count }, marks: { default: trim.seq } },
        index: points
      }, id(count++)))
    }
  }, { arbitrary: { runs: 200 } })
})
