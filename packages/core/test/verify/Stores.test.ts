/** The same on a disk: a log in a directory, and a local log whose files no process has open. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import * as WalRepair from "@effect-wal/core/WalRepair"
import * as WalVerify from "@effect-wal/core/WalVerify"
import { assert, describe, it } from "@effect/vitest"
import { Effect, References, type Scope, Stream } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { logPrefix } from "../../src/LogId.ts"
import * as DirectoryObjectStore from "../../src/node/DirectoryObjectStore.ts"
import * as LocalLog from "../../src/node/LocalLog.ts"
import * as LocalObjectStore from "../../src/node/LocalObjectStore.ts"
import { ProcessRegistry, ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import type { WalService } from "../../src/WalService.ts"
import { freshDirectory } from "../node/fixtures/disks.ts"
import { records, seqs, store } from "../support/LogWorld.ts"
import { identity, short } from "./Checked.ts"

const ids = { ...identity, segment: { maxEntries: 5, linger: "0ms" }, retention: { policy: "keep" } } as const
const prefix = logPrefix({ ...identity, prefix: "" })

const asProcess = <A, E, R>(effect: Effect.Effect<A, E, R | Scope.Scope>) =>
  Effect.scoped(effect).pipe(
    Effect.provideService(ProcessRegistry, new ProcessRegistryState()),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

const report = Effect.map(
  WalVerify.report(identity),
  ({ findings, report }) => ({ found: findings.map(short), report })
)

const repair = Effect.gen(function*() {
  const planned = yield* WalRepair.plan(identity)
  yield* WalRepair.apply(planned, { ...identity, noWriterRuns: true })
  return planned
})

/** Writes ten records more, in two segments, as a process of its own. */
const write = Effect.fnUntraced(function*(wal: WalService, from: number) {
  yield* store(wal, records(10, from))
  yield* wal.close
})

describe("verify and repair", () => {
  it.live("in a directory: a file is cut and the manifest is gone", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const onDirectory = <A, E>(effect: Effect.Effect<A, E, ObjectStore | Scope.Scope>) =>
        asProcess(Effect.flatMap(DirectoryObjectStore.make({ path }), (given) =>
          Effect.provideService(effect, ObjectStore, given)))
      yield* onDirectory(Effect.flatMap(Wal.make(ids), (wal) =>
        write(wal, 1)))
      yield* onDirectory(Effect.flatMap(Wal.make(ids), (wal) =>
        write(wal, 11)))
      const whole = yield* onDirectory(report)
      assert.deepInclude(whole.report, { intact: true, records: 20, foreign: 0 })
      const cut = join(path, slotKey(prefix, 1, 1))
      yield* Effect.promise(async () =>
        fs.truncate(cut, (await fs.stat(cut)).size - 3)
      )
      assert.deepStrictEqual((yield* onDirectory(report)).found, ["segment-corrupt 1/1 6-10"])
      yield* onDirectory(repair)
      assert.deepStrictEqual((yield* onDirectory(report)).found, ["segment-corrupt 1/1 6-10 known"])
      yield* Effect.promise(async () => {
        await fs.rm(join(path, `${prefix}manifest.json`))
        await fs.rm(join(path, `${prefix}manifest.json~versions`), { recursive: true, force: true })
      })
      assert.deepStrictEqual((yield* onDirectory(report)).found, ["manifest-missing", "segment-corrupt 1/1 6-10"])
      yield* onDirectory(repair)
      assert.deepStrictEqual((yield* onDirectory(report)).found, ["segment-corrupt 1/1 6-10 known"])
      const read = yield* onDirectory(Effect.flatMap(Wal.make(ids), (wal) =>
        Effect.andThen(store(wal, records(5, 21)), Stream.runCollect(wal.read({ onDamage: "skip" })))))
      assert.deepStrictEqual(seqs(read), [
        1,
        2,
        3,
        4,
        5,
        "lost 6-10",
        ...Array.from({ length: 15 }, (_, at) =>
          at + 11)
      ])
    }), 60_000)

  it.live(
    "of a local log that nobody has open: bytes on the disk are damaged and the manifest is gone",
    () =>
      Effect.gen(function*() {
        const path = yield* freshDirectory
        const local = (from: number) =>
          asProcess(Effect.flatMap(LocalLog.make({ ...ids, path }), (wal) => write(wal, from)))
        const offline = <A, E>(effect: Effect.Effect<A, E, ObjectStore>) =>
          asProcess(
            Effect.flatMap(
              LocalObjectStore.make({ path, prefix }),
              (given) => Effect.provideService(effect, ObjectStore, given)
            )
          )
        yield* local(1)
        yield* local(11)
        yield* local(21)
        const { report: whole } = yield* offline(report)
        assert.deepInclude(whole, { intact: true, records: 30, epochs: 3 })
        // The second record, somewhere in the first file that holds it.
        const journal = join(path, prefix, "~journal")
        const names = (yield* Effect.promise(() => fs.readdir(journal))).filter((name) => name.endsWith(".journal"))
          .sort()
        let isHarmed = false
        for (const name of names) {
          const bytes = yield* Effect.promise(() => fs.readFile(join(journal, name)))
          const at = bytes.indexOf("r12r13")
          if (at < 0 || isHarmed) continue
          bytes[at] = 0x58
          isHarmed = true
          yield* Effect.promise(() => fs.writeFile(join(journal, name), bytes))
        }
        assert.isTrue(isHarmed)
        yield* Effect.promise(() => fs.rm(join(path, `${prefix}manifest.json`)))
        yield* Effect.promise(() =>
          fs.rm(join(path, `${prefix}manifest.json~versions`), { recursive: true, force: true })
        )
        const harmed = yield* offline(report)
        assert.deepStrictEqual(harmed.found, ["manifest-missing", "segment-corrupt 2/0 11-15"])
        yield* offline(repair)
        assert.deepStrictEqual((yield* offline(report)).found, ["segment-corrupt 2/0 11-15 known"])
        yield* local(31)
        const read = yield* asProcess(
          Effect.flatMap(LocalLog.make({ ...ids, path }), (wal) => Stream.runCollect(wal.read({ onDamage: "skip" })))
        )
        assert.deepStrictEqual(seqs(read), [
          ...Array.from({ length: 10 }, (_, at) => at + 1),
          "lost 11-15",
          ...Array.from({ length: 25 }, (_, at) => at + 16)
        ])
      }),
    60_000
  )
})
