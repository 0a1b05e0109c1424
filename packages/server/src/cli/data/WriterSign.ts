/**
 * What a store tells about a log before a command opens it for writing: whether it is there, and who writes to it.
 *
 * Of its writer it tells little: a writer holds no lease, and closing leaves nothing behind. So a log that was ever opened
 * for writing may have a writer now: one that runs, one that was stopped and one that crashed look the same. Only of a
 * command of this program, started in this place, can be told that it has ended: its process is gone. A local log is another
 * matter: its lock ends with its holder.
 */
import { decodeManifest } from "@effect-wal/core/format/ManifestCodec"
import { manifestKey, segmentsPrefix } from "@effect-wal/core/format/ObjectKey"
import { logPrefix } from "@effect-wal/core/LogId"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { retryWhilePassing, toStoreError } from "@effect-wal/core/store/StoreRetry"
import { ManifestMissing } from "@effect-wal/core/WalError"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { DateTime, Effect } from "effect"
import { createHash } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { CommandFailed } from "../Failure.ts"

/** Tries of one request while the store's answers may pass. */
const attempts = 8

const contentOf = (read: () => string): string => {
  try {
    return read()
  } catch {
    // Not Linux: the host's name has to do.
    return ""
  }
}

/** Where process ids mean what they mean here: this boot of this machine, in this container. */
const processPlace = Effect.sync(() => {
  const boot = contentOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())
  const space = contentOf(() => readlinkSync("/proc/self/ns/pid"))
  return createHash("sha256").update(`${hostname()} ${boot} ${space}`).digest("hex").slice(0, 8)
})

const commandForm = /^.* \(effect-wal [a-z ]+, process (\d+) of ([0-9a-f]{8})\)$/

/** The name under which a command opens a log: whoever is fenced by it reads it, and the next command knows it. */
export const commandHost = (command: string): Effect.Effect<string> =>
  Effect.map(processPlace, (place) => `${hostname()} (effect-wal ${command}, process ${process.pid} of ${place})`)

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH")
  }
}

/** Whether the name is that of a command in this place whose process is gone. */
const isEndedCommand = (host: string): Effect.Effect<boolean> =>
  Effect.map(processPlace, (here) => {
    const [, pid, place] = commandForm.exec(host) ?? []
    return pid !== undefined && place === here && !isRunning(Number(pid))
  })

/** The first object below the prefix. */
const firstBelow = (store: ObjectStore["Service"], prefix: string, { retry }: WalOptions) =>
  retryWhilePassing(store.list({ prefix, limit: 1 }), { backoff: retry, attempts }).pipe(
    Effect.mapBoth({ onFailure: toStoreError, onSuccess: ({ objects }) => objects[0] })
  )

/**
 * A path or a prefix that was mistyped must not become an empty log: fails `ManifestMissing` where there is none. Segments
 * without a manifest are damage, which opening the log tells.
 */
export const refuseAbsentLog = Effect.fnUntraced(function*(store: ObjectStore["Service"], options: WalOptions) {
  const prefix = logPrefix(options)
  const key = manifestKey(prefix)
  for (const start of [key, segmentsPrefix(prefix)]) {
    if ((yield* firstBelow(store, start, options)) !== undefined) return
  }
  return yield* new ManifestMissing({ key, found: "no log here" })
})

/** Who may be writing to the log. */
export interface WriterSign {
  readonly host: string
  readonly epoch: number
  /** When the manifest was last written, by the store's clock, epoch milliseconds; a writer may be idle for long. */
  readonly lastSeenMillis?: number
}

/**
 * The writer that may be there; `undefined` where there is none: no log yet, nobody has opened it, or the last one was a
 * command of this place that has ended. Writes nothing.
 */
export const lookForWriter = Effect.fnUntraced(function*(store: ObjectStore["Service"], options: WalOptions) {
  const key = manifestKey(logPrefix(options))
  const stored = yield* retryWhilePassing(store.get(key), { backoff: options.retry, attempts }).pipe(
    Effect.catchIf((error) => error.reason === "NotFound", () => Effect.undefined),
    Effect.mapError(toStoreError)
  )
  if (stored === undefined) return undefined
  const { epoch, host, live } = yield* decodeManifest(key, stored.body)
  // A claim that came to nothing has no segments, and somebody may be on the way to them.
  if (live === 0 && epoch === 0 || (yield* isEndedCommand(host))) return undefined
  const lastSeenMillis = (yield* firstBelow(store, key, options))?.modifiedMillis
  return { host, epoch, ...lastSeenMillis === undefined ? {} : { lastSeenMillis } } satisfies WriterSign as WriterSign
})

const lastSeen = ({ lastSeenMillis }: WriterSign): string =>
  lastSeenMillis === undefined
    ? ""
    : `; its manifest was last written at ${DateTime.formatIso(DateTime.makeUnsafe(lastSeenMillis))}`

/** The refusal of a change to a log that may have a writer. */
export const writerMayRun = (streamId: string, sign: WriterSign): CommandFailed =>
  new CommandFailed({
    code: "writer_may_run",
    message:
      `stream ${streamId} may have a live writer: ${sign.host} opened it (epoch ${sign.epoch})${lastSeen(sign)}; ` +
      "nothing was changed",
    next:
      "If that writer runs, work through its server with `--url`. If it was stopped or has crashed, which looks the " +
      "same in the store, add `--take-over`: a writer that still runs is fenced by that, and ends.",
    exit: "refused",
    details: {
      host: sign.host,
      epoch: sign.epoch,
      ...sign.lastSeenMillis === undefined ? {} : { manifest_written_at: sign.lastSeenMillis }
    }
  })
