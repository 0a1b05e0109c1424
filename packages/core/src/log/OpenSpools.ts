/**
 * The spools of a log that opens: its own, and those that earlier writers may have left on this machine.
 */
import { Effect } from "effect"
import type { Manifest } from "../format/ManifestCodec.ts"
import { manifestKey } from "../format/ObjectKey.ts"
import { readManifest } from "../manifest/ManifestStore.ts"
import type { SpoolService, SpoolSource } from "../store/Spool.ts"
import type { WalOptions } from "../WalOptions.ts"
import { sendSpooled, type SpoolContext, type StepLimit } from "./SpoolRecovery.ts"

export interface OpenedSpools {
  /** `undefined`: none is configured. */
  readonly own: SpoolService | undefined
  /** What an earlier configuration has left. */
  readonly left: ReadonlyArray<SpoolService>
  /** Ids of those among `left` that hold nothing: nobody has to look for them any more. */
  readonly emptied: ReadonlyArray<string>
}

type KnownSpool = NonNullable<Manifest["spool"]>

const warn = (options: WalOptions, text: string) => Effect.logWarning(`log ${options.streamId}: ${text}`)

/** What a writer had under this path. On the machine of another one nothing that is in the way there is in ours. */
const openOne = (source: SpoolSource, options: WalOptions, known: KnownSpool) =>
  known.host === options.host
    ? source.openLeft(known.path)
    : source.openLeft(known.path).pipe(
      Effect.catch((error) =>
        Effect.as(warn(options, `the spool of ${known.host} could not be looked for: ${error.message}`), undefined)
      )
    )

const openLeft = Effect.fnUntraced(
  function*(source: SpoolSource, options: WalOptions, own: SpoolService | undefined, manifest: Manifest | undefined) {
    const last = manifest?.spool
    const left: Array<SpoolService> = []
    const seen = new Set(own === undefined ? [] : [own.path])
    for (const known of [...manifest?.spools_left ?? [], ...last === undefined ? [] : [last]]) {
      // By its id too: the directory may have moved, and is the same one all the same.
      if (known.id === own?.id || seen.has(known.path)) continue
      seen.add(known.path)
      const spool = yield* openOne(source, options, known)
      if (spool !== undefined) left.push(spool)
      else if (known === last) {
        yield* warn(options, `its last writer, on ${known.host}, had a spool in ${known.path}, which is not here`)
      }
    }
    return left
  }
)

/**
 * Opens the spools of this log, and sends what they hold of the live epoch, before the log is taken over; of the others it
 * is made sure that their end is known. Fails as `SpoolSource` and `sendSpooled` do.
 */
export const openSpools = Effect.fnUntraced(
  function*(source: SpoolSource, options: WalOptions, context: SpoolContext, limit: StepLimit) {
    const own = source.path === undefined ? undefined : yield* source.open(context.prefix)
    const held = yield* limit(readManifest({
      key: manifestKey(context.prefix),
      streamId: options.streamId,
      backoff: context.backoff,
      readAttempts: context.attempts
    }))
    const left = yield* openLeft(source, options, own, held?.manifest)
    const emptied: Array<string> = []
    for (const spool of left) {
      const holds = yield* sendSpooled(context, spool, held?.manifest, limit)
      if (holds) yield* warn(options, `the spool that was configured before, ${spool.path}, is emptied`)
      else emptied.push(spool.id)
    }
    if (own !== undefined) yield* sendSpooled(context, own, held?.manifest, limit)
    return { own, left, emptied } satisfies OpenedSpools
  }
)
