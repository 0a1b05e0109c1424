/** What opening makes of the end of a file that nobody closed, and of damage before it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Metric, References } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { nodeDisk } from "../../../src/node/DiskFile.ts"
import * as Journal from "../../../src/node/journal/Journal.ts"
import { frameHeaderBytes } from "../../../src/node/journal/JournalFrame.ts"
import { freshDirectory, text } from "../fixtures/disks.ts"
import {
  appendEach,
  changed,
  edit,
  frame,
  frames,
  journalFiles,
  lastFile,
  logLines,
  name,
  names,
  open,
  readFile,
  textOf,
  use
} from "./fixtures/journals.ts"

/** A body as a segment has it, so that 512 bytes lie within one. */
const body = "b".repeat(1_000)
const frameBytes = frameHeaderBytes + body.length

const tornTails = Effect.map(Metric.snapshot, (all) => {
  const found = all.find((one) => one.id === "wal_torn_tails_total")
  return found?.type === "Counter" ? Number(found.state.count) : 0
})

/** Runs the body with a logger that keeps its lines. */
const withLog = <A, E, R>(body: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const { lines, log } = logLines()
  return body(lines).pipe(
    Effect.provide(Logger.layer([Logger.make(log)])),
    Effect.provideService(References.MinimumLogLevel, "Info")
  )
}

/** Opens with a logger that keeps its lines. */
const openLogged = (directory: string) =>
  withLog((lines) => Effect.map(Journal.open({ directory }), (journal) => ({ journal, lines })))

interface Variant {
  readonly title: string
  readonly change: (content: Buffer) => Uint8Array
  /** Slots that are there afterwards: 0, 1 and perhaps 2. */
  readonly kept: number
  /** Bytes behind them; 0 where nothing shows that something was there. */
  readonly dropped: number
}

const variants: ReadonlyArray<Variant> = [
  {
    title: "minus 7 bytes",
    change: (content) => content.subarray(0, -7),
    kept: 2,
    dropped: frameBytes - 7
  },
  {
    title: "the last 512 bytes are zeros",
    change: (content) => Buffer.from(content).fill(0, content.length - 512),
    kept: 2,
    dropped: frameBytes
  },
  {
    title: "only the header of the last frame",
    change: (content) => content.subarray(0, content.length - body.length),
    kept: 2,
    dropped: frameHeaderBytes
  },
  {
    title: "4 MiB of zeros behind it",
    change: (content) => Buffer.concat([content, Buffer.alloc(4 << 20)]),
    kept: 3,
    dropped: 4 << 20
  },
  {
    title: "cut exactly between two frames",
    change: (content) => content.subarray(0, content.length - frameBytes),
    kept: 2,
    dropped: 0
  }
]

