/** Mutations of the take-over, the manifest, the cursors and deletion: each rule of theirs broken. */
import { mutation, without } from "./Mutation.ts"

const takeover = [
  without("the claim raises the epoch"),
  without("no segment is sent before the activation is confirmed"),
  without("an activation is recorded once"),
  without("an end marker is created, never written over"),
  without("a recorded end is kept"),
  mutation("a marker whose answer is lost counts as put", [
    "epoch/EndLiveEpoch.ts",
    "if (Result.isSuccess(answer)) return ended\n",
    "if (Result.isSuccess(answer) || answer.failure.reason === \"TimedOut\") return ended\n"
  ]),
  mutation("a listing from before the claim counts whatever became of the manifest", [
    "epoch/Takeover.ts",
    "listed: tries === 1 ? listed : undefined",
    "listed: tries === 1 ? listed : listed"
  ]),
  mutation("no marker is put", [
    "epoch/EndLiveEpoch.ts",
    "(yield* putMarker(search, free)) === \"ended\" ? found : undefined",
    "(yield* Effect.succeed(ended)) === \"ended\" ? found : undefined"
  ]),
  mutation("a slot that was taken meanwhile is the end all the same", [
    "epoch/EndLiveEpoch.ts",
    "(yield* putMarker(search, free)) === \"ended\" ? found : undefined",
    "(yield* putMarker(search, free)) === \"ended\" ? found : found"
  ]),
  mutation("the marker of an earlier opener counts as a slot", [
    "epoch/EndLiveEpoch.ts",
    "  if (marker !== undefined) {\n",
    "  if (marker !== undefined && marker < 0) {\n"
  ]),
  mutation("the end is put above the highest slot", [
    "epoch/EndLiveEpoch.ts",
    "    const missing = firstMissing(ordered, search.from.slot)\n    const look",
    "    const missing = (ordered.at(-1)?.slot ?? search.from.slot - 1) + 1\n    const look"
  ]),
  mutation("the recorded end is one slot too low", [
    "epoch/EndLiveEpoch.ts",
    "const header = yield* lookAt(search, manifest.live, slot - 1)\n",
    "const header = yield* lookAt(search, manifest.live, Math.max(from.slot, slot - 2))\n"
  ], [
    "epoch/EndLiveEpoch.ts",
    "if (!isSegmentOf(header, place(search, slot - 1))) {",
    "if (!isSegmentOf(header, place(search, Math.max(from.slot, slot - 2)))) {"
  ]),
  mutation("only the first page of a listing is read", [
    "store/ListPages.ts",
    "if (!goesOn || listed.next === undefined) return pages",
    "if (goesOn || listed.next === undefined) return pages"
  ]),
  mutation("the epoch starts again with numbers that were given", [
    "log/Settings.ts",
    "Math.max(opened.link.seq, opened.held.manifest.trim.seq, highestMark(opened.cursors))",
    "Math.max(opened.held.manifest.trim.seq, highestMark(opened.cursors))"
  ]),
  mutation("the epoch leaves a number out", [
    "log/Settings.ts",
    "Math.max(opened.link.seq, opened.held.manifest.trim.seq, highestMark(opened.cursors))",
    "Math.max(opened.link.seq + 1, opened.held.manifest.trim.seq, highestMark(opened.cursors))"
  ]),
  mutation("the cursors in the last header are forgotten", [
    "epoch/EndLiveEpoch.ts",
    "cursors: newerCursors(cursorsOf(header) ?? cursors, cursors),",
    "cursors,"
  ]),
  mutation("the first segment follows the wrong chain", [
    "write/SlotLedger.ts",
    "chain: this.head.chain,",
    "chain: this.head.slot === 0 ? \"0\".repeat(32) : this.head.chain,"
  ])
]

const manifest = [
  without("another epoch is never merged with"),
  without("a time-out is not success"),
  mutation("a lost swap counts as won", [
    "manifest/ManifestStore.ts",
    "const error = answer.failure\n      yield* request.onConflict",
    "const error = answer.failure\n" +
    "      if (error.reason === \"PreconditionFailed\") return { manifest, tag: held.tag }\n" +
    "      yield* request.onConflict"
  ]),
  mutation("a manifest that was not written is given up", [
    "manifest/ManifestCoordinator.ts",
    "      default:\n        return this.later(error.message)\n",
    "      default:\n        return Effect.sync(() => this.answer([...this.waiters], Exit.void))\n"
  ]),
  mutation("a contended manifest counts as written", [
    "manifest/ManifestCoordinator.ts",
    "      return yield* this.later(contention.message)\n",
    "      return this.answer([...this.waiters], contention.attempts > 0 ? Exit.void : Exit.void)\n"
  ], [
    "manifest/ManifestCoordinator.ts",
    "const swapAttempts = 8",
    "const swapAttempts = 1"
  ]),
  mutation("the checkpoint is not durable", [
    "log/LogEngine.ts",
    "const checkpoint = this.ledger.durable\n",
    "const checkpoint = this.ledger.last\n"
  ]),
  mutation("the manifest forgets what it does not know", [
    "manifest/Manifest.ts",
    "checkpoint: laterBoundary(progress.checkpoint, current.checkpoint),",
    "ends: [],\n    checkpoint: laterBoundary(progress.checkpoint, current.checkpoint),"
  ]),
  mutation("a writer that lost the manifest goes on", [
    "manifest/ManifestCoordinator.ts",
    "      this.fenced = true\n      this.parts.onFenced(error)\n",
    "      this.fenced = error.epoch > 0\n"
  ])
]

