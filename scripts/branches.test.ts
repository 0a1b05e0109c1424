import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { type AnswerCounts, ProcessAnswers } from "../packages/testing/src/simulation/AnswerCount.ts"
import { type Branch, branchId, type BranchPlace } from "./sim/Branch.ts"
import { type BranchCounts, mergeCounts, placeOffset, rareBranches } from "./sim/BranchCount.ts"
import { branches } from "./sim/Branches.ts"
import { branchTable } from "./sim/BranchTable.ts"

const root = join(import.meta.dirname, "..")
const sourceOf = ({ file }: BranchPlace): string => readFileSync(join(root, file), "utf8")
const placeOf = ({ count }: Branch): ReadonlyArray<BranchPlace> => typeof count === "string" ? [] : [count]

const example = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(root, "scripts/branch-example.ts"), ...args], { encoding: "utf8" })

/**
 * The expression that branches between the last branch of statements and a statement at the offset, if there is one. The
 * engine's block after an `if`, a loop or a `yield*` ends where such an expression begins: what stands behind it in the same
 * block would get the count of the block around.
 */
const hidingBranch = (source: string, offset: number): string | undefined => {
  const lines = source.slice(0, offset).split("\n")
  const indent = lines.pop() ?? ""
  if (indent.trim() !== "") return undefined
  let hiding: string | undefined
  for (const line of lines.toReversed().filter((text) => text.trim() !== "")) {
    // The head of the block.
    if (!line.startsWith(indent)) return undefined
    const text = line.slice(indent.length)
    if (/^((if|for|while) \(|\} else|\}$)|^(?=\S).*yield\*/.test(text)) return undefined
    if (/ (\?|\?\?|&&|\|\|) /.test(text)) hiding ??= text.trim()
    if (hiding !== undefined && !/^[ \])}]/.test(text)) return hiding
  }
  return undefined
}

describe("the branches of the protocol", () => {
  it("each have a name of their own, and a place that stands exactly once in its file", () => {
    assert.strictEqual(new Set(branches.map(branchId)).size, branches.length)
    for (const place of branches.flatMap(placeOf)) placeOffset(sourceOf(place), place)
  })

  it("are refused where the text does not stand exactly once, or the place is not marked once", () => {
    const place = (at: string) => ({ file: "some.ts", at })
    assert.strictEqual(placeOffset("one two", place("one ▸two")), 4)
    assert.throws(() => placeOffset("two two", place("▸two")), "some.ts holds 2 times, not once: two")
    assert.throws(() => placeOffset("one", place("▸two")), "some.ts holds 0 times, not once: two")
    assert.throws(() => placeOffset("two", place("two")), "a place has one ▸: two")
  })

  it("stand at the same offset in what is run, once the types are stripped", () => {
    const stripped = new Map<string, string>()
    for (const place of branches.flatMap(placeOf)) {
      const source = sourceOf(place)
      const offset = placeOffset(source, place)
      const code = stripped.get(place.file) ?? stripTypeScriptTypes(source)
      stripped.set(place.file, code)
      assert.strictEqual(code.length, source.length, place.file)
      assert.strictEqual(code.slice(offset, offset + 5), source.slice(offset, offset + 5), place.at)
    }
  })

  it("have no place that would be counted as the block around it", () => {
    for (const place of branches.flatMap(placeOf)) {
      const source = sourceOf(place)
      assert.strictEqual(hidingBranch(source, placeOffset(source, place)), undefined, place.at)
    }
    const hiding = (...lines: ReadonlyArray<string>) =>
      hidingBranch(lines.join("\n"), lines.join("\n").indexOf("later"))
    assert.strictEqual(hiding("if (a) return", "const b = a ? 1 : 2", "const c = b", "later()"), "const b = a ? 1 : 2")
    assert.strictEqual(hiding("if (a) return", "make({", "  b: a ?? 2", "})", "later()"), "b: a ?? 2")
    assert.strictEqual(hiding("const b = a ? 1 : 2", "if (b) return", "later()"), undefined)
    assert.strictEqual(hiding("const b = a ? 1 : 2", "if (b) {", "  later()", "}"), undefined)
    assert.strictEqual(hiding("yield* make({", "  b: a ?? 2", "})", "later()"), undefined)
  })
})