describe("Journal and a torn tail", () => {
  for (const variant of variants) {
    for (const together of [false, true]) {
      const how = together ? "one write" : "three writes"
      it.effect(`[case 11] ${variant.title}, of ${how}: whole frames stay, it is told once, new ones follow`, () =>
        Effect.gen(function*() {
          const directory = yield* freshDirectory
          yield* use(
            directory,
            (journal) => together ? journal.append(frames(0, 2, body)) : appendEach(journal, frames(0, 2, body))
          )
          const torn = yield* lastFile(directory)
          yield* edit(torn, variant.change)
          const before = yield* tornTails
          yield* Effect.scoped(Effect.gen(function*() {
            const { journal, lines } = yield* openLogged(directory)
            const told = { path: torn, framesKept: variant.kept, droppedBytes: variant.dropped }
            assert.deepStrictEqual(journal.tornTail, variant.dropped === 0 ? undefined : told)
            assert.strictEqual(lines.length, variant.dropped === 0 ? 0 : 1)
            for (const line of lines) {
              assert.match(line, /^Warn .*torn tail/)
              assert.include(line, torn)
              assert.include(line, `${variant.kept} frames are kept, ${variant.dropped} bytes`)
            }
            for (let slot = 0; slot < variant.kept; slot++) assert.strictEqual(yield* textOf(journal, 1, slot), body)
            assert.strictEqual((yield* names(journal)).length, variant.kept)
            yield* appendEach(journal, frames(10, 14))
          }))
          const all = [...["1/0", "1/1", "1/2"].slice(0, variant.kept), "1/10", "1/11", "1/12", "1/13", "1/14"]
          for (let round = 0; round < 2; round++) {
            yield* Effect.scoped(Effect.gen(function*() {
              const { journal, lines } = yield* openLogged(directory)
              assert.isUndefined(journal.tornTail)
              assert.deepStrictEqual(journal.damage, [])
              assert.deepStrictEqual(lines, [])
              assert.deepStrictEqual(yield* names(journal), all)
              assert.strictEqual(yield* textOf(journal, 1, 0), body)
              assert.strictEqual(yield* textOf(journal, 1, 14), "1/14")
            }))
          }
          assert.strictEqual((yield* tornTails) - before, variant.dropped === 0 ? 0 : 1)
        }))
    }
  }

  it.effect("[case 11] every cut and every zeroed end of the last write: whole frames before it stay, nothing else", () =>
    Effect.gen(function*() {
      const source = yield* freshDirectory
      yield* use(source, (journal) =>
        Effect.gen(function*() {
          yield* appendEach(journal, frames(0, 2))
          yield* journal.append(frames(3, 5))
        }))
      const path = yield* lastFile(source)
      const whole = yield* readFile(path)
      const end = (slot: number) => 128 + (slot + 1) * (frameHeaderBytes + 3)
      for (let cut = end(2); cut < whole.length; cut += 11) {
        for (const content of [whole.subarray(0, cut), Buffer.from(whole).fill(0, cut)]) {
          const directory = yield* freshDirectory
          yield* Effect.promise(() => fs.writeFile(join(directory, "0000000001.journal"), content))
          const kept = [0, 1, 2, 3, 4, 5].filter((slot) => end(slot) <= cut)
          const expected = kept.map((slot) => `1/${slot}`)
          assert.deepStrictEqual(yield* use(directory, names), expected, `cut at ${cut}`)
          assert.deepStrictEqual(yield* use(directory, names), expected)
        }
      }
    }))

  it.effect("an opening that is cut short at any call changes nothing that the next one finds", () =>
    Effect.gen(function*() {
      for (let stopAt = 1;; stopAt++) {
        const directory = yield* freshDirectory
        yield* use(directory, (journal) => Effect.andThen(journal.append(frames(0, 0)), journal.append(frames(1, 2))))
        yield* edit(yield* lastFile(directory), (content) => content.subarray(0, -1))
        let count = 0
        const stop = <A, E, R>(call: Effect.Effect<A, E, R>) =>
          Effect.suspend(() => ++count === stopAt ? Effect.die("stopped") : call)
        const disk = changed({
          open: (path, mode) =>
            Effect.map(mode === "create" ? stop(nodeDisk.open(path, mode)) : nodeDisk.open(path, mode), (handle) => ({
              ...handle,
              write: (part, position) => stop(handle.write(part, position)),
              writeMany: (parts, position) => stop(handle.writeMany(parts, position)),
              sync: stop(handle.sync)
            })),
          rename: (from, to) => stop(nodeDisk.rename(from, to)),
          unlink: (path) => stop(nodeDisk.unlink(path)),
          syncDirectory: (path) =>
            path === directory ? stop(nodeDisk.syncDirectory(path)) : nodeDisk.syncDirectory(path)
        })
        const exit = yield* Effect.exit(use(directory, () => Effect.void, { disk }))
        assert.deepStrictEqual(yield* use(directory, names), ["1/0", "1/1"], `stopped at ${stopAt}`)
        if (exit._tag === "Success") return assert.isAbove(stopAt, 6)
      }
    }))

  it.effect("frames that may be in the page cache only are written again before they are shown", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) => appendEach(journal, frames(0, 2, body)))
      const [first = ""] = yield* journalFiles(directory)
      const journal = yield* open(directory)
      const [, second = ""] = yield* journalFiles(directory)
      // 0 and 1 were durable when 2 was written; about 2 no frame says so.
      assert.strictEqual((yield* readFile(join(directory, second))).length, 128 + frameBytes)
      yield* edit(join(directory, first), (content) => Buffer.from(content).fill(0, 128 + 2 * frameBytes))
      assert.strictEqual(yield* textOf(journal, 1, 2), body)
      assert.strictEqual(yield* textOf(journal, 1, 1), body)
    }))
})

