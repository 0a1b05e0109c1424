/**
 * The local log's files and the spool under fuzz: a directory is opened, read, written to, and opened again.
 */
import { finding, type FuzzFinding, type FuzzOutcome, type FuzzTarget } from "@effect-wal/testing/fuzz/FuzzTarget"
import * as PowerLossDisk from "@effect-wal/testing/PowerLossDisk"
import { Effect, Result } from "effect"
import type { Scope } from "effect"
import { isDeepStrictEqual } from "node:util"
import { compareBoundaries } from "../../src/format/Boundary.ts"
import { DiskFile, type DiskFileService } from "../../src/node/DiskFile.ts"
import * as Journal from "../../src/node/journal/Journal.ts"
import * as SpoolDirectory from "../../src/node/SpoolDirectory.ts"
import { filesOf, makeDirectory } from "./JournalInput.ts"
import { checkFiles } from "./JournalScan.ts"

const directory = "/spools/n/s/~spool"
const firstName = { epoch: 0, slot: 0 }
const pageSize = 1_000

const rule = (holds: boolean, problem: string): Effect.Effect<void, FuzzFinding> =>
  holds ? Effect.void : Effect.fail(finding(problem))

/** What is kept under one name. */
interface Kept {
  readonly epoch: number
  readonly slot: number
  /** Absent where it is damaged. */
  readonly body: Uint8Array | undefined
}

/** A journal or a spool, as far as this test needs it. */
interface Keeper {
  readonly list: Effect.Effect<ReadonlyArray<Kept>, { readonly _tag: string; readonly message: string }>
  readonly add: (kept: { readonly epoch: number; readonly slot: number; readonly body: Uint8Array }) => Effect.Effect<
    void,
    { readonly _tag: string; readonly message: string }
  >
}

type OpenFailure = { readonly _tag: string; readonly message: string }

const openJournal: Effect.Effect<Keeper, OpenFailure, Scope.Scope> = Effect.map(
  Journal.open({ directory, maxFileBytes: 4_096 }),
  (journal) => ({
    list: Effect.flatMap(
      journal.list(firstName, pageSize),
      (entries) =>
        Effect.forEach(entries, ({ epoch, slot }) =>
          Effect.map(journal.read({ epoch, slot }), (found) => ({
            epoch,
            slot,
            body: found?.intact === true ? found.body : undefined
          })))
    ),
    add: (kept) => journal.append([kept])
  })
)

const openSpool: Effect.Effect<Keeper, OpenFailure, Scope.Scope> = Effect.map(
  SpoolDirectory.make({ path: "/spools", maxBytes: 65_536 }).open("n/s/"),
  (spool) => ({
    list: Effect.flatMap(
      spool.slots(firstName, pageSize),
      (slots) =>
        Effect.forEach(slots, ({ epoch, slot }) =>
          spool.read(epoch, slot).pipe(
            Effect.map((body) => ({ epoch, slot, body })),
            Effect.catchIf(
              (error) => error.reason === "Damaged",
              () => Effect.succeed({ epoch, slot, body: undefined })
            )
          ))
    ),
    add: ({ body, epoch, slot }) => spool.write([{ epoch, slot, object: body }])
  })
)

const openErrors = new Set(["JournalError", "DirectoryLocked", "StoreUnavailable", "SyncFailed", "ConfigError"])

const parents = ["/spools", "/spools/n", "/spools/n/s", directory]

/** A disk that holds the files of the input, and tells how much is asked of it at once. */
const diskOf = Effect.fnUntraced(function*(input: Uint8Array, asked: (bytes: number) => void) {
  const { disk } = PowerLossDisk.make()
  for (const path of parents) yield* disk.makeDirectory(path)
  for (const { content, name } of filesOf(input)) {
    yield* Effect.scoped(
      Effect.flatMap(disk.open(`${directory}/${name}`, "create"), (handle) => handle.write(content, 0))
    )
  }
  const counting: DiskFileService = {
    ...disk,
    open: (path, mode) =>
      Effect.map(disk.open(path, mode), (handle) => ({
        ...handle,
        read: (length, position) => {
          asked(length)
          return handle.read(length, position)
        }
      }))
  }
  return counting
})

/** A place that no frame of an input has: the next append of a log. */
const addedBody = Uint8Array.of(1, 2, 3, 4)

