import { assert, describe, it } from "@effect/vitest"
import { chainFiles } from "../../../src/node/journal/FileChain.ts"
import { decideTail } from "../../../src/node/journal/TailDecision.ts"

const file = { startBytes: 128, sizeBytes: 1_000 }

describe("TailDecision", () => {
  it("a file that ends with whole frames: those behind the last sync are copied, nothing is dropped", () => {
    assert.deepStrictEqual(decideTail({ bad: [], syncedThrough: 600 }, file), {
      syncedBytes: 600,
      goodBytes: 1_000,
      droppedBytes: 0,
      damage: []
    })
    assert.strictEqual(decideTail({ bad: [], syncedThrough: 0 }, file).syncedBytes, 128)
  })

  it("what is bad behind the last sync is the torn tail, with all that follows", () => {
    const bad = [{ from: 700, to: 750 }, { from: 900, to: 1_000 }]
    assert.deepStrictEqual(decideTail({ bad, syncedThrough: 600 }, file), {
      syncedBytes: 600,
      goodBytes: 700,
      droppedBytes: 300,
      damage: []
    })
  })

  it("what is bad before the last sync is damage and cuts nothing", () => {
    const bad = [{ from: 200, to: 300 }]
    assert.deepStrictEqual(decideTail({ bad, syncedThrough: 600 }, file), {
      syncedBytes: 600,
      goodBytes: 1_000,
      droppedBytes: 0,
      damage: [{ from: 200, to: 300 }]
    })
  })

  it("a bad stretch over the last sync is both", () => {
    assert.deepStrictEqual(decideTail({ bad: [{ from: 500, to: 800 }], syncedThrough: 600 }, file), {
      syncedBytes: 600,
      goodBytes: 600,
      droppedBytes: 400,
      damage: [{ from: 500, to: 600 }]
    })
  })

  it("a file that is shorter than its header has nothing", () => {
    assert.deepStrictEqual(decideTail({ bad: [], syncedThrough: 0 }, { startBytes: 128, sizeBytes: 60 }), {
      syncedBytes: 128,
      goodBytes: 128,
      droppedBytes: 0,
      damage: []
    })
  })
})

describe("FileChain", () => {
  const found = (number: number, before?: number) => {
    const summary = { goodBytes: 500, slots: 0, holding: 0, lowest: undefined, highest: undefined }
    const previous = before === undefined ? undefined : { number: before, ...summary }
    return { number, header: { id: "", number, previous, createdAtMillis: 0 } }
  }
  const damaged = (number: number) => ({ number, header: undefined })
  const chain = (files: Parameters<typeof chainFiles>[0]) => {
    const result = chainFiles(files)
    return {
      files: result.files.map((link) => [link.file.number, link.closed?.number]),
      superseded: result.superseded.map((one) => one.number),
      problems: result.problems.length
    }
  }

  it("follows the headers; what is below the first file was dropped", () => {
    assert.deepStrictEqual(chain([]), { files: [], superseded: [], problems: 0 })
    assert.deepStrictEqual(chain([found(3, 2), found(4, 3), found(5, 4)]), {
      files: [[3, 3], [4, 4], [5, undefined]],
      superseded: [],
      problems: 0
    })
  })

  it("files that a later header steps over hold nothing", () => {
    assert.deepStrictEqual(chain([found(1), found(2, 1), found(3, 1), found(4, 1)]), {
      files: [[1, 1], [4, undefined]],
      superseded: [3, 2],
      problems: 0
    })
    assert.deepStrictEqual(chain([found(1), found(2)]), { files: [[2, undefined]], superseded: [1], problems: 0 })
  })

  it("a hole and a damaged header are problems, and what is before them stays", () => {
    assert.deepStrictEqual(chain([found(1), found(2, 1), found(4, 3)]), {
      files: [[1, 1], [2, undefined], [4, undefined]],
      superseded: [],
      problems: 1
    })
    assert.deepStrictEqual(chain([found(1), damaged(2), found(3, 2)]), {
      files: [[1, undefined], [2, 2], [3, undefined]],
      superseded: [],
      problems: 1
    })
  })
})
