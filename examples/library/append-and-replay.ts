/**
 * Appends to a log on S3, waits until that is durable, and handles what no run before has handled.
 *
 * The store is named by S3_BUCKET and, other than AWS, by S3_ENDPOINT; region and credentials come from the AWS SDK's own
 * chain, as from AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
 */
import { Wal } from "@effect-wal/core/Wal"
import type { WalRecord } from "@effect-wal/core/WalRecord"
import { S3ObjectStore } from "@effect-wal/s3"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer, Option, Stream } from "effect"

const StoreLive = Layer.unwrap(Effect.gen(function*() {
  const bucket = yield* Config.NonEmptyString("S3_BUCKET")
  const endpoint = yield* Config.option(Config.NonEmptyString("S3_ENDPOINT"))
  return S3ObjectStore.layer({
    bucket,
    ...Option.match(endpoint, { onNone: () => ({}), onSome: (endpoint) => ({ endpoint }) })
  })
}))

const OrdersLive = Wal.layer({ prefix: "examples", nodeId: "node-0", streamId: "append-and-replay" }).pipe(
  Layer.provide(StoreLive)
)

const handle = ({ payload, seq }: WalRecord) => Console.log(`record ${seq}: ${new TextDecoder().decode(payload)}`)

const program = Effect.gen(function*() {
  const wal = yield* Wal
  const records = ["first", "second"].map((text) => ({ payload: new TextEncoder().encode(text) }))
  const { durable, first, last } = yield* wal.append(records)
  yield* durable
  yield* Console.log(`durable: ${first} to ${last}`)
  // From the cursor on, which moves with each `ack`. What was handled and not yet acknowledged comes again after a crash.
  yield* wal.replay({ cursor: "default", until: "durable-end" }).pipe(
    Stream.runForEach((record) => Effect.andThen(handle(record), wal.ack(record.seq)))
  )
})

program.pipe(Effect.provide(OrdersLive), NodeRuntime.runMain)
