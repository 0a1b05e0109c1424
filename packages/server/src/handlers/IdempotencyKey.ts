/**
 * The `Idempotency-Key` of an append: the key is a producer of the log that makes one call.
 *
 * The header's text is the key as it stands, quotes included; a client that sends it in another spelling has another key.
 */
import { isProducerId, producerIdRule } from "@effect-wal/core/format/ProducerCalls"
import type { AppendOptions } from "@effect-wal/core/WalService"
import { Result } from "effect"
import { RequestProblem } from "../RequestProblem.ts"

const name = "idempotency-key"

/** Says in an answer that nothing was appended now: the records are those of the first call with the key. */
export const replayedHeader = { "idempotency-replayed": "true" }

const refuse = (rule: string) =>
  Result.fail(
    new RequestProblem({ code: "invalid_request", message: `Idempotency-Key: ${rule}; nothing was appended` })
  )

const none: Result.Result<AppendOptions, RequestProblem> = Result.succeed({})

/** Headers as node has them, of whatever version of HTTP. */
interface GivenHeaders {
  readonly headers: Readonly<Record<string, unknown>>
  readonly rawHeaders: ReadonlyArray<string>
}

/** What the header asks of the append; fails `invalid_request` with the rule that it breaks. */
export const appendOptions = (
  { headers, rawHeaders }: GivenHeaders
): Result.Result<AppendOptions, RequestProblem> => {
  if (headers[name] === undefined) return none
  // Not the joined value: two keys in two headers would look like one with a comma.
  const given = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
  const [key] = given
  if (key === undefined) return none
  if (given.length > 1) return refuse("must be given once")
  return isProducerId(key) ? Result.succeed({ producer: { id: key, sequence: 0 } }) : refuse(producerIdRule)
}
