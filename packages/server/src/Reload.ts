/** What SIGHUP reads again: the tokens, and the certificate with its key. What cannot be read stays as it was. */
import { Effect } from "effect"
import { Tokens } from "./auth/Tokens.ts"
import { Certificate } from "./Listener.ts"

/** Reads both again; logs what came of it. */
export const reload = Effect.gen(function*() {
  const tokens = yield* Tokens
  const certificate = yield* Certificate
  yield* Effect.matchEffect(tokens.reload, {
    onFailure: (error) => Effect.logError(`the tokens stay as they were: ${error.message}`),
    onSuccess: () => Effect.logInfo("the tokens were read again")
  })
  yield* Effect.matchEffect(certificate.reload, {
    onFailure: (error) => Effect.logError(`the certificate stays as it was: ${error.message}`),
    onSuccess: (isThere) => isThere ? Effect.logInfo("the certificate was read again") : Effect.void
  })
})
