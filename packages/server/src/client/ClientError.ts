/** What a call of the client fails with: `WalClientError`, whose `reason` says which of the many ways it was. */
import { Data } from "effect"
import type { Schema } from "effect"
import type { ErrorAnswer } from "../api/Schemas.ts"
import { type ErrorCode, errorCodes } from "./ErrorCode.ts"

type AnsweredError = typeof ErrorAnswer.Type["error"]

/** What every refusal of the server says. */
export interface Refused {
  readonly status: number
  readonly message: string
  /** What became of the records of the call. */
  readonly data: AnsweredError["data"]
  /** The same call may succeed later although nobody changed anything. */
  readonly retryable: boolean
  /** How long the server asks to wait before the next try, milliseconds. */
  readonly retryAfterMillis?: number
  /** The fields of the error, as `docs/errors.md` lists them. */
  readonly details: Readonly<Record<string, Schema.Json>>
}

/** The server refused the call, or could not finish it; `_tag` is the reason code. */
export type Refusal = { readonly [Code in ErrorCode]: Refused & { readonly _tag: Code } }[ErrorCode]

/** There was no answer, or it broke off: whether the server has done what was asked is not known. */
export interface ConnectionFailed {
  readonly _tag: "ConnectionFailed"
  readonly message: string
}

/** The answer is not one that the server gives: a proxy has answered, or the server is of another version. */
export interface UnexpectedAnswer {
  readonly _tag: "UnexpectedAnswer"
  readonly status: number
  readonly message: string
  /** How long the answer asks to wait before the next try, milliseconds. */
  readonly retryAfterMillis?: number
}

/** The call cannot be sent as it is; nothing was sent. */
export interface InvalidCall {
  readonly _tag: "InvalidCall"
  readonly message: string
}

/** Why a call failed. */
export type Reason = Refusal | ConnectionFailed | UnexpectedAnswer | InvalidCall

const codes: ReadonlySet<string> = new Set(errorCodes)

/** Whether the code of a refusal is one that this client knows. */
export const isRefusal = (reason: Refused & { readonly _tag: string }): reason is Refusal => codes.has(reason._tag)

/**
 * A call that failed. Recover from one reason with `Effect.catchReason("WalClientError", "trimmed", …)`; the tag of a
 * refusal is its reason code.
 */
export class WalClientError extends Data.TaggedError("WalClientError")<{ readonly reason: Reason }> {
  /** What is wrong, for people. */
  override get message(): string {
    return this.reason.message
  }

  /** The status of the answer, where there was one. */
  get status(): number | undefined {
    return "status" in this.reason ? this.reason.status : undefined
  }

  /** How long the answer asks to wait before the next try, milliseconds. */
  get retryAfterMillis(): number | undefined {
    return "retryAfterMillis" in this.reason ? this.reason.retryAfterMillis : undefined
  }
}
