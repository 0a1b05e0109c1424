/**
 * Bearer tokens: who may do what.
 *
 * Only SHA-256 digests are kept; a token that is presented is hashed and compared with every one of them in constant
 * time, so that neither the time nor the number of comparisons tells how close a guess was. Several tokens may be valid
 * for the same purpose, so that they can be rotated; SIGHUP reads them again.
 */
import { ConfigError, type ConfigProblem } from "@effect-wal/core/WalError"
import { Config, Context, Deferred, Effect, FileSystem, Layer } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { RequestProblem } from "../RequestProblem.ts"
import { Settings, type TokenScope, type TokenSettings } from "../Settings.ts"

/** A token, resolved. */
interface Token {
  readonly id: string
  readonly digest: Uint8Array
  readonly scopes: ReadonlySet<TokenScope>
  readonly streams: ReadonlySet<string> | undefined
}

/** What is asked for: a scope, on one stream or (`all`) on the server as a whole. */
export interface Access {
  readonly scope: TokenScope
  readonly stream: string | "*"
}

/** Of no token at all: who presents none must not be taken for its owner. */
const digestOfNothing = createHash("sha256").digest("hex")

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text, "utf8").digest()

const hexDigest = /^[0-9a-fA-F]{64}$/

const problem = (index: number, field: string, rule: string): ConfigProblem => ({
  path: `server.tokens[${index}].${field}`,
  rule
})

/** The digest of one token, or what is wrong with where it should be. */
const digestOf = Effect.fnUntraced(function*(token: TokenSettings, index: number) {
  if ("sha256" in token.secret) {
    if (!hexDigest.test(token.secret.sha256)) {
      return yield* Effect.fail(problem(index, "sha256", "must be the SHA-256 of the token, 64 hexadecimal digits"))
    }
    if (token.secret.sha256.toLowerCase() === digestOfNothing) {
      return yield* Effect.fail(problem(index, "sha256", "is the SHA-256 of an empty token"))
    }
    return new Uint8Array(Buffer.from(token.secret.sha256, "hex"))
  }
  if ("env" in token.secret) {
    const name = token.secret.env
    const value = yield* Effect.mapError(
      Effect.suspend(() => Config.String(name)),
      () => problem(index, "env", `the variable ${name} is not set`)
    )
    if (value.trim() === "") return yield* Effect.fail(problem(index, "env", `the variable ${name} is blank`))
    return sha256(value.trim())
  }
  const path = token.secret.file
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(path),
    (error) => problem(index, "file", `${path} cannot be read: ${error.message}`)
  )
  if (text.trim() === "") return yield* Effect.fail(problem(index, "file", `${path} is blank`))
  return sha256(text.trim())
})

const resolve = Effect.fnUntraced(function*(settings: ReadonlyArray<TokenSettings>) {
  const [tokens, problems] = yield* Effect.partition(
    settings.entries(),
    ([index, token]) =>
      Effect.map(digestOf(token, index), (digest): Token => ({
        id: token.id,
        digest,
        scopes: new Set(token.scopes),
        streams: token.streams === undefined ? undefined : new Set(token.streams)
      }))
  )
  if (problems.length > 0) return yield* new ConfigError({ source: "tokens", problems })
  return tokens
})

const bearer = /^bearer +(\S{1,4096})$/i

const unauthorized = new RequestProblem({
  code: "unauthorized",
  message: "send a token that this server knows, as Authorization: Bearer …"
})

const forbidden = (access: Access): RequestProblem =>
  new RequestProblem({
    code: "forbidden",
    message: `the token has not the scope ${access.scope}${access.stream === "*" ? "" : ` for stream ${access.stream}`}`
  })

const covers = (token: Token, access: Access): boolean =>
  token.scopes.has(access.scope) && (token.streams === undefined || token.streams.has(access.stream))

export class Tokens extends Context.Service<Tokens, {
  /** Whether the owner of this `Authorization` header may do that; `undefined` when it may. Everybody may without tokens. */
  readonly refusal: (authorization: string | undefined, access: Access) => RequestProblem | undefined
  /** Reads the tokens again; on failure the old ones stay. */
  readonly reload: Effect.Effect<void, ConfigError>
  /** Completes once a reload has taken this away from the owner of the header. For answers that do not end. */
  readonly revoked: (authorization: string | undefined, access: Access) => Effect.Effect<void>
}>()("@effect-wal/server/Tokens") {
  /** Fails `ConfigError` when a token cannot be read. */
  static readonly layer = Layer.effect(
    Tokens,
    Effect.gen(function*() {
      const settings = yield* Settings
      const services = yield* Effect.context<FileSystem.FileSystem>()
      let tokens = yield* resolve(settings.tokens)
      const find = (authorization: string | undefined): Token | undefined => {
        const presented = sha256(bearer.exec(authorization ?? "")?.[1] ?? "")
        let found: Token | undefined
        for (const token of tokens) {
          if (timingSafeEqual(token.digest, presented)) found = token
        }
        return found
      }
      const refusal = (authorization: string | undefined, access: Access) => {
        if (settings.tokens.length === 0) return undefined
        const token = find(authorization)
        if (token === undefined) return unauthorized
        return covers(token, access) ? undefined : forbidden(access)
      }
      let nextReload = Deferred.makeUnsafe<void>()
      const revoked = (authorization: string | undefined, access: Access): Effect.Effect<void> =>
        Effect.suspend(() =>
          refusal(authorization, access) === undefined
            ? Effect.flatMap(Deferred.await(nextReload), () => revoked(authorization, access))
            : Effect.void
        )
      return Tokens.of({
        refusal,
        revoked,
        reload: Effect.provideContext(resolve(settings.tokens), services).pipe(
          Effect.flatMap((resolved) => {
            tokens = resolved
            const reloaded = nextReload
            nextReload = Deferred.makeUnsafe<void>()
            return Effect.asVoid(Deferred.succeed(reloaded, undefined))
          })
        )
      })
    })
  )
}