const expected: BranchCounts = {
  "4.1 200: confirmed": 1,
  "4.1 412: look at what has the key": 2,
  "4.1 412, my nonce and checksum: confirmed": 1,
  "4.1 412, an end marker: WriterFenced": 1,
  "4.1 no 200 and no 412: same key, same bytes again": 1,
  "4.1 an end marker, no slot below it under way: the log ends": 1,
  "4.1 timeout: retry, may land later": 1,
  "4.1 a slot confirmed, all before it too: acknowledged": 2,
  "4.2 1. the manifest is not there": 1,
  "4.2 1. the manifest is there (every read of it)": 3,
  "4.2 2. and 4. a swap is answered 200 (commits too)": 4,
  "4.2 2. and 4. a swap is not answered 200: read (commits too)": 2,
  "4.2 2. and 4. read back, my commit id: done (commits too)": 1,
  "4.2 2. and 4. read back, mine or nobody's: again (commits too)": 1,
  "4.2 2. claim, 200": 1,
  "4.2 2. claim, unknown": 1,
  "4.2 2. claim, read back: mine, done": 1,
  "4.2 4. activation, 200": 2,
  "4.2 4. activation, unknown": 1,
  "4.2 4. activation, read back: an earlier body of mine, again": 1,
  "4.2 1. absent: LIST": 1,
  "4.2 1. absent, no segments: create": 1,
  "4.2 1. created": 1,
  "4.2 2. claim, each try built anew": 2,
  "4.2 2. claimed at the first try: what was listed meanwhile counts": 1,
  "4.2 2. not at the first try: what was listed meanwhile is forgotten": 1,
  "4.2 2. claimed": 2,
  "4.2 3. no live epoch": 1,
  "4.2 3. a live epoch: end it": 1,
  "4.2 4. ends stay in the manifest": 2,
  "4.2 4. activation, each try built anew": 3,
  "4.2 4. activated": 2,
  "4.2 5. the link is the recorded end": 1,
  "4.2 5. the link is the end that was found": 1,
  "4.2 3. the search does not start at this one of the two": 6,
  "4.2 3. LIST from max(trim point, checkpoint)": 2,
  "4.2 3. the header of the last segment is read": 1,
  "4.2 3. nothing seen was durable above the end": 1,
  "4.2 3. no marker yet: the first missing slot is the end": 1,
  "4.2 3. the marker is put": 1,
  "4.2 3. the search ends with a marker put or found": 1,
  "4.2 4. an epoch that ends at 0, or none: no end is recorded": 1,
  "4.2 4. the end is recorded": 2,
  "4.2 5. the first segment carries the link": 2,
  "4.2 a live epoch was ended: a take-over": 1
}

describe("counting branches", () => {
  it("counts exactly what an example does, in a process of its own", () => {
    const { stderr, stdout } = example()
    assert.strictEqual(stderr, "")
    const counts: BranchCounts = JSON.parse(stdout)
    assert.deepStrictEqual(Object.keys(counts), branches.map(branchId))
    const taken = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
    assert.deepStrictEqual(taken, expected)
  })

  it("refuses code that has run before counting was started", () => {
    const { status, stderr } = example("late")
    assert.strictEqual(status, 1)
    assert.include(stderr, "was loaded before counting was started")
  })

  it("adds up processes, and finds what was taken too seldom", () => {
    const [first, second] = branches
    const needy = branches.find(({ needs }) => needs === "damage")
    if (first === undefined || second === undefined || needy === undefined) return assert.fail("the table is empty")
    const merged = mergeCounts([{ [branchId(first)]: 999 }, { [branchId(first)]: 1, [branchId(second)]: 2 }])
    assert.strictEqual(merged[branchId(first)], 1_000)
    assert.strictEqual(Object.keys(merged).length, branches.length)
    const rare = rareBranches(merged, 1_000, new Set(["damage"]))
    assert.notInclude(rare, first)
    assert.include(rare, second)
    assert.notInclude(rare, needy)
    assert.include(rareBranches(merged, 1_000), needy)
    assert.include(branchTable(merged), `        1000  ${first.branch}\n           2  ${second.branch}\n`)
  })
})

