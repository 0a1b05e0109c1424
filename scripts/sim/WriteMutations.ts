/** Mutations of accepting, storing and acknowledging: each answer given too early, each retry left out, each bound removed. */
import { mutation, without } from "./Mutation.ts"

const acks = [
  without("slots become durable in order"),
  without("a taken key is looked at"),
  mutation("durable is said when a record is accepted", [
    "log/LogService.ts",
    "durable: demanded(awaitDurable(engine, ticket))",
    "durable: Effect.void"
  ]),
  mutation("spooled counts as durable", [
    "log/AwaitTicket.ts",
    "settled === \"durable\" || ticket.spooledSeq === undefined",
    "settled !== undefined"
  ]),
  mutation("accepted counts as spooled", [
    "log/LogService.ts",
    "spooled: demanded(Effect.asVoid(awaitTicket(engine, ticket)))",
    "spooled: Effect.void"
  ]),
  mutation("flush does not wait", [
    "log/LogService.ts",
    "if (ticket !== undefined) yield* awaitDurable(engine, ticket)",
    "if (ticket !== undefined) yield* Effect.yieldNow"
  ]),
  mutation("closing does not drain", [
    "log/CloseLog.ts",
    "const drained = last === undefined ? Effect.void : Effect.exit(settled(engine, last))",
    "const drained = last === undefined ? Effect.void : Effect.yieldNow"
  ]),
  mutation("a PUT that timed out counts as stored", [
    "write/PutWorker.ts",
    "if (Result.isSuccess(answer)) return true\n      const error = answer.failure\n      // What",
    "if (Result.isSuccess(answer) || answer.failure.reason === \"TimedOut\") return true\n" +
    "      const error = answer.failure\n      // What"
  ]),
  mutation("readers see what is not durable", [
    "log/WriterView.ts",
    "durable: () => engine.ledger.durable,",
    "durable: () => engine.ledger.last,"
  ], [
    "log/LogEngine.ts",
    "opened.epoch, () => this.ledger.durable.slot)",
    "opened.epoch, () => this.ledger.last.slot)"
  ])
]

const retries = [
  mutation("a PUT that failed skips its segment", [
    "write/PutWorker.ts",
    "yield* this.parts.onRetry(stamped.key, error)\n      }\n",
    "yield* this.parts.onRetry(stamped.key, error)\n        return false\n      }\n"
  ]),
  mutation("a PUT that failed is logged and counts as done", [
    "write/PutWorker.ts",
    "yield* this.parts.onRetry(stamped.key, error)\n      }\n",
    "yield* this.parts.onRetry(stamped.key, error)\n        return true\n      }\n"
  ]),
  mutation("a look that failed counts as stored", [
    "write/PutWorker.ts",
    "      yield* this.parts.onRetry(stamped.key, read.failure)\n",
    "      yield* this.parts.onRetry(stamped.key, read.failure)\n      return true\n"
  ]),
  mutation("a PUT is repeated under the next slot", [
    "write/PutWorker.ts",
    "this.puts.send(stamped, packed)",
    "this.puts.send(attempt === 0 ? stamped : { ...stamped, key: stamped.key.replace(/\\d{12}/, (slot) =>\n" +
    "        String(Number(slot) + 1).padStart(12, \"0\")) }, packed)"
  ]),
  mutation("a PUT is repeated with other bytes", [
    "write/PutWorker.ts",
    "      const answer = yield* this.puts.send(stamped, packed)\n",
    "      const object = attempt === 0 || stamped.body === undefined ? packed.object : (yield* packSegment({\n" +
    "        ...stamped,\n" +
    "        header: { ...stamped.header, watermarkSlot: this.parts.ledger.durable.slot }\n" +
    "      }, this.parts.pack)).object\n" +
    "      const crc32 = this.parts.pack.digest.crc32(object)\n" +
    "      const answer = yield* this.puts.send(stamped, { ...packed, object, crc32 })\n"
  ]),
  mutation("a hedge answer counted twice", [
    "write/PutWorker.ts",
    "      this.parts.queue.wake()\n      this.parts.onProgress()\n    }\n",
    "      const next = this.parts.ledger.at(slot + 1)\n" +
    "      if (this.parts.stats.hedges > 0 && next !== undefined) {\n" +
    "        this.parts.stats.hedges = 0\n" +
    "        yield* this.parts.onStored({ stamped: next, storedBytes: 0, objectBytes: 0, millis })\n" +
    "      }\n" +
    "      this.parts.queue.wake()\n      this.parts.onProgress()\n    }\n"
  ]),
  mutation("bytes change while they are sent", [
    "write/SlotLedger.ts",
    "    this.durablePoint = this.head\n  }\n",
    "    this.durablePoint = this.head\n  }\n\n  private readonly reused = new Uint8Array(1_000_000)\n"
  ], [
    "write/SlotLedger.ts",
    "const body = placeColumns(columns)\n",
    "const { bytes } = placeColumns(columns)\n    const room = 2_000\n    this.reused.set(bytes, room)\n" +
    "    const body = { bytes: this.reused.subarray(room, room + bytes.length), room }\n"
  ]),
  mutation("a buffer is reused while an attempt can read it", [
    "write/HedgedPut.ts",
    "      stats.hedges++\n      onSecond()\n",
    "      stats.hedges++\n"
  ], [
    "write/PutWorker.ts",
    "      packed.memory?.keep()\n      if (afterPut",
    "      if (afterPut"
  ]),
  mutation("a packed object is given back before it is stored", [
    "write/PutWorker.ts",
    "    const stored = yield* this.store(stamped, packed)\n",
    "    if (packed.memory !== stamped.memory) packed.memory?.release()\n" +
    "    const stored = yield* this.store(stamped, packed)\n"
  ]),
  mutation("a buffer is reused while a reader has records in it", [
    "read/TailBuffer.ts",
    "    found?.memory?.keep()\n",
    ""
  ])
]

