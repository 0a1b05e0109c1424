/** The flags that say what a data command works on, and how they are followed. */
import { Effect, FileSystem, Option, Redacted } from "effect"
import type { Scope } from "effect"
import { Flag } from "effect/cli"
import { loadNamedConfig } from "../ConfigFlag.ts"
import { environment } from "../Environment.ts"
import { CommandFailed, type TaggedFailure, usageError } from "../Failure.ts"
import { streamFlag } from "../StreamFlag.ts"
import { answers, makeServerTarget, type ServerPlace } from "./ServerTarget.ts"
import { makeStoreTarget } from "./StoreTarget.ts"
import { Target } from "./Target.ts"

/** Where a server listens that nobody has configured. */
const defaultUrl = "http://127.0.0.1:8180"

const configFlag = Flag.File("config", { mustExist: false }).pipe(
  Flag.withDescription("Work on the stores of this configuration, without a server; default: EFFECT_WAL_CONFIG"),
  Flag.optional
)

/** Of a command that works on a server or on a store. */
export const targetFlags = {
  url: Flag.String("url").pipe(
    Flag.withDescription(`Address of a server; default: EFFECT_WAL_URL, then EFFECT_WAL_CONFIG, then ${defaultUrl}`),
    Flag.optional
  ),
  token: Flag.Redacted("token").pipe(
    Flag.withDescription("Token for the server; others on this machine see flags: better use EFFECT_WAL_TOKEN"),
    Flag.optional
  ),
  tokenFile: Flag.File("token-file", { mustExist: false }).pipe(
    Flag.withDescription("File with the token for the server"),
    Flag.optional
  ),
  config: configFlag,
  stream: streamFlag
}

/** Of a command that works on a store only; `--url` is known, to say so. */
export const storeFlags = {
  config: configFlag,
  stream: streamFlag,
  url: Flag.String("url").pipe(Flag.withDescription("Not for this command"), Flag.withHidden, Flag.optional)
}

/** The values of `targetFlags`. */
export interface TargetInput {
  readonly url: Option.Option<string>
  readonly token: Option.Option<Redacted.Redacted>
  readonly tokenFile: Option.Option<string>
  readonly config: Option.Option<string>
  readonly stream: Option.Option<string>
}

/** The values of `storeFlags`. */
export type StoreInput = Pick<TargetInput, "config" | "stream" | "url">

const variable = (name: string): Option.Option<string> => {
  const value = environment()[name]
  return value === undefined || value.trim() === "" ? Option.none() : Option.some(value)
}

const tokenOf = Effect.fnUntraced(function*({ token, tokenFile }: TargetInput) {
  if (Option.isSome(token) && Option.isSome(tokenFile)) {
    return yield* usageError("--token and --token-file: there is one token", "Give one of them.")
  }
  if (Option.isSome(tokenFile)) {
    const fs = yield* FileSystem.FileSystem
    const text = yield* fs.readFileString(tokenFile.value).pipe(
      Effect.mapError((error) =>
        usageError(`the token cannot be read from ${tokenFile.value}: ${error.message}`, "Check the path.")
      )
    )
    if (text.trim() === "") return yield* usageError(`${tokenFile.value} holds no token`, "Write the token into it.")
    return Redacted.make(text.trim())
  }
  return Option.getOrUndefined(Option.orElse(token, () => Option.map(variable("EFFECT_WAL_TOKEN"), Redacted.make)))
})

/** The address, as one that can be shown: no user and no password, which belong into a token. */
const urlOf = (text: string): Effect.Effect<URL, CommandFailed> => {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const next = `Write it as in ${defaultUrl} or https://wal.example.org.`
  if (!URL.canParse(withScheme)) return Effect.fail(usageError("--url is not an address", next))
  const url = new URL(withScheme)
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return Effect.fail(usageError(`--url: ${url.protocol}// is not http or https`, next))
  }
  return url.username === "" && url.password === ""
    ? Effect.succeed(url)
    : Effect.fail(usageError("--url holds a user or a password", "Use --token-file or the variable EFFECT_WAL_TOKEN."))
}

/** The server at an address, with the token that the flags or the environment name. */
export const serverAt = Effect.fnUntraced(function*(input: TargetInput, url: string) {
  return { url: yield* urlOf(url), token: yield* tokenOf(input) } satisfies ServerPlace as ServerPlace
})

/** The store of the configuration. A token that is given says that a server was meant. */
const storeOf = Effect.fnUntraced(function*({ config, token, tokenFile }: TargetInput) {
  if (Option.isSome(token) || Option.isSome(tokenFile)) {
    return yield* usageError(
      "--token and --token-file are for a server, and this is a store",
      "Name the server with --url, or leave the token out."
    )
  }
  return makeStoreTarget(yield* loadNamedConfig(config))
})

/** What the flags name: in this order `--url`, `--config`, the variables, a server that answers at the default address. */
export const findTarget = Effect.fnUntraced(function*(input: TargetInput): Effect.fn.Return<
  Target["Service"],
  TaggedFailure,
  FileSystem.FileSystem | Scope.Scope
> {
  const { config, url } = input
  if (Option.isSome(url) && Option.isSome(config)) {
    return yield* usageError(
      "--url and --config: a command works on a server or on a store",
      "Give one of them; a server that runs is the better choice."
    )
  }
  if (Option.isSome(config)) return yield* storeOf(input)
  const named = Option.orElse(url, () => variable("EFFECT_WAL_URL"))
  if (Option.isSome(named)) return yield* makeServerTarget(yield* serverAt(input, named.value))
  if (Option.isSome(variable("EFFECT_WAL_CONFIG"))) return yield* storeOf(input)
  const place = yield* serverAt(input, defaultUrl)
  if (yield* answers(place)) return yield* makeServerTarget(place)
  return yield* new CommandFailed({
    code: "no_target",
    message: `no server and no store is named, and nothing answers at ${defaultUrl}`,
    next: "Start a server with `effect-wal serve`, name one with `--url`, or name a store with `--config`.",
    exit: "unavailable"
  })
})

/** The store that the flags name, the default configuration's where they name none. */
export const findStore = Effect.fnUntraced(function*({ config, url }: StoreInput) {
  if (Option.isSome(url)) {
    return yield* usageError(
      "this command works on stores only, and has no --url",
      "Name the configuration of the server with --config; a local log is read only while no server has it open."
    )
  }
  return makeStoreTarget(yield* loadNamedConfig(config))
})

/** The named stream, or the only one that there is. */
export const chooseStreamId = Effect.fnUntraced(function*(wanted: Option.Option<string>) {
  const target = yield* Target
  if (Option.isSome(wanted)) return wanted.value
  const ids = yield* target.streamIds
  const [only] = ids
  if (only !== undefined && ids.length === 1) return only
  return yield* new CommandFailed({
    code: "stream_not_named",
    message: `${target.place} has ${ids.length === 0 ? "no stream" : `several streams: ${ids.join(", ")}`}`,
    next: ids.length === 0 ? "Add one to its configuration." : "Name one with --stream.",
    exit: "usage"
  })
})
