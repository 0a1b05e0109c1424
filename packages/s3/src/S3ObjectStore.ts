/**
 * The object store of the log on S3 and on what speaks like it: the options, the client of the SDK, and the store on it.
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ConfigError } from "@effect-wal/core/WalError"
import { Effect, Layer } from "effect"
import type { Scope } from "effect"
import { make as makeClient } from "./S3Client.ts"
import { resolveS3Options } from "./S3Options.ts"
import type { S3Options } from "./S3Options.ts"
import { storeOnClient } from "./StoreOnClient.ts"

/** The store for one bucket, with its connections in the scope. Fails `ConfigError` before any request. */
export const make: (options: S3Options) => Effect.Effect<ObjectStore["Service"], ConfigError, Scope.Scope> = Effect
  .fnUntraced(
    function*(given) {
      const options = yield* resolveS3Options(given)
      return storeOnClient(yield* makeClient(options), options)
    }
  )

/** The store as a layer. One call makes one set of connections: keep the layer as a constant. */
export const layer = (options: S3Options): Layer.Layer<ObjectStore, ConfigError> =>
  Layer.effect(ObjectStore, make(options))