const bounds = [
  without("no slot is sent more than one window ahead"),
  mutation("buffered bytes have no bound", [
    "write/BufferRoom.ts",
    "const fits = this.used === 0 || this.used + bytes <= this.limitBytes",
    "const fits = bytes >= 0"
  ]),

  mutation("the queue has no bound", [
    "write/SegmentQueue.ts",
    "return this.items.length < this.capacity",
    "return this.items.length >= 0"
  ]),
  mutation("closing has no time limit", [
    "log/CloseLog.ts",
    "Effect.timeoutOption(effect, Duration.millis(Math.max(0, endsAt - reserveMillis - now)))",
    "Effect.timeoutOption(effect, Duration.millis(endsAt + reserveMillis + now + 1e9))"
  ]),
  mutation("a segment has no most entries", [
    "write/SegmentLimits.ts",
    "return total > limits.maxEntries || fill",
    "return fill"
  ], [
    "write/Segmenter.ts",
    "const full = open.columns.count >= this.settings.maxEntries || open",
    "const full = open"
  ], [
    "write/SealPolicy.ts",
    "  if (open.entries >= settings.maxEntries) return { _tag: \"Seal\", reason: \"entries\" }\n",
    ""
  ])
]

const accepting = [
  mutation("records are not copied", [
    "format/OpenColumns.ts",
    "    this.buffer.set(payload, this.headBytes + this.payloadBytes)\n",
    "    this.sources.push(payload)\n"
  ], [
    "format/OpenColumns.ts",
    "  readonly lengths: Array<number> = []\n",
    "  readonly lengths: Array<number> = []\n  readonly sources: Array<Uint8Array> = []\n"
  ], [
    "format/SegmentBody.ts",
    "writeCalls(target, view, offset, columns.calls)\n  return placed\n",
    "writeCalls(target, view, offset, columns.calls)\n  let at = size\n" +
    "  for (const source of columns.sources) {\n    target.set(source, at)\n    at += source.length\n  }\n" +
    "  return placed\n"
  ]),
  mutation("the last record of a call is left out", [
    "write/Segmenter.ts",
    "    this.admit(measured, 0, beyondQueue)\n",
    "    this.admit({ ...measured, records: measured.records.slice(0, -1) }, 0, beyondQueue)\n"
  ]),
  mutation("who waits for room does not wait in line", [
    "write/WaitingLine.ts",
    "() => this.turn.withPermits(1)(step)",
    "() => step"
  ]),
  mutation("a number is given twice after the queue was full", [
    "write/Segmenter.ts",
    "      first ??= this.last + 1\n",
    "      first = this.last + 1\n"
  ]),
  without("a repeat is answered, not appended"),
  without("calls in segments after the checkpoint are known to the next writer"),
  without("a call of a producer is in one segment"),
  without("the manifest holds no call above its checkpoint"),
  mutation("a repeat is answered as durable at once", [
    "write/ProducerTable.ts",
    "return Effect.succeed({ first, last, epoch, ticket, isRepeat: true })",
    "return Effect.succeed({ first, last, epoch, ticket: undefined, isRepeat: ticket !== null })"
  ])
]

const liveness = [
  mutation("workers are not told of a sealed segment", [
    "write/Segmenter.ts",
    "      this.parts.queue.wake()\n",
    ""
  ]),
  mutation("who waits for room is not told that there is some", [
    "write/Segmenter.ts",
    "    this.events.wake()\n    this.room.wake()\n",
    "    this.events.wake()\n"
  ]),
  mutation("a wake-up that comes before the wait is lost", [
    "write/Signal.ts",
    "return Effect.andThen(this.latch.await, Effect.sync(() => Latch.closeUnsafe(this.latch)))",
    "return Effect.andThen(Effect.sync(() => Latch.closeUnsafe(this.latch)), this.latch.await)"
  ]),
  mutation("of several segments that are durable at once only the last is told", [
    "write/DurableWatermark.ts",
    "      Deferred.doneUnsafe(segment.ticket.settled, durable)\n",
    "      if (this.untold.length === 0) Deferred.doneUnsafe(segment.ticket.settled, durable)\n"
  ]),
  mutation("who waits is not told that the log is over", [
    "log/LogEngine.ts",
    "this.fate.onEnd((error) => this.failOutstanding(error))",
    "this.fate.onEnd(() => undefined)"
  ]),
  mutation("linger ignores the fence", [
    "log/LogEngine.ts",
    "...(abandoned === undefined ? [] : [abandoned])",
    "...(abandoned === undefined ? [] : [])"
  ]),
  mutation("closing waits for the budget", [
    "write/SealPolicy.ts",
    "if (situation.flush !== \"none\") return { _tag: \"Seal\", reason: situation.flush }",
    "if (situation.flush !== \"none\" && situation.withinBudgetAt <= situation.nowMillis) " +
    "return { _tag: \"Seal\", reason: situation.flush }"
  ]),
  mutation("who waits for the manifest is not told that the log is over", [
    "manifest/ManifestCoordinator.ts",
    "    parts.fate.onEnd((error) => this.answer([...this.waiters], Exit.fail(error)))\n",
    ""
  ]),
  mutation("who waits for an append is ignored", [
    "write/SealPolicy.ts",
    "situation.roomWanted || situation.demanded && settings.sync === \"group_commit\"",
    "situation.roomWanted"
  ]),
  mutation("an idle log writes its manifest again and again", [
    "manifest/ManifestCoordinator.ts",
    "    this.pendingSegments -= segments\n",
    ""
  ])
]

export const writeMutations = [...acks, ...retries, ...bounds, ...accepting, ...liveness]
