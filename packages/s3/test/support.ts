import type { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { HttpS3Double, make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import type { DoubleSettings } from "@effect-wal/testing/HttpS3Model"
import { Effect, Layer } from "effect"
import { layer as s3Layer, make } from "../src/S3ObjectStore.ts"
import type { S3Options } from "../src/S3Options.ts"

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (body: Uint8Array): string => new TextDecoder().decode(body)

/** A double and a store on it, both of their own; gone with the scope of the test. */
export const setUp = Effect.fnUntraced(
  function*(settings: Partial<DoubleSettings> = {}, options: Partial<S3Options> = {}) {
    const double = yield* makeDouble(settings)
    const store = yield* make({ ...double.s3Options, ...options })
    return { double, store }
  }
)

/** The S3 store on a double of its own, as a layer. */
export const storeOnDouble = (settings: Partial<DoubleSettings> = {}, options: Partial<S3Options> = {}) =>
  Layer.unwrap(Effect.map(HttpS3Double, (double) => s3Layer({ ...double.s3Options, ...options }))).pipe(
    Layer.provide(HttpS3Double.layer(settings))
  )

/** The error's facts that tests look at. */
export const factsOf = (error: ObjectStoreError) =>
  [error.operation, error.reason, error.outcome, error.isRetryable] as const
