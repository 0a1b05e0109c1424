/**
 * Logs of other nodes below the same prefix that hold records nobody has committed: what is left when a node with an
 * identity of its own never comes back.
 */
import { Effect } from "effect"
import { lowestMark } from "./format/CursorSet.ts"
import { decodeManifest, type Manifest } from "./format/ManifestCodec.ts"
import { manifestKey } from "./format/ObjectKey.ts"
import { isId, logPrefix } from "./LogId.ts"
import { recordedTail } from "./manifest/Manifest.ts"
import { ObjectStore } from "./store/ObjectStore.ts"

/** At most so many listings: one for each log below the prefix. */
const maxListings = 200

export interface AbandonedLog {
  readonly nodeId: string
  readonly streamId: string
  /** Records above its slowest cursor, as its manifest knows: at least so many. */
  readonly uncommitted: number
}

/** Sorts after every key that the log itself writes below what is before it. */
const afterOwnKeys = "~"

/** The (node, stream) pairs below a prefix: one listing each, skipping everything that a log holds. */
const listLogs = Effect.fnUntraced(function*(prefix: string) {
  const store = yield* ObjectStore
  const root = prefix === "" ? "" : `${prefix}/`
  const found: Array<{ readonly nodeId: string; readonly streamId: string }> = []
  let startAfter: string | undefined
  for (let count = 0;; count++) {
    if (count === maxListings) {
      yield* Effect.logWarning(
        `more than ${maxListings} logs below "${prefix}": those from ${startAfter} on were not looked at`
      )
      break
    }
    const page = yield* store.list({ prefix: root, limit: 1, ...(startAfter === undefined ? {} : { startAfter }) })
    const key = page.objects[0]?.key
    // A store that ignores `startAfter` would list the same key for ever.
    if (key === undefined || startAfter !== undefined && key <= startAfter) break
    const [nodeId, streamId, ...rest] = key.slice(root.length).split("/")
    startAfter = key
    if (nodeId === undefined || streamId === undefined || rest.length === 0 || !isId(nodeId) || !isId(streamId)) {
      continue
    }
    // A foreign key can sort after the log's own ones: it names the same log once more.
    if (found.at(-1)?.nodeId === nodeId && found.at(-1)?.streamId === streamId) continue
    found.push({ nodeId, streamId })
    startAfter = `${root}${nodeId}/${streamId}/${afterOwnKeys}`
  }
  return found
})

const uncommittedOf = (manifest: Manifest): number => {
  const last = Math.max(manifest.checkpoint.seq, recordedTail(manifest).seq)
  // What age has deleted is not held any more, whoever has not committed it.
  return Math.max(0, last - Math.max(lowestMark(manifest.cursors), manifest.trim.seq))
}

/**
 * Looks for them. One listing and one GET for each log below the prefix, at most 200 of each; writes nothing. A manifest
 * that does not decode is left out: its own opening says what is wrong. Fails with the store's error.
 */
export const findAbandonedLogs = Effect.fnUntraced(
  function*(own: { readonly prefix: string; readonly nodeId: string }) {
    const store = yield* ObjectStore
    const logs = yield* listLogs(own.prefix)
    const others = logs.filter((log) => log.nodeId !== own.nodeId)
    const counted = yield* Effect.forEach(others, (log) => {
      const key = manifestKey(logPrefix({ ...log, prefix: own.prefix }))
      return store.get(key).pipe(
        Effect.flatMap((object) => decodeManifest(key, object.body)),
        Effect.map((manifest): AbandonedLog => ({ ...log, uncommitted: uncommittedOf(manifest) })),
        Effect.catchTag(
          ["ManifestCorrupt", "ManifestTooNew"],
          (error) => Effect.as(Effect.logWarning(error.message), { ...log, uncommitted: 0 })
        ),
        Effect.catchIf((error) => error.reason === "NotFound", () => Effect.succeed({ ...log, uncommitted: 0 }))
      )
    }, { concurrency: 8 })
    return counted.filter((log) => log.uncommitted > 0)
  }
)
