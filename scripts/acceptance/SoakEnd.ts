/** The end of the soak: what waits is sent, all is read, a last restart, and the judgement of everything. */
import { readNdjson } from "./ReadBack.ts"
import { nowMillis, pause } from "./Run.ts"
import { nodeId, streamId } from "./ServerProcess.ts"
import { type Contested, type Stage, takeOver } from "./SoakFaults.ts"
import type { Consumer } from "./SoakReaders.ts"
import type { Soak } from "./SoakSetup.ts"
import { drained } from "./SpoolLoad.ts"
import { s3Store } from "./Store.ts"

/** Segments that may be left in the bucket for each log: what is not committed, and late ones that are still to be found. */
const mostSegmentsLeft = 500

/** One log with all that works on it. */
export interface Work {
  readonly contested: Contested
  readonly consumer: Consumer
  readonly load: ReadonlyArray<Promise<void>>
  readonly readers: ReadonlyArray<Promise<void>>
}

/** Waits until the consumer has read all that is durable. */
const readOut = async ({ consumer, contested: { log } }: Work, withinMillis: number): Promise<void> => {
  const until = nowMillis() + withinMillis
  for (;;) {
    const durable = await log.current?.number("", "durable").catch(() => undefined)
    if (durable === consumer.readTo) return
    if (nowMillis() > until) {
      log.promise(false, `durable ${durable}, and the consumer has read to ${consumer.readTo}`)
      return
    }
    await pause(100)
  }
}

/** After a last restart: all above the cursor is there, and all that was ever read is judged. */
export const judge = async ({ consumer, contested }: Work) => {
  const { log } = contested
  log.promise(await contested.holder.stop() === 0, "the server did not end with 0 after SIGTERM")
  await contested.install(contested.begin())
  const server = contested.holder
  const durable = await server.number("", "durable")
  const cursor = await server.number("/cursors/default", "seq")
  log.promise(cursor <= consumer.committed, `the cursor stands at ${cursor}, committed was ${consumer.committed}`)
  let next = cursor + 1
  for await (const { payload, seq } of readNdjson(server, next)) {
    log.promise(seq === next, `a hole: record ${seq} where ${next} must stand`)
    log.saw(seq, payload)
    next = seq + 1
  }
  log.promise(next - 1 === durable, `durable ${durable}, read to ${next - 1}`)
  log.promise(log.seen.size === durable, `${durable} records are durable, ${log.seen.size} numbers were ever read`)
  const judged = log.ledger.judge(log.seen)
  const status = await server.json("")
  log.promise(await server.stop() === 0, "the server did not end with 0 after SIGTERM")
  return {
    sent: log.ledger.sent,
    acknowledged: log.ledger.answered,
    read: log.seen.size,
    deliveries: log.deliveries,
    aboveCursorAtEnd: durable - cursor,
    epoch: status["epoch"],
    trimmedTo: status["trimmed_to"],
    ...judged,
    answers: Object.fromEntries(log.answers),
    readProblems: Object.fromEntries(log.readProblems)
  }
}

/** Everything is calm: the spools are sent, the last records read. */
export const settle = async (soak: Soak, stage: Stage, works: ReadonlyArray<Work>): Promise<void> => {
  await drained(soak.run, soak.pair.holder, 60_000)
  // What waits in the spool of the other server comes back with it.
  await takeOver(stage, soak.pair)
  for (const work of works) {
    await drained(soak.run, work.contested.holder, 60_000)
    await readOut(work, 60_000)
    work.contested.log.reading = false
  }
  await Promise.all(works.flatMap(({ readers }) => readers))
}

/** What lies in the bucket, which deletion must have kept small. */
export const countBucket = async (soak: Soak) => {
  const store = s3Store(soak.gateway.s3)
  const { pair, steady } = soak.prefixes
  const logs = await Promise.all([pair, steady].map((prefix) => store.count(`${prefix}/${nodeId}/${streamId}`)))
  for (const [index, { segments }] of logs.entries()) {
    soak.run.promise(
      segments <= mostSegmentsLeft,
      `${segments} segments are left of ${index === 0 ? "the pair" : "the steady server"}, at most ${mostSegmentsLeft}`
    )
  }
  return { pair: logs[0], steady: logs[1] }
}
