/**
 * The spool on a local disk: one journal for each log, below a directory that several logs can share.
 *
 * ```
 * {path}/{prefix}~spool/…     what the log with this key prefix has spooled (`journal/Journal.ts`)
 * ```
 *
 * One process has the spool of a log open; it is locked until its scope ends. It survives the process and a loss of power,
 * not the loss of the node.
 */
import { Duration, Effect, Layer } from "effect"
import type { Scope } from "effect"
import { basename, join, resolve } from "node:path"
import { Spool, SpoolError, type SpoolOpenError, type SpoolService, type SpoolSource } from "../store/Spool.ts"
import { ConfigError, type DirectoryLocked, type StoreUnavailable, type SyncFailed } from "../WalError.ts"
import { isAbsent } from "./directory/DiskAnswer.ts"
import { spoolName } from "./directory/Layout.ts"
import { prepareRoot } from "./directory/Root.ts"
import { DiskFile } from "./DiskFile.ts"
import * as Journal from "./journal/Journal.ts"
import { type JournalError, openError } from "./journal/JournalError.ts"
import { fileNumberOf } from "./journal/JournalFile.ts"

/** Where a spool is, how large it may get, and when it begins. */
export interface SpoolDirectoryOptions {
  /** The directory; created when it is not there, with those above it. A relative one is below the working directory. */
  readonly path: string
  /** Most disk space that one log takes, in bytes; 65,536 or more, default 10 GB. Beyond it appends wait as without a spool. */
  readonly maxBytes?: number
  /** Spooling starts when a PUT has failed or has been under way so long; default 2 s, 0 is allowed. */
  readonly after?: Duration.Input
}

interface Settings {
  readonly path: string
  readonly maxBytes: number
  readonly afterMillis: number
}

const defaultMaxBytes = 10_000_000_000
const smallestMaxBytes = 65_536

/** Files go whole: with so many in a full spool, its space comes back in steps while it drains. */
const filesOfFull = 8
const largestFileBytes = 67_108_864

const configError = (path: string, value: string, rule: string) =>
  new ConfigError({ source: "spool", problems: [{ path, value, rule }] })

const settingsOf = (options: SpoolDirectoryOptions): Effect.Effect<Settings, ConfigError> => {
  const { after = "2 seconds", maxBytes = defaultMaxBytes, path } = options
  const afterMillis = Duration.toMillis(Duration.fromInputUnsafe(after))
  if (path.trim() === "") return Effect.fail(configError("spool.path", path, "must not be empty"))
  if (!Number.isSafeInteger(maxBytes) || maxBytes < smallestMaxBytes) {
    return Effect.fail(
      configError("spool.max_bytes", `${maxBytes}`, `must be an integer of ${smallestMaxBytes} or more`)
    )
  }
  if (!Number.isFinite(afterMillis)) {
    return Effect.fail(configError("spool.after", `${afterMillis}`, "must be finite and not negative"))
  }
  return Effect.succeed({ path: resolve(path), maxBytes, afterMillis })
}

const spoolError = (error: JournalError): SpoolError =>
  new SpoolError({ reason: error.reason === "full" ? "Full" : "Failed", path: error.path, detail: error.detail })

const service = (journal: Journal.Journal, settings: Omit<Settings, "path">): SpoolService => {
  const damaged = (epoch: number, slot: number, what: string) =>
    new SpoolError({ reason: "Damaged", path: journal.path, detail: `slot ${slot} of epoch ${epoch} ${what}` })
  return {
    id: journal.id,
    path: journal.path,
    maxBytes: settings.maxBytes,
    afterMillis: settings.afterMillis,
    usedBytes: journal.usedBytes,
    slots: (from, limit) =>
      journal.list(from, limit).pipe(
        Effect.map((page) => page.map(({ bodyBytes, epoch, slot }) => ({ epoch, slot, sizeBytes: bodyBytes }))),
        Effect.mapError(spoolError)
      ),
    read: Effect.fnUntraced(function*(epoch: number, slot: number) {
      const found = yield* Effect.mapError(journal.read({ epoch, slot }), spoolError)
      if (found === undefined) return yield* damaged(epoch, slot, "is not there")
      return found.intact ? found.body : yield* damaged(epoch, slot, "is damaged")
    }),
    write: (objects) =>
      journal.append(objects.map(({ epoch, object, slot }) => ({ epoch, slot, body: object }))).pipe(
        Effect.mapError(spoolError)
      ),
    dropThrough: (epoch, slot) => Effect.mapError(journal.dropThrough({ epoch, slot }), spoolError)
  }
}

const openJournal = (
  directory: string,
  maxFileBytes: number
): Effect.Effect<Journal.Journal, DirectoryLocked | SyncFailed | StoreUnavailable, Scope.Scope> =>
  Journal.open({ directory, maxFileBytes }).pipe(
    Effect.catchTag("JournalError", (error) => Effect.fail(openError(error)))
  )

const open = Effect.fnUntraced(
  function*(
    options: SpoolDirectoryOptions,
    prefix: string
  ): Effect.fn.Return<SpoolService, SpoolOpenError, Scope.Scope> {
    const settings = yield* settingsOf(options)
    const rules = {
      problem: (rule: string) => configError("spool.path", settings.path, rule),
      networkAdvice: "use a local disk"
    }
    const root = yield* prepareRoot(settings.path, rules, Effect.succeed)
    const maxFileBytes = Math.min(largestFileBytes, Math.floor(settings.maxBytes / filesOfFull))
    return service(yield* openJournal(join(root, prefix, spoolName), maxFileBytes), settings)
  }
)

/** Whether the directory holds the files of a journal. Nothing is created to find out. */
const holdsJournal = Effect.fnUntraced(function*(path: string): Effect.fn.Return<boolean, ConfigError> {
  const disk = yield* DiskFile
  return yield* disk.list(path).pipe(
    Effect.map((entries) => entries.some(({ name }) => fileNumberOf(name) !== undefined)),
    Effect.catchIf(isAbsent, () => Effect.succeed(false)),
    Effect.mapError((error) =>
      configError("spool.path", path, `holds spooled records, and can't be used: ${error.message}`)
    )
  )
})

/** A spool that nothing more is kept in. */
const openLeft = Effect.fnUntraced(
  function*(path: string): Effect.fn.Return<SpoolService | undefined, SpoolOpenError, Scope.Scope> {
    // Whatever else the name in the manifest stands for on this machine is not ours to open.
    if (basename(path) !== spoolName || !(yield* holdsJournal(path))) return undefined
    return service(yield* openJournal(path, largestFileBytes), { maxBytes: 0, afterMillis: 0 })
  }
)

/** The spools of logs that have none configured any more: only what an earlier configuration has left is opened. */
export const left: SpoolSource = {
  path: undefined,
  open: () => Effect.die(new Error("no spool is configured")),
  openLeft
}

/**
 * Spools below the directory, for any number of logs. Opening one fails `ConfigError` for options that break a rule and for
 * a directory that can't be made or used or is on a network file system, `DirectoryLocked` at once when somebody has the
 * log's spool open, `SyncFailed` and `StoreUnavailable` for a disk that does not take what opening has to write.
 */
export const make = (options: SpoolDirectoryOptions): SpoolSource => ({
  path: options.path,
  open: (prefix) => open(options, prefix),
  openLeft
})

/** Gives the logs that are opened below it a spool each. */
export const layer = (options: SpoolDirectoryOptions): Layer.Layer<never> => Layer.succeed(Spool, make(options))
