/** One writer process of the `takeovers` run: opens the shared log when told to, appends under load until it is fenced. */
import { Effect, Fiber, ManagedRuntime, Result } from "effect"
import { Wal, type WalService } from "../../packages/core/src/Wal.ts"
import * as S3ObjectStore from "../../packages/s3/src/S3ObjectStore.ts"
import { realS3 } from "../../packages/testing/src/RealS3.ts"
import { nowMillis } from "./Run.ts"
import { identity, recordOf, type WriterCommand, type WriterReport, type WriterSetup } from "./TakeoverTalk.ts"

const setup: WriterSetup = JSON.parse(process.argv[2] ?? "{}")
const s3 = realS3(process.env)
if (s3 === undefined) throw new Error("no S3 server in the environment")

const report = (message: WriterReport): void => {
  process.send?.(message)
}

let nextOrdinal = 0
let notDurable = 0

/** Appends and waits for durability until the log is over. Several run at once. */
const appender = (log: WalService) =>
  Effect.gen(function*() {
    for (;;) {
      const ordinal = nextOrdinal
      nextOrdinal += setup.batch
      const records = Array.from({ length: setup.batch }, (_, index) => ({
        payload: Buffer.from(recordOf(setup.name, ordinal + index))
      }))
      const { durable, first } = yield* log.append(records)
      notDurable += setup.batch
      yield* durable
      notDurable -= setup.batch
      report({ _tag: "Durable", first, ordinal, count: setup.batch })
    }
  })

/** The error of a call that must fail now. */
const errorOf = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>): Effect.Effect<string> =>
  Effect.result(call).pipe(
    Effect.map((answer) => Result.isFailure(answer) ? answer.failure._tag : "it succeeded"),
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.succeed("it hangs") })
  )

const write = Effect.gen(function*() {
  const startedAt = nowMillis()
  notDurable = 0
  const log = yield* Wal.make({
    ...identity,
    prefix: setup.prefix,
    host: setup.name,
    preset: "low_latency",
    parallelPut: { workers: 2, pipelineDepth: 2 },
    compression: { type: setup.codec },
    retention: { policy: "keep" }
  })
  const { durable, epoch } = yield* log.status
  report({ _tag: "Opened", epoch, durable, millis: nowMillis() - startedAt })
  const appenders = Array.from({ length: setup.appenders }, () => Effect.result(appender(log)))
  yield* Effect.all(appenders, { concurrency: "unbounded", discard: true })
  const ended = yield* log.ended
  const records = [{ payload: Buffer.from("a record that nobody may ever read") }]
  const laterErrors = yield* Effect.all([
    errorOf(log.append(records)),
    errorOf(log.appendNow(records)),
    errorOf(log.flush),
    errorOf(log.commit(1))
  ])
  const { state } = yield* log.status
  report({ _tag: "Ended", error: ended._tag, state, laterErrors, unknown: notDurable })
}).pipe(
  Effect.scoped,
  Effect.catch((error) => Effect.sync(() => report({ _tag: "OpenFailed", error: error._tag, message: error.message })))
)

const runtime = ManagedRuntime.make(S3ObjectStore.layer(s3))
let current: Fiber.Fiber<void, unknown> | undefined

/** Ends in order: what is open is closed by its scope. */
const stop = async (): Promise<void> => {
  if (current !== undefined) await Effect.runPromise(Fiber.interrupt(current))
  await runtime.dispose()
  process.disconnect()
}

process.on("message", (command: WriterCommand) => {
  if (command._tag === "Open") current = runtime.runFork(write)
  else void stop()
})
report({ _tag: "Loaded" })