const cursors = [
  without("the newer set of cursors wins"),
  mutation("a mark moves over what is not acknowledged", [
    "cursor/AckRanges.ts",
    "if (from === state.mark + 1) return { mark: to, ahead: rest }",
    "if (from > state.mark) return { mark: to, ahead: rest }"
  ]),
  mutation("a mark goes back", [
    "cursor/AckRanges.ts",
    "seq <= state.mark ? state : acknowledge",
    "seq <= state.mark ? { ...state, mark: seq } : acknowledge"
  ]),
  mutation("what is not durable can be committed", [
    "cursor/Cursors.ts",
    "if (seq > durable) return new CommitBeyondDurable",
    "if (seq > durable + 1_000) return new CommitBeyondDurable"
  ]),
  mutation("ranges that are ahead of a mark have no bound", [
    "cursor/Cursors.ts",
    "if (next.ahead.length > this.settings.maxAhead) {",
    "if (next.ahead.length > this.settings.maxAhead + 1_000) {"
  ]),
  mutation("a new cursor starts at 0", [
    "cursor/Cursors.ts",
    "const state = this.states.get(name) ?? startAt(this.trimmed())\n    this.set(",
    "const state = this.states.get(name) ?? startAt(0)\n    this.set("
  ]),

  mutation("a new cursor is answered before it is stored", [
    "log/CursorMethods.ts",
    "return isNew ? Effect.andThen(change(attempt), parts.store) : change(attempt)",
    "return change(attempt)"
  ]),
  mutation("a removal is answered before it is stored", [
    "log/CursorMethods.ts",
    "Effect.andThen(change((now) => cursors.remove(cursor, now)), parts.store)",
    "change((now) => cursors.remove(cursor, now))"
  ]),
  mutation("a mark counts as stored once a header has it", [
    "log/LogEngine.ts",
    "    this.stats.rawBytes += stored.stamped.header.rawBytes\n",
    "    this.stats.rawBytes += stored.stamped.header.rawBytes\n    this.cursors.stored(stored.stamped.cursors)\n"
  ]),
  mutation("a mark counts as stored before the manifest is", [
    "manifest/ManifestCoordinator.ts",
    "    const startedAt = yield* monotonicNow\n",
    "    const startedAt = yield* monotonicNow\n" +
    "    this.parts.cursors.stored(this.parts.progress(this.held.manifest).cursors)\n"
  ]),
  mutation("marks are never stored by time", [
    "manifest/ManifestPolicy.ts",
    "if (situation.cursorDirtySinceMillis === undefined) return undefined",
    "if (situation.cursorDirtySinceMillis !== -1) return undefined"
  ])
]

const deletion = [
  without("nothing is deleted before the manifest with the trim point is stored"),
  without("nothing is trimmed above the lowest cursor"),
  without("end markers are never deleted"),
  without("a failed delete is tried again"),
  mutation("one slot too many is deleted", [
    "retain/GarbageCollector.ts",
    "epoch === to.epoch ? to.slot : this",
    "epoch === to.epoch ? to.slot + 1 : this"
  ]),
  mutation("what lies above the trim point is swept away", [
    "retain/GarbageCollector.ts",
    "if (!below && (end === undefined || name.slot <= end)) return false",
    "if (!below && end === undefined && name.slot < 2) return false"
  ]),
  mutation("trimmed segments stay where they are", [
    "retain/GarbageCollector.ts",
    "    yield* this.removeUpTo(trim)\n",
    "    this.deleted = trim\n"
  ]),
  mutation("the trim point may lie within a segment", [
    "manifest/SparseIndex.ts",
    "return lastWhere(this.entries, (entry) => entry.seq <= seq)",
    "const found = lastWhere(this.entries, (entry) => entry.seq <= seq)\n" +
    "    return found === undefined || this.entries.at(-1) === found ? found : { ...found, seq }"
  ])
]

export const protocolMutations = [...takeover, ...manifest, ...cursors, ...deletion]