const isAdded = (kept: Kept): boolean => kept.epoch === 77 && kept.slot === 77

const afterwards = (before: ReadonlyArray<Kept>): ReadonlyArray<Kept> =>
  [...before.filter((one) => !isAdded(one)), { epoch: 77, slot: 77, body: addedBody }].sort(compareBoundaries)

const checkOpened = Effect.fnUntraced(function*(keeper: Keeper) {
  const kept = yield* keeper.list
  yield* rule(
    kept.every((one, index) => index === 0 || compareBoundaries(kept[index - 1] ?? one, one) < 0),
    "the names do not ascend"
  )
  yield* keeper.add({ epoch: 77, slot: 77, body: addedBody })
  return kept
})

const inScope = <A, E>(
  open: Effect.Effect<Keeper, OpenFailure, Scope.Scope>,
  use: (keeper: Keeper) => Effect.Effect<A, E>
) => Effect.scoped(Effect.flatMap(open, use))

/** Read whole again, what was there before and what came to it. */
const checkAgain = Effect.fnUntraced(function*(keeper: Keeper, before: ReadonlyArray<Kept>) {
  const again = yield* keeper.list
  const expected = afterwards(before)
  const lost = expected.find((one) =>
    one.body !== undefined &&
    !again.some((other) => compareBoundaries(one, other) === 0 && isDeepStrictEqual(one.body, other.body))
  )
  yield* rule(
    lost === undefined,
    `slot ${lost?.slot} of epoch ${lost?.epoch} was there and is not after the next opening`
  )
  yield* rule(
    again.every((one) => expected.some((other) => compareBoundaries(one, other) === 0)),
    "the next opening found what was not there before"
  )
})

const unexpected = (when: string) => (error: OpenFailure | FuzzFinding): FuzzFinding =>
  "problem" in error ? error : finding(`${when}: ${error._tag}: ${error.message}`)

/** The one reason for which a journal that could be opened can't be opened again. */
const isUsedUp = (error: OpenFailure | FuzzFinding): error is OpenFailure =>
  "message" in error && error.message.includes("has the last number there is")

/** Of so many inputs one is opened as a journal and one as a spool; the files of the others are only scanned. */
const kinds = 16

const check = Effect.fnUntraced(function*(input: Uint8Array): Effect.fn.Return<FuzzOutcome, FuzzFinding> {
  const kind = (input[0] ?? 0) % kinds
  if (kind > 1) return { allocatedBytes: yield* checkFiles(filesOf(input)) }
  let allocatedBytes = 0
  const disk = yield* diskOf(input, (bytes) => {
    allocatedBytes = Math.max(allocatedBytes, bytes)
  }).pipe(Effect.mapError((error) => finding(`the disk of the test: ${error.message}`)))
  const open = kind === 1 ? openSpool : openJournal
  const opened = yield* Effect.result(
    Effect.provideService(
      inScope(open, (keeper) => Effect.mapError(checkOpened(keeper), unexpected("an open journal"))),
      DiskFile,
      disk
    )
  )
  // Small files: nothing more than one piece of a file is ever asked for at once.
  yield* rule(allocatedBytes <= 1_048_576 + input.length, `${allocatedBytes} bytes were asked for at once`)
  if (Result.isFailure(opened)) {
    const error = opened.failure
    if ("problem" in error) return yield* Effect.fail(error)
    yield* rule(openErrors.has(error._tag), `${error._tag} is no error of an opening`)
    return { refused: error._tag, reason: error.message, allocatedBytes }
  }
  const again = yield* inScope(open, (keeper) => checkAgain(keeper, opened.success)).pipe(
    Effect.mapError((error) => isUsedUp(error) ? error : unexpected("the next opening")(error)),
    Effect.provideService(DiskFile, disk),
    Effect.result
  )
  if (Result.isSuccess(again)) return { allocatedBytes }
  const error = again.failure
  if ("problem" in error) return yield* Effect.fail(error)
  return { refused: error._tag, reason: `the next opening: ${error.message}`, allocatedBytes }
})

/** Directories of a journal: all are looked at, one in eight is opened, written to, and opened again. */
export const journalTarget: FuzzTarget = { name: "journal", make: makeDirectory, check }
