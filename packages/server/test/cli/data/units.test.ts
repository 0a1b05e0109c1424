import { DiskFile } from "@effect-wal/core/node"
import { ProducerConflict } from "@effect-wal/core/WalError"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option, Result } from "effect"
import { join } from "node:path"
import { conflictStep } from "../../../src/cli/data/KeyConflict.ts"
import { type Batch, LineBatches } from "../../../src/cli/data/LineBatches.ts"
import { delimiterOf, readTime } from "../../../src/cli/data/ReadFlags.ts"
import { viewDisk } from "../../../src/cli/data/ViewDisk.ts"
import { snapshot, temporary } from "./Cli.ts"

const textsOf = (batches: ReadonlyArray<Batch>) =>
  batches.map(({ payloads }) => payloads.map((payload) => Buffer.from(payload).toString("utf8")))

const cut = (text: string, chunkBytes: number, limits = { records: 100, bytes: 1_000 }, fromLine = 1) => {
  const lines = new LineBatches({ name: "in", fromLine }, limits)
  const bytes = Buffer.from(text)
  const batches: Array<Batch> = []
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    const found = lines.push(bytes.subarray(start, start + chunkBytes))
    batches.push(...found.batches)
    if (found.problem !== undefined) return { batches, problem: found.problem, held: lines.flush() }
  }
  const last = lines.end()
  return { batches: [...batches, ...last.batches], problem: last.problem, held: undefined }
}

describe("conflictStep", () => {
  const error = new ProducerConflict({ id: "k", sequence: 0, first: 9, last: 10 })
  const stepOf = (text: string, raw = false) => {
    const [batch] = cut(text, 100, { records: 3, bytes: 1_000 }, 3).batches
    assert.isDefined(batch)
    return batch === undefined
      ? undefined
      : conflictStep({ _tag: "Failed", error, refused: { file: "in", batch } }, raw)
  }

  it("says what has the key, and where to go on as far as that is known", () => {
    const whole = stepOf("1\n2\n3\n4\n5\n")
    assert.include(whole, "`effect-wal cat --from 9 --limit 2`")
    assert.include(whole, "at line 3 of in")
    assert.include(whole, "same command and key with `--from-line 5`")
    assert.include(whole, "another key with `--from-line 3`")
    // An empty line is no record, and what is stored may be more than this batch.
    for (const text of ["1\n2\n3\n\n4\n5\n", "1\n2\n3\n"]) {
      assert.include(stepOf(text), "`--from-line` at the line behind them")
    }
    assert.notInclude(stepOf("1\n2\n3\n4\n", true), "--from-line")
  })

  it("has nothing to say of another end", () => {
    const [batch] = cut("1\n", 100).batches
    assert.isDefined(batch)
    if (batch === undefined) return
    const other = { _tag: "RecordTooLarge", message: "too large" }
    assert.isUndefined(conflictStep({ _tag: "Failed", error: other, refused: { file: "in", batch } }, false))
    assert.isUndefined(conflictStep({ _tag: "Failed", error }, false))
    assert.isUndefined(conflictStep({ _tag: "Stopped" }, false))
  })
})

