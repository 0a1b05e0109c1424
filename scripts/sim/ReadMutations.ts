/** Mutations of readers, and of the spool with its journal. */
import { mutation, without } from "./Mutation.ts"

const readers = [
  mutation("a reader leaves a segment out", [
    "read/LogView.ts",
    "for (let slot = epoch === start.epoch ? start.slot : 0; slot < end; slot++) yield { epoch, slot }",
    "for (let slot = epoch === start.epoch ? start.slot : 0; slot < end; slot++) if (slot !== 2) yield { epoch, slot }"
  ], [
    "read/SegmentReader.ts",
    "  if (header.firstSeq > due) return new SequenceGap({ key: fetched.key, from: due, to: header.firstSeq - 1 })\n",
    ""
  ], [
    "read/SegmentReader.ts",
    "return header.chain === position.before.chain",
    "return header.chain.length > 0"
  ]),
  mutation("a reader shows what comes before the number asked for", [
    "read/RecordStream.ts",
    "const records = yield* recordsOf(key, segment, fromSeq)",
    "const records = yield* recordsOf(key, segment, fromSeq - 1)"
  ]),
  mutation("a replay starts at the mark", [
    "log/LogReading.ts",
    "const fromSeq = mark + 1\n",
    "const fromSeq = Math.max(1, mark)\n"
  ]),
  mutation("a replay starts after what comes after the mark", [
    "log/LogReading.ts",
    "const fromSeq = mark + 1\n",
    "const fromSeq = mark + 2\n"
  ]),
  mutation("segments are delivered in the order in which they come", [
    "read/SegmentReader.ts",
    "{ concurrency: view.prefetch }",
    "{ concurrency: view.prefetch, unordered: true }"
  ]),
  mutation("a reader fetches without a bound", [
    "read/SegmentReader.ts",
    "{ concurrency: view.prefetch }",
    "{ concurrency: \"unbounded\" }"
  ]),
  mutation("the tail in memory has no bound", [
    "read/TailBuffer.ts",
    "while (this.bytes > this.limitBytes) {",
    "while (this.bytes < 0) {"
  ]),
  mutation("the tail in memory answers with the segment after the right one", [
    "read/TailBuffer.ts",
    "if (segment !== undefined && lastSeq(segment) < seq) low",
    "if (segment !== undefined && lastSeq(segment) <= seq) low"
  ]),
  mutation("the tail in memory has a hole where a segment came back from the spool", [
    "write/DurableWatermark.ts",
    "if (body === undefined) tail.clear()\n    else tail.push",
    "if (body !== undefined) tail.push"
  ]),
  mutation("a live reader is not told of what is durable", [
    "write/DurableWatermark.ts",
    "    this.changed = Latch.makeUnsafe(false)\n    Latch.openUnsafe(changed)\n",
    "    this.changed = changed\n"
  ]),
  mutation("a live reader is not told that the log is over", [
    "write/DurableWatermark.ts",
    "    parts.fate.onEnd(() => Latch.openUnsafe(this.changed))\n",
    ""
  ]),
  mutation("a live reader goes on one segment too late", [
    "read/RecordStream.ts",
    "nextSeq = Math.max(nextSeq, batch.nextSeq)\n",
    "nextSeq = Math.max(nextSeq, batch.nextSeq + (caughtUp ? 1 : 0))\n"
  ]),
  mutation("a live reader starts each stretch one record early", [
    "read/RecordStream.ts",
    "nextSeq = Math.max(nextSeq, batch.nextSeq)\n",
    "nextSeq = Math.max(nextSeq, batch.nextSeq - 1)\n"
  ]),
  mutation("a reader on another node goes on over a gap", [
    "epoch/ObserveEpoch.ts",
    "orderSlots(listed, from.slot)",
    "orderSlots(listed, from.slot).map((one, at) => ({ ...one, slot: from.slot + at }))"
  ]),
  mutation("a reader on another node does not see end markers", [
    "epoch/ObserveEpoch.ts",
    "orderSlots(listed, from.slot)",
    "orderSlots(listed, from.slot).map((one) => ({ ...one, sizeBytes: 2_000 }))"
  ]),
  mutation("a reader goes on above the end of an epoch", [
    "read/EpochMap.ts",
    "({ epoch: end.epoch, end: end.slot }))",
    "({ epoch: end.epoch, end: end.slot + 1 }))"
  ])
]

const spool = [
  without("the spool holds every slot from the first that is not durable"),
  without("a segment is spooled only once the write is done"),
  without("nothing is dropped from the spool that is not durable"),
  without("what is appended again stays in the spool until its copy is durable"),
  without("a copy in the spool is not appended again beside its original"),
  without("what an earlier start has appended again is not appended once more"),
  without("headers carry what was appended again"),
  without("a spooled call that was repeated elsewhere is not appended twice"),
  without("an append to the journal is answered after its sync"),
  without("the name of a new file of the journal is durable before anything in it"),
  without("a new file of the journal is synced before it gets its name"),
  without("what may be in the page cache only is copied at opening"),
  mutation("a spooled slot that the store refuses is skipped", [
    "log/SpoolRecovery.ts",
    "    yield* pauseBeforeRetry(context.backoff, attempt, error.retryAfterMillis)\n",
    "    if (attempt >= 0) return \"stored\"\n" +
    "    yield* pauseBeforeRetry(context.backoff, attempt, error.retryAfterMillis)\n"
  ]),
  mutation("a spooled slot of an ended epoch counts as sent", [
    "log/SpoolRecovery.ts",
    "if (results.includes(\"ended\")) return",
    "if (results.includes(\"ended\") && sent < 0) return"
  ], [
    "log/SpoolRecovery.ts",
    "let due = epoch === mark.epoch ? Math.max(end, mark.slot + 1) : end\n",
    "let due = (epoch === mark.epoch ? Math.max(end, mark.slot + 1) : end) + 1\n"
  ]),
  mutation("what ended epochs could not store is not appended again", [
    "log/SpoolRecovery.ts",
    "const epochs = yield* epochsInAll(spools)",
    "const epochs = (yield* epochsInAll(spools)).filter(({ first }) => first.epoch > opened.epoch)"
  ]),
  mutation("the spool is emptied once its slots are sent", [
    "log/SpoolRecovery.ts",
    "  const sent = yield* sendEpoch(context, spool, manifest, perStep)\n",
    "  const sent = yield* sendEpoch(context, spool, manifest, perStep)\n" +
    "  yield* Effect.ignore(spool.dropThrough(live.epoch, live.slot + 1_000_000))\n"
  ]),
  mutation("the spool has no bound", [
    "write/Spooler.ts",
    "spool.usedBytes() + bytes + size <= spool.maxBytes",
    "spool.usedBytes() + bytes + size <= spool.maxBytes * 1_000"
  ])
]

export const readMutations = [...readers, ...spool]
