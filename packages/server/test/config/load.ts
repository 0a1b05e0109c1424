import type { ConfigProblem } from "@effect-wal/core/WalError"
import { Effect } from "effect"
import { loadConfig, type LoadOptions, type ServerConfig } from "../../src/config/ServerConfig.ts"

type Extra = Omit<Partial<LoadOptions>, "text">

/** The configuration that a text gives, without variables unless told. */
export const load = (text: string, extra: Extra = {}): Effect.Effect<ServerConfig> =>
  Effect.orDie(loadConfig({ text, env: {}, hostname: "pod-1", ...extra }))

/** What is wrong with a text. */
export const problemsOf = (text: string, extra: Extra = {}): Effect.Effect<ReadonlyArray<ConfigProblem>> =>
  Effect.flip(loadConfig({ text, env: {}, hostname: "pod-1", ...extra })).pipe(
    Effect.map((error) => error.problems),
    Effect.orDie
  )

const backend = "streams[0].durability.backend"

/** The path below the backend of the first stream. */
export const inBackend = (path: string): string => `${backend}.${path}`

/** A file with one stream whose backend also has `lines`. */
export const withBackend = (...lines: ReadonlyArray<string>): string =>
  [
    "streams:",
    "  - durability:",
    "      backend:",
    "        type: object_store",
    "        s3: { bucket: my-bucket, region: us-east-1 }",
    ...lines.map((line) => `        ${line}`)
  ].join("\n")

/** The same with ids. */
export const withIds = (...lines: ReadonlyArray<string>): string =>
  withBackend("node_id: node-1", "stream_id: main", ...lines)
