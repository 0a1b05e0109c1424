/** What those are asked with who look at a log without writing to it, and what they need for that. */
import { Effect } from "effect"
import { Compression } from "../codec/Compression.ts"
import { Digest } from "../codec/Digest.ts"
import { resolveOptions, type WalOptionsInput } from "../config/ResolveOptions.ts"
import { identityProblem, logPrefix } from "../LogId.ts"

/** The identity of a log, and how it is looked at: the fields of `WalOptionsInput`. */
export type LookOptions = Pick<
  WalOptionsInput,
  "nodeId" | "streamId" | "prefix" | "maxSegmentBytes" | "prefetch" | "retry"
>

/** Tries of one request while the store's answers may pass. */
const attempts = 8

/** Checks the options and fills in the defaults. Fails `ConfigError` and `InvalidId` before any request. */
export const lookContext = Effect.fnUntraced(function*(input: LookOptions) {
  const options = yield* resolveOptions(input)
  const problem = identityProblem(options)
  if (problem !== undefined) return yield* problem
  return {
    options,
    streamId: options.streamId,
    prefix: logPrefix(options),
    digest: yield* yield* Digest,
    compression: yield* yield* Compression,
    maxSegmentBytes: options.maxSegmentBytes,
    prefetch: options.prefetch,
    backoff: options.retry,
    attempts
  }
})
