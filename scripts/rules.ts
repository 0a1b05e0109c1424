/**
 * The rules of the protocol, each with the source edit that takes it out. `rule-mutations.ts` shows that the tests notice.
 * An edit names text that stands exactly once in its file, so that this list cannot drift from the code in silence.
 */
import type { Edit } from "./CopiedTree.ts"

export interface Rule {
  readonly name: string
  readonly edits: ReadonlyArray<Edit>
  /** The tests that are run, from `packages/core/test`; default: those of the protocol. */
  readonly tests?: ReadonlyArray<string>
}

const rule = (name: string, ...edits: ReadonlyArray<readonly [file: string, find: string, replace: string]>): Rule => ({
  name,
  edits: edits.map(([file, find, replace]) => ({ file, find, replace }))
})

/** Rules whose tests are elsewhere: of the spool, of local disks, of the calls of producers. */
const rulesOf = (tests: ReadonlyArray<string>, rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> =>
  rules.map((one) => ({ ...one, tests }))

const spoolRules = rulesOf(["spool/", "scenarios/91"], [
  rule("the spool holds every slot from the first that is not durable", [
    "write/Spooler.ts",
    "let slot = Math.max(this.written, ledger.durable.slot)",
    "let slot = ledger.last.slot"
  ]),
  rule("a segment is spooled only once the write is done", [
    "write/Spooler.ts",
    "if (Result.isSuccess(answer)) break",
    "if (Result.isSuccess(answer) || Result.isFailure(answer)) break"
  ]),
  rule("nothing is dropped from the spool that is not durable", [
    "write/Spooler.ts",
    "?? { epoch, slot: ledger.durable.slot }",
    "?? { epoch, slot: ledger.last.slot }"
  ]),
  rule("what is appended again stays in the spool until its copy is durable", [
    "log/PendingCopies.ts",
    "return this.isComplete ? this.first(spool) : { epoch: 0, slot: 0 }",
    "return undefined"
  ]),
  rule("a copy in the spool is not appended again beside its original", [
    "log/SpoolRecovery.ts",
    "if (originsOf(segment.header)?.copy === true) {",
    "if (originsOf(segment.header)?.copy === true && segment.header.count === 0) {"
  ]),
  rule("what an earlier start has appended again is not appended once more", [
    "log/SpoolRecovery.ts",
    "const mark = doneWith(opened.held.manifest, spool)",
    "const mark = { epoch: 0, slot: -1 }"
  ]),
  rule("headers carry what was appended again", [
    "write/SlotLedger.ts",
    "...(Object.keys(origins.marks).length === 0 ? [] : [encodeOrigins(origins)])",
    "...(Object.keys(origins.marks).length >= 0 ? [] : [encodeOrigins(origins)])"
  ]),
  rule("a spool of an epoch without an end is refused", [
    "log/SpoolRecovery.ts",
    "return marked ?? (yield* undecided(spool, first, `nothing",
    "return marked ?? 0 ?? (yield* undecided(spool, first, `nothing"
  ]),
  rule("a spool of another log is refused", [
    "log/SpoolRecovery.ts",
    "if (header.logId !== manifest.log_id) {",
    "if (header.logId === \"\") {"
  ]),
  rule("a spooled call that was repeated elsewhere is not appended twice", [
    "write/Segmenter.ts",
    "this.parts.producers.has(call, count, this.now())",
    "this.parts.producers.has(call, count, this.now()) && false"
  ])
])

const diskRules = rulesOf(["node/journal/", "node/PowerLoss", "node/LocalObjectStore", "node/SpoolDirectory"], [
  rule("an append to the journal is answered after its sync", [
    "node/journal/JournalWriter.ts",
    "Effect.catch(handle.syncData, (error) => this.afterFailedSync(open, error))",
    "Effect.forkDetach(Effect.delay(Effect.exit(handle.syncData), 1))"
  ]),
  rule("a file whose sync failed is given up", [
    "node/journal/JournalWriter.ts",
    "Effect.catch(handle.syncData, (error) => this.afterFailedSync(open, error))",
    "Effect.catch(handle.syncData, () => Effect.andThen(handle.syncData, Effect.void)).pipe(\n" +
    "          Effect.catch((error) => this.afterFailedSync(open, error))\n        )"
  ]),
  rule("a half-written frame is cut off when the disk is full", [
    "node/journal/JournalWriter.ts",
    "const cut = Effect.andThen(open.handle.truncate(open.file.goodBytes), open.handle.sync)",
    "const cut = open.handle.sync"
  ]),
  rule("the name of a new file of the journal is durable before anything in it", [
    "node/journal/NextFile.ts",
    "yield* Effect.mapError(place.disk.syncDirectory(place.path), (error) => syncError(error))",
    "yield* Effect.void"
  ]),
  rule("a new file of the journal is synced before it gets its name", [
    "node/journal/NextFile.ts",
    "yield* Effect.mapError(open.handle.sync, (error) => syncError(error, path))",
    "yield* Effect.void"
  ]),
  rule("what may be in the page cache only is copied at opening", [
    "node/journal/OpenJournal.ts",
    "copies: unsynced.filter((frame) => frame.offset >= tail.syncedBytes && frame.offset < tail.goodBytes),",
    "copies: unsynced.filter((frame) => frame.offset < 0),"
  ]),
  rule("a sealed object of the directory store has a durable name", [
    "node/directory/Directory.ts",
    "yield* directory.disk.syncDirectory(join(directory.root, parent))",
    "yield* Effect.void"
  ])
])

const producerRules = rulesOf(["write/Producer", "scenarios/13", "scenarios/92", "spool/Producers"], [
  rule("a repeat is answered, not appended", [
    "write/ProducerTable.ts",
    "if (newest === undefined || sequence > newest) return undefined",
    "if (newest === undefined || sequence >= 0) return undefined"
  ]),
  rule("calls in segments after the checkpoint are known to the next writer", [
    "epoch/RecoverProducers.ts",
    "if (ended === undefined || span === undefined) return stored",
    "if (ended === undefined || span !== null) return stored"
  ]),
  rule("a call of a producer is in one segment", [
    "write/Segmenter.ts",
    "if (measured.call !== undefined) return this.admitCall(measured, measured.call)",
    "if (measured.call !== undefined && records.length === 1) return this.admitCall(measured, measured.call)"
  ]),
  rule("the manifest holds no call above its checkpoint", [
    "write/DurableWatermark.ts",
    "this.parts.producers.durableThrough(this.seq)",
    "this.parts.producers.durableThrough(Number.MAX_SAFE_INTEGER)"
  ])
])

const protocolRules: ReadonlyArray<Rule> = [
  rule("the claim raises the epoch", [
    "manifest/Manifest.ts",
    "epoch: current.epoch + 1,",
    "epoch: Math.max(1, current.epoch),"
  ]),
  rule("what was listed while the manifest was claimed counts only where nobody replaced it meanwhile", [
    "epoch/Takeover.ts",
    "tries === 1 ? listed : undefined",
    "tries > 0 ? listed : undefined"
  ]),
  rule(
    "no segment is sent before the activation is confirmed",
    [
      "epoch/Takeover.ts",
      "const held = yield* swapUnlimited(accessOf(request), claimed, request, {",
      "const held = yield* unconfirmed(claimed, {"
    ],
    [
      "epoch/Takeover.ts",
      "/** Takes the log over. Interrupting",
      "const unconfirmed = (held: HeldManifest, swap: { readonly next: (current: Manifest, id: string) => Manifest }) =>\n" +
      "  Effect.succeed({ ...held, manifest: swap.next(held.manifest, held.manifest.commit_id) })\n\n" +
      "/** Takes the log over. Interrupting"
    ]
  ),
  rule("another epoch is never merged with", [
    "manifest/ManifestStore.ts",
    "if (owner !== undefined && (found.manifest.epoch",
    "if (owner !== undefined && owner.epoch < 0 && (found.manifest.epoch"
  ]),
  rule("a time-out is not success", [
    "manifest/ManifestStore.ts",
    "const error = answer.failure\n      yield* request.onConflict",
    "const error = answer.failure\n      if (error.reason === \"TimedOut\") return { manifest, tag: held.tag }\n      yield* request.onConflict"
  ]),
  rule("an earlier commit id is not this one", [
    "manifest/ManifestStore.ts",
    "if (found.manifest.commit_id === commitId) return found",
    "if (found.manifest.commit_id === commitId) return found\n" +
    "      if (found.manifest.nonce === request.owner?.nonce && found.manifest.commit_id !== held.manifest.commit_id) return found"
  ]),
  rule("an activation is recorded once", [
    "manifest/Manifest.ts",
    "current.ends.filter((end) => end.epoch !== ended?.epoch)",
    "current.ends"
  ]),
  rule("an end marker says nothing about the slots below it", [
    "write/PutWorker.ts",
    "    this.fence(error, stamped.header.slot)\n",
    "    for (let slot = 0; slot < stamped.header.slot; slot++) {\n" +
    "      Effect.runSync(this.parts.onStored({ stamped: { header: { slot } }, storedBytes: 0, objectBytes: 0, millis: 0 }))\n" +
    "    }\n    this.fence(error, stamped.header.slot)\n"
  ]),
  rule("slots become durable in order", [
    "write/SlotLedger.ts",
    "    this.confirmed.add(slot)\n",
    "    for (let below = this.durablePoint.slot; below <= slot; below++) this.confirmed.add(below)\n"
  ]),
  rule("what headers above know to be durable is a loss", [
    "epoch/EndOfEpoch.ts",
    "if (header.watermarkSlot <= left.slot) continue",
    "if (header.slot >= 0) continue"
  ]),
  rule("what a cursor has passed is a loss", [
    "epoch/EndOfEpoch.ts",
    "evidence.highestCursor > left.seq ? evidence.highestCursor : undefined",
    "undefined"
  ]),
  rule("nothing is deleted before the manifest with the trim point is stored", [
    "log/LogEngine.ts",
    "const checkpoint = this.ledger.durable\n",
    "this.collector.trimmed(trim)\n    const checkpoint = this.ledger.durable\n"
  ]),
  rule("nothing is trimmed above the lowest cursor", [
    "retain/TrimPolicy.ts",
    "lowestMark(situation.cursors)",
    "Math.max(...Object.values(situation.cursors.marks))"
  ]),
  rule("no slot is sent more than one window ahead", [
    "write/SlotLedger.ts",
    "return this.unsent < this.durablePoint.slot + this.settings.window",
    "return this.unsent >= 0"
  ]),
  rule("an end marker is created, never written over", [
    "epoch/EndLiveEpoch.ts",
    "store.create(key, body, { crc32: search.digest.crc32(body) })",
    "Effect.catch(store.create(key, body), () => Effect.flatMap(store.get(key), ({ tag }) => store.replace(key, body, tag)))"
  ]),
  rule("a recorded end is kept", ["manifest/Manifest.ts", "? before : [...before, ended]", "? before : before"]),
  rule("data at a recorded end is loud", [
    "epoch/Takeover.ts",
    "isMarkerOf(header, place) ? undefined : yield* new EndMarkerLost({ key })",
    "undefined"
  ]),
  rule("a taken key is looked at", [
    "write/PutWorker.ts",
    "const looked = yield* this.look(stamped, packed)",
    "const looked: boolean | undefined = true"
  ]),
  rule("mine has my nonce", [
    "write/PutOutcome.ts",
    "found.kind === \"segment\" && found.nonce === mine.nonce &&",
    "found.kind === \"segment\" &&"
  ]),
  rule("a busy writer meets a barrier", [
    "epoch/EndLiveEpoch.ts",
    "if (round < roundsBeforeBarrier || stopped) continue",
    "if (round > 0) continue"
  ]),
  rule("the newer set of cursors wins", [
    "format/CursorSet.ts",
    "compareRevisions(left.revision, right.revision) >= 0 ? left : right",
    "lowestMark(left) >= lowestMark(right) ? left : right"
  ]),
  rule("segments are joined by their chain", [
    "read/SegmentReader.ts",
    "return header.chain === position.before.chain",
    "return header.chain.length > 0"
  ]),
  rule("segments without a manifest are refused", [
    "epoch/Takeover.ts",
    "if (found !== undefined) {",
    "if (found === \"\") {"
  ]),
  rule("a trim point does not jump over archived epochs", [
    "manifest/Manifest.ts",
    "const open = archived || ends.some",
    "const open = archived && false || ends.some"
  ]),
  rule("end markers are never deleted", [
    "retain/GarbageCollector.ts",
    "if (object.sizeBytes <= maxMarkerBytes && isMarkerOf(",
    "if (object.sizeBytes > maxMarkerBytes && isMarkerOf("
  ], [
    "retain/GarbageCollector.ts",
    "header.success.logId === this.settings.logId && header.success.kind === \"segment\"",
    "header.success.logId === this.settings.logId"
  ]),
  rule("a failed delete is tried again", [
    "retain/GarbageCollector.ts",
    "this.again.push(...failed.map((failure) => failure.key))",
    "this.again.push(...[])"
  ])
]

export const rules: ReadonlyArray<Rule> = [...protocolRules, ...spoolRules, ...diskRules, ...producerRules]