describe("Journal and damage", () => {
  it.effect("a flipped bit in the middle is told loudly; nothing is cut, the frames behind it are there", () =>
    Effect.gen(function*() {
      for (const [offset, isFrameKnown] of [[frameHeaderBytes + 500, true], [20, false]] as const) {
        const directory = yield* freshDirectory
        yield* use(directory, (journal) => appendEach(journal, frames(0, 5, body)))
        const damaged = yield* lastFile(directory)
        const at = 128 + 2 * frameBytes + offset
        yield* edit(damaged, (content) => {
          content[at] = (content[at] ?? 0) ^ 1
          return content
        })
        yield* Effect.scoped(Effect.gen(function*() {
          const { journal, lines } = yield* openLogged(directory)
          assert.isUndefined(journal.tornTail)
          const range = { path: damaged, from: 128 + 2 * frameBytes, to: 128 + 3 * frameBytes }
          assert.deepStrictEqual(journal.damage, [range])
          assert.match(lines.join(), new RegExp(`^Error .*damaged from byte ${range.from} to ${range.to}`))
          const found = yield* journal.read(name(1, 2))
          // A damaged body is handed out with what is wrong with it, for whoever can tell more; a lost name is lost.
          assert.strictEqual(found?.intact, isFrameKnown ? false : undefined)
          for (const slot of [0, 1, 3, 4, 5]) assert.strictEqual(yield* textOf(journal, 1, slot), body)
          assert.strictEqual((yield* readFile(damaged)).length, 128 + 6 * frameBytes)
        }))
        const again = yield* open(directory)
        for (const slot of [0, 1, 3, 4, 5]) assert.strictEqual(yield* textOf(again, 1, slot), body)
        assert.strictEqual((yield* again.read(name(1, 2)))?.intact, isFrameKnown ? false : undefined)
      }
    }))

  it.effect("a closed file with a hole answers what is left, says so once, and still goes when it is emptied", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const options = { maxFileBytes: 128 + 4 * frameBytes }
      yield* use(directory, (journal) => appendEach(journal, frames(0, 7, body)), options)
      const [first = ""] = yield* journalFiles(directory)
      yield* edit(
        join(directory, first),
        (content) => content.fill(0, 128 + frameBytes - 10, 128 + 2 * frameBytes + 60)
      )
      const journal = yield* open(directory)
      yield* withLog((lines) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* names(journal), ["1/0", "1/3", "1/4", "1/5", "1/6", "1/7"])
          assert.deepStrictEqual(yield* names(journal), ["1/0", "1/3", "1/4", "1/5", "1/6", "1/7"])
          assert.match(lines.join(), /^Error .*2 of 4 slots can be read[^,]*$/)
        })
      )
      assert.strictEqual((yield* journal.read(name(1, 0)))?.intact, false)
      assert.isUndefined(yield* journal.read(name(1, 1)))
      yield* journal.remove([name(1, 0), name(1, 1), name(1, 2)])
      assert.include(yield* journalFiles(directory), first)
      yield* journal.remove([name(1, 3)])
      assert.notInclude(yield* journalFiles(directory), first)
    }))

  it.effect("a damaged header and a file that somebody took away are told; all other frames are there", () =>
    Effect.gen(function*() {
      for (const isTaken of [false, true]) {
        const directory = yield* freshDirectory
        const options = { maxFileBytes: 128 + 2 * frameBytes }
        yield* use(directory, (journal) => appendEach(journal, frames(0, 7, body)), options)
        const second = join(directory, "0000000002.journal")
        if (isTaken) yield* Effect.promise(() => fs.rm(second))
        else yield* edit(second, (content) => content.fill(0, 0, 128))
        for (let round = 0; round < 2; round++) {
          yield* Effect.scoped(Effect.gen(function*() {
            const { journal, lines } = yield* openLogged(directory)
            const lost = isTaken ? ["1/2", "1/3"] : []
            const all = ["1/0", "1/1", "1/2", "1/3", "1/4", "1/5", "1/6", "1/7"]
            assert.deepStrictEqual(yield* names(journal), all.filter((one) => !lost.includes(one)))
            assert.match(lines.join(), isTaken ? /Error .*file 2 is missing/ : /Error .*header of file 2 is damaged/)
          }))
        }
      }
    }))

  it.effect("a body that holds a copy of the journal is no frame of it", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) => appendEach(journal, frames(0, 3, body)))
      const copy = yield* readFile(yield* lastFile(directory))
      yield* use(directory, (journal) =>
        Effect.andThen(journal.append([{ ...frame(2, 0), body: copy }]), journal.append([frame(2, 1, body)])))
      // The header before the copy is gone: what is behind it is looked for within the copy.
      yield* edit(yield* lastFile(directory), (content) =>
        content.fill(0, 128 + frameBytes, 128 + frameBytes + 56))
      const journal = yield* open(directory)
      assert.deepStrictEqual(yield* names(journal), ["1/0", "1/1", "1/2", "1/3", "2/1"])
      assert.strictEqual(text((yield* journal.read(name(2, 1)))?.body ?? new Uint8Array(0)), body)
      assert.strictEqual(journal.damage.length, 1)
    }))
})