describe("LineBatches", () => {
  it("gives the same lines however the bytes come", () => {
    const text = "\uFEFF{\"é\":1}\r\n\n2\n\"\u2028\"\r\n[3]"
    for (const size of [1, 2, 3, 5, 100]) {
      const { batches, problem } = cut(text, size)
      assert.isUndefined(problem)
      assert.deepStrictEqual(textsOf(batches), [["{\"é\":1}", "2", "\"\u2028\"", "[3]"]], String(size))
      assert.deepInclude(batches[0], { fromLine: 1, toLine: 5 })
    }
  })

  it("ends a batch at its records and before its bytes, and lets a larger record go alone", () => {
    const { batches } = cut("1\n2\n3\n", 100, { records: 2, bytes: 100 })
    assert.deepStrictEqual(textsOf(batches), [["1", "2"], ["3"]])
    const sized = cut("111\n222\n\"a long one\"\n3\n", 100, { records: 9, bytes: 6 })
    assert.deepStrictEqual(textsOf(sized.batches), [["111", "222"], ["\"a long one\""], ["3"]])
    assert.deepStrictEqual(sized.batches.map(({ fromLine, toLine }) => [fromLine, toLine]), [[1, 2], [3, 3], [4, 4]])
  })

  it("names the line and the byte of what is not JSON, and keeps what stands before it", () => {
    const bad = cut("1\n\n{\"a\":}\n2\n", 4)
    assert.strictEqual(bad.problem?.message, "in, line 3: not JSON at byte 5")
    assert.deepStrictEqual(textsOf(bad.held === undefined ? [] : [bad.held]), [["1"]])
    const notText = new LineBatches({ name: "in", fromLine: 1 }, { records: 1, bytes: 1 })
    assert.match(notText.push(Uint8Array.of(0x22, 0xff, 0x22, 0x0a)).problem?.message ?? "", /not UTF-8/)
  })

  it("passes over lines before the first wanted one, also bad ones", () => {
    assert.deepStrictEqual(textsOf(cut("nope\n2\n3", 2, undefined, 2).batches), [["2", "3"]])
  })
})

describe("the flags of a read", () => {
  it("take a time in each form that has one meaning", () => {
    const now = 1_800_000_000_000
    const time = (text: string) => Result.getOrUndefined(readTime(text, now))
    assert.strictEqual(time("1700000000000"), 1_700_000_000_000)
    assert.strictEqual(time("10m"), now - 600_000)
    assert.strictEqual(time("2026-11-30T12:00:00Z"), Date.UTC(2026, 10, 30, 12))
    assert.strictEqual(time("2026-11-30T13:00:00.5+01:00"), Date.UTC(2026, 10, 30, 12, 0, 0, 500))
    assert.strictEqual(time("2026-11-30"), Date.UTC(2026, 10, 30))
    for (const text of ["", "yesterday", "2026-11-30T12:00:00", "12:00", "-1"]) assert.isUndefined(time(text), text)
  })

  it("write a delimiter with escapes", () => {
    const bytes = (text: string) => Buffer.from(delimiterOf(Option.some(text))).toString("latin1")
    assert.deepStrictEqual(["", "\\n", "\\0", "\\t", "--", "\\\\n"].map(bytes), ["", "\n", "\0", "\t", "--", "\\n"])
    assert.strictEqual(Buffer.from(delimiterOf(Option.none())).toString(), "\n")
  })
})

describe("ViewDisk", () => {
  it.effect("shows what is made and hides what is removed, and changes nothing", () =>
    Effect.gen(function*() {
      const root = yield* temporary
      const fs = yield* FileSystem.FileSystem
      yield* fs.makeDirectory(`${root}/d`)
      yield* fs.writeFileString(`${root}/d/kept`, "kept")
      const before = snapshot(root)
      const disk = viewDisk()
      const names = Effect.map(disk.list(join(root, "d")), (entries) => entries.map(({ name }) => name).toSorted())
      const made = join(root, "d", "made.tmp")
      const handle = yield* disk.open(made, "create")
      yield* handle.writeMany([Uint8Array.of(1, 2), Uint8Array.of(3)], 1)
      assert.deepStrictEqual([...(yield* handle.read(9, 0))], [0, 1, 2, 3])
      yield* disk.rename(made, join(root, "d", "made"))
      yield* disk.unlink(join(root, "d", "kept"))
      assert.deepStrictEqual(yield* names, ["made"])
      assert.strictEqual((yield* Effect.flip(disk.open(join(root, "d", "kept"), "read"))).code, "ENOENT")
      assert.strictEqual((yield* Effect.flip(disk.open(join(root, "d", "other"), "modify"))).code, "EROFS")
      assert.strictEqual((yield* Effect.flip(disk.link(join(root, "d", "kept"), made))).code, "EROFS")
      assert.isTrue(yield* disk.makeDirectory(join(root, "new")))
      assert.strictEqual((yield* Effect.flip(disk.lock(join(root, "lock")))).call, "lock")
      assert.deepStrictEqual(snapshot(root), before)
      assert.instanceOf(yield* Effect.flip(disk.rename(join(root, "d", "kept"), made)), DiskFile.DiskError)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
