/** A log of ten segments of ten records that is harmed behind its back, and what readers say about it. */
import { Effect, Stream } from "effect"
import type { ReadError } from "../../src/WalError.ts"
import { drive, encode, key, open, type Options, reopen, seqs, still, storeSegments, type TestLog } from "./LogWorld.ts"

export const tens: Options = { ...still, segment: { maxEntries: 10 } }

/** Ten segments of ten records, opened again; `harm` comes after opening, so that only readers meet it. */
export const harmed = Effect.fnUntraced(function*(harm: (log: TestLog) => void, commit = 0, options: Options = tens) {
  const writer = yield* open(options)
  yield* storeSegments(writer.wal, 10, 10)
  yield* writer.wal.commit(commit)
  yield* writer.wal.close
  const log = yield* reopen(writer, options)
  harm(log)
  return log
})

export const failing = (
  log: TestLog
): Effect.Effect<{ readonly error: ReadError; readonly before: ReadonlyArray<number> }> =>
  drive(Effect.gen(function*() {
    const before: Array<number> = []
    const error = yield* Effect.flip(
      Stream.runForEach(log.wal.replay({ until: "durable-end" }), (record) =>
        Effect.sync(() => {
          before.push(record.seq)
        }))
    )
    return { error, before }
  })).pipe(Effect.catch(() => Effect.die(new Error("it succeeded"))))

export const skipping = (log: TestLog) =>
  drive(Effect.map(Stream.runCollect(log.wal.replay({ until: "durable-end", onDamage: "skip" })), seqs))

export const bodyOf = (log: TestLog, slot: number) => log.memory.objects.get(key(slot))?.body ?? encode("")