const manifest = (
  fields: { readonly epoch: number; readonly nonce: string; readonly live: number; readonly id: string }
) => new TextEncoder().encode(JSON.stringify({ ...fields, commit_id: fields.id }))

describe("counting answers", () => {
  const key = "node/log/manifest.json"
  const mine = { epoch: 2, nonce: "mine", live: 1, id: "c1" }
  const active = { ...mine, live: 2, id: "c2" }
  const answersOf = (tell: (answers: ProcessAnswers) => void): Record<string, number> => {
    const counts: AnswerCounts = new Map()
    tell(new ProcessAnswers(counts))
    return Object.fromEntries(counts)
  }

  it("tells claim, activation and commits apart, and what was read back", () => {
    const counts = answersOf((answers) => {
      const replace = (fields: typeof mine, reason?: "TimedOut" | "PreconditionFailed") =>
        answers.answered({
          operation: "replace",
          key,
          body: manifest(fields),
          ...(reason === undefined ? {} : { reason })
        })
      const read = (fields: typeof mine) => answers.answered({ operation: "get", key, body: manifest(fields) })
      replace(mine, "PreconditionFailed")
      read({ ...mine, nonce: "another", id: "a1" })
      replace({ ...mine, epoch: 3, id: "c3" }, "TimedOut")
      read({ ...mine, epoch: 3, id: "c3" })
      replace({ ...active, epoch: 3, live: 3, id: "c4" }, "TimedOut")
      read({ ...mine, epoch: 3, id: "c3" })
      replace({ ...active, epoch: 3, live: 3, id: "c5" }, "TimedOut")
      read({ ...active, epoch: 3, live: 3, id: "c5" })
      replace({ ...active, epoch: 3, live: 3, id: "c6" })
      replace({ ...active, epoch: 3, live: 3, id: "c7" }, "PreconditionFailed")
      read({ ...mine, nonce: "another", epoch: 4, id: "d1" })
    })
    assert.deepStrictEqual(counts, {
      "claim: 412": 1,
      "claim: read back, again": 1,
      "claim: unknown": 1,
      "claim: read back, mine": 1,
      "activation: unknown": 2,
      "activation: read back, again": 1,
      "activation: read back, mine": 1,
      "commit: 200": 1,
      "commit: 412": 1,
      "commit: read back, another writer's": 1
    })
  })

  it("leaves out what a proxy answers in place of a manifest", () => {
    const counts = answersOf((answers) => {
      answers.answered({ operation: "replace", key, body: manifest(mine), reason: "TimedOut" })
      answers.answered({ operation: "get", key, body: new TextEncoder().encode("<html>") })
      answers.answered({ operation: "get", key, body: manifest(mine) })
    })
    assert.deepStrictEqual(counts, { "claim: unknown": 1 })
  })

  it("counts the PUTs of segments by their answer, and no end markers", () => {
    const object = (kind: number) => Uint8Array.from({ length: 11 }, (_, index) => index === 10 ? kind : 0)
    const counts = answersOf((answers) => {
      const create = (kind: number, reason?: "Conflict" | "AccessDenied") =>
        answers.answered({
          operation: "create",
          key: "node/log/segments/0000000001/000000000000.seg",
          body: object(kind),
          ...(reason === undefined ? {} : { reason })
        })
      create(1, "Conflict")
      create(1, "AccessDenied")
      create(1)
      create(2)
      answers.answered({ operation: "create", key, body: manifest(mine), reason: "TimedOut" })
    })
    assert.deepStrictEqual(counts, {
      "segment: 409": 1,
      "segment: 403": 1,
      "segment: 200": 1,
      "manifest creation: timeout": 1
    })
  })
})
