import { Wal } from "@effect-wal/core/Wal"
import type { WalRecord } from "@effect-wal/core/WalRecord"
import { S3ObjectStore, type S3Options } from "@effect-wal/s3"
import { Console, Effect, Layer, Stream } from "effect"

const records = ["first", "second"].map((text) => ({ payload: new TextEncoder().encode(text) }))

const handle = (record: WalRecord) => Console.log(record.seq, new TextDecoder().decode(record.payload))

export const program = Effect.gen(function*() {
  const wal = yield* Wal
  const { durable } = yield* wal.append(records)
  yield* durable // or go on, and let the status tell what is at risk
  yield* wal.replay({ cursor: "default", until: "durable-end" }).pipe(
    Stream.runForEach((record) => Effect.andThen(handle(record), wal.ack(record.seq)))
  )
})

export const main = (s3: S3Options.S3Options) =>
  program.pipe(
    Effect.provide(
      Wal.layer({ prefix: "wal", nodeId: "node-0", streamId: "orders" }).pipe(Layer.provide(S3ObjectStore.layer(s3)))
    )
  )
