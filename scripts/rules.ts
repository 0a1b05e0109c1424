/**
 * The rules of the protocol, each with the source edit that takes it out. `rule-mutations.ts` shows that the tests notice.
 * An edit names text that stands exactly once in its file, so that this list cannot drift from the code in silence.
 */

export interface Edit {
  /** From `packages/core/src`. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface Rule {
  readonly name: string
  readonly edits: ReadonlyArray<Edit>
}

const rule = (name: string, ...edits: ReadonlyArray<readonly [file: string, find: string, replace: string]>): Rule => ({
  name,
  edits: edits.map(([file, find, replace]) => ({ file, find, replace }))
})

export const rules: ReadonlyArray<Rule> = [
  rule("the claim raises the epoch", [
    "manifest/Manifest.ts",
    "epoch: current.epoch + 1,",
    "epoch: Math.max(1, current.epoch),"
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
    "return { checkpoint: this.ledger.durable, trim,",
    "this.collector.trimmed(trim)\n    return { checkpoint: this.ledger.durable, trim,"
  ]),
  rule("nothing is trimmed above the lowest cursor", [
    "retain/TrimPolicy.ts",
    "lowestMark(situation.cursors)",
    "Math.max(...Object.values(situation.cursors.marks))"
  ]),
  rule("no slot is sent more than one window ahead", [
    "write/SlotLedger.ts",
    "return this.head.slot < this.durablePoint.slot + this.settings.window",
    "return this.head.slot >= 0"
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
