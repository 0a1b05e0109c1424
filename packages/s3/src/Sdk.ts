/**
 * The client of the AWS SDK, set up so that one call is one request: no retries of the SDK's, no 100-continue round, no
 * checksum but the one that the caller has, an agent of our own that keeps connections and is closed with the scope.
 * Every answer is looked at before the SDK's parser has it.
 */
import { S3Client as Sdk } from "@aws-sdk/client-s3"
import type { S3ClientConfig } from "@aws-sdk/client-s3"
import { ConfigError } from "@effect-wal/core/WalError"
import { Duration, Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { Agent as HttpAgent } from "node:http"
import { Agent as HttpsAgent } from "node:https"
import { inspectAnswer } from "./AnswerInspection.ts"
import type { RawResponse } from "./AnswerInspection.ts"
import { S3CredentialsError } from "./S3Options.ts"
import type { ResolvedS3Options, S3Credentials } from "./S3Options.ts"

const identityOf = (credentials: S3Credentials) => ({
  accessKeyId: credentials.accessKeyId,
  secretAccessKey: Redacted.value(credentials.secretAccessKey),
  ...(credentials.sessionToken === undefined ? {} : { sessionToken: Redacted.value(credentials.sessionToken) })
})

/** Where credentials come from: given ones, or the SDK's chain, which gets all that the client is made with. */
interface CredentialsConfig extends Pick<S3ClientConfig, "credentials"> {
  /** The chain reads its files whenever it is asked. The SDK's types name this for the chain only, not for the client. */
  readonly ignoreCache?: boolean
}

const credentialsConfig: (options: ResolvedS3Options) => Effect.Effect<CredentialsConfig> = Effect.fnUntraced(
  function*(options) {
    const given = options.credentials
    // Else the SDK keeps its files for as long as the process lives: keys changed in them would never be seen.
    if (given === undefined) return { ignoreCache: true }
    if (!("provider" in given)) return { credentials: identityOf(given) }
    const duration = options.smallRequestDeadline
    // All who ask meanwhile get the answer to one question: without an end to it nobody would ever ask anew.
    const detail = `the provider has not answered within ${Duration.format(duration)}`
    const bounded = Effect.timeoutOrElse(given.provider, {
      duration,
      orElse: () => Effect.fail(new S3CredentialsError({ detail }))
    })
    // The SDK asks by a promise; the effect keeps the services of the layer that made this client.
    const context = yield* Effect.context()
    return { credentials: () => Effect.runPromiseWith(context)(Effect.map(bounded, identityOf)) }
  }
)

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

type Logger = NonNullable<S3ClientConfig["logger"]>

const sdkConfig = (options: ResolvedS3Options, agents: Agents, logger: Logger): S3ClientConfig => {
  const backstopMillis = 2 *
    Math.max(Duration.toMillis(options.attemptDeadline), Duration.toMillis(options.smallRequestDeadline))
  return {
    ...(options.region === undefined ? {} : { region: options.region }),
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    forcePathStyle: options.forcePathStyle,
    maxAttempts: 1,
    expectContinueHeader: false,
    requestChecksumCalculation: "WHEN_REQUIRED",
    // The log's own checksums find damage and say where; a failed check here would look like a broken connection.
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      httpAgent: agents.http,
      httpsAgent: agents.https,
      connectionTimeout: Duration.toMillis(options.connectTimeout),
      requestTimeout: backstopMillis,
      throwOnRequestTimeout: true,
      socketTimeout: backstopMillis,
      logger
    }
  }
}

/** The SDK warns about used-up connections on the console, unless it is given a log of ours. */
const sdkLogger: Effect.Effect<Logger> = Effect.map(Effect.context(), (context) => {
  const fork = Effect.runForkWith(context)
  const silent = () => undefined
  const warn = (...content: ReadonlyArray<unknown>) => {
    fork(Effect.logWarning(...content))
  }
  return { trace: silent, debug: silent, info: silent, warn, error: warn }
})

// Without a region the SDK refuses each request by itself: a mistake in the set-up, not a store that is down.
const requireRegion = (sdk: Sdk): Effect.Effect<string, ConfigError> =>
  Effect.tryPromise({
    try: () => sdk.config.region(),
    catch: () =>
      new ConfigError({
        source: "S3 options",
        problems: [{ path: "s3.region", rule: "must be given here, in AWS_REGION or in the profile" }]
      })
  })

/** The SDK's client; its connections end with the scope. Fails `ConfigError` when no region is known. */
export const makeSdk: (options: ResolvedS3Options) => Effect.Effect<Sdk, ConfigError, Scope.Scope> = Effect.fnUntraced(
  function*(options) {
    const settings = { keepAlive: true, maxSockets: options.maxSockets }
    const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
    const credentials = yield* credentialsConfig(options)
    const logger = yield* sdkLogger
    const sdk = yield* Effect.acquireRelease(
      Effect.sync(() => new Sdk({ ...sdkConfig(options, agents, logger), ...credentials })),
      (client) =>
        Effect.sync(() => {
          client.destroy()
          agents.http.destroy()
          agents.https.destroy()
        })
    )
    yield* requireRegion(sdk)
    sdk.middlewareStack.add(
      (next, context) => (args) =>
        next(args).then((result) => {
          const response: RawResponse = Object(result.response)
          return inspectAnswer(context.commandName ?? "", response).then(() => result)
        }),
      // Low priority in this step is next to the wire: the answer is seen before the SDK's parser has it.
      { name: "inspectAnswer", step: "deserialize", priority: "low" }
    )
    return sdk
  }
)
