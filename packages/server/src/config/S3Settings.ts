/**
 * From the `s3` block of the configuration to the options of the S3 store.
 */
import type { CredentialSources, S3Settings, SecretSource } from "@effect-wal/core/config/Resolve"
import { S3Options } from "@effect-wal/s3"
import { Effect, Redacted } from "effect"
import { readFile } from "node:fs/promises"

const readSecret = (source: SecretSource): Effect.Effect<Redacted.Redacted, S3Options.S3CredentialsError> =>
  "value" in source ? Effect.succeed(source.value) : Effect.tryPromise({
    try: () => readFile(source.file, "utf8"),
    catch: (cause) =>
      new S3Options.S3CredentialsError({
        detail: `${source.file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  }).pipe(
    Effect.flatMap((text) =>
      text.trim() === ""
        ? Effect.fail(new S3Options.S3CredentialsError({ detail: `${source.file} is empty` }))
        : Effect.succeed(Redacted.make(text.trim()))
    )
  )

/** Asked again whenever the store says that the credentials have expired, so a renewed file is taken up. */
const readCredentials = (
  sources: CredentialSources
): Effect.Effect<S3Options.S3Credentials, S3Options.S3CredentialsError> =>
  Effect.gen(function*() {
    const accessKeyId = yield* readSecret(sources.accessKeyId)
    const secretAccessKey = yield* readSecret(sources.secretAccessKey)
    const sessionToken = sources.sessionToken === undefined ? undefined : yield* readSecret(sources.sessionToken)
    return {
      accessKeyId: Redacted.value(accessKeyId),
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken })
    }
  })

/** The options of the S3 store. Nothing is read here: files with credentials are read when a request needs them. */
export const s3Options = ({ credentials, type: _, ...settings }: S3Settings): S3Options.S3Options => ({
  ...settings,
  ...(credentials === undefined ? {} : { credentials: { provider: readCredentials(credentials) } })
})
