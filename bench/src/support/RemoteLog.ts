/** A log on the store of the benchmarks, over the S3 code, as a program in front of S3 has it. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { WalService } from "@effect-wal/core/WalService"
import { S3ObjectStore } from "@effect-wal/s3"
import { Effect, Redacted } from "effect"
import type { StoreProcess } from "../store/StoreProcess.ts"
import { type LogOptions, withLog } from "./OpenLog.ts"

/** Connections: as many as the widest log of a benchmark has PUTs under way. */
const maxSockets = 128

/**
 * Uses the store's client, then closes its connections. Bodies are left out of signatures, as they are over TLS: the store
 * of the benchmarks stands for one that is reached so.
 */
export const withClient = <A>(
  { endpoint }: StoreProcess,
  use: (store: ObjectStore["Service"]) => Effect.Effect<A, unknown>,
  unsignedPayload: "over_tls" | "always" = "always"
): Promise<A> => {
  const credentials = { accessKeyId: "bench", secretAccessKey: Redacted.make("bench") }
  const options = { bucket: "bench", endpoint, region: "us-east-1", credentials, maxSockets, unsignedPayload }
  const layer = S3ObjectStore.layer(options)
  return Effect.runPromise(Effect.provide(Effect.flatMap(Effect.service(ObjectStore), use), layer))
}

let opened = 0

/** Opens a log of its own on the store, uses it, closes it. */
export const withRemoteLog = <A>(
  store: StoreProcess,
  options: LogOptions,
  use: (wal: WalService) => Effect.Effect<A, unknown>
): Promise<A> =>
  withClient(store, (client) =>
    Effect.promise(() =>
      // Each with a prefix of its own: what one has left is nothing to the next.
      withLog(client, { prefix: `run-${++opened}`, ...options }, use)
    ))
