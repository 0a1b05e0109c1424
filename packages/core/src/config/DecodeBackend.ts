/**
 * From a `durability` block of a file to the settings of a log and of its store.
 */
import { Effect, Result, Schema } from "effect"
import { ConfigError } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import { durabilityRules } from "./BackendRules.ts"
import { decodeTree, reportProblems } from "./DecodeTree.ts"
import { BackendBlock, type DurabilityBlock } from "./OptionsSchema.ts"
import { backendNotices, resolveLog, resolveStore, type StoreSettings } from "./Resolve.ts"

/** One log as a file describes it. */
export interface BackendSettings {
  readonly options: WalOptions
  readonly store: StoreSettings
  /** Sentences for the log at start and for `config print`. */
  readonly notices: ReadonlyArray<string>
}

/** The settings of a `durability` block that has passed `durabilityRules`. `host` names this machine. */
export const resolveDurability = (durability: DurabilityBlock, host: string | undefined): BackendSettings => ({
  options: resolveLog(durability.backend, {
    conditionalWrites: durability.backend.s3?.conditional_writes ?? "required",
    sync: durability.sync,
    host
  }),
  store: resolveStore(durability.backend),
  notices: backendNotices(durability.backend)
})

const Wrapped = Schema.Struct({ backend: Schema.optionalKey(BackendBlock) })

/**
 * Decodes what stands below `backend` in a file, already parsed and substituted. Fails `ConfigError` with every broken
 * rule at once; paths start at `backend`. No request is made and no file is read.
 */
export const decodeBackend = (
  tree: unknown,
  context: { readonly host?: string } = {}
): Effect.Effect<BackendSettings, ConfigError> =>
  Effect.suspend(() => {
    const wrapped = { backend: tree }
    const decoded = decodeTree(
      Wrapped,
      wrapped,
      ({ backend }) => backend === undefined ? [] : durabilityRules({ enabled: true, backend }, [])
    )
    if (Result.isFailure(decoded)) {
      const problems = reportProblems(decoded.failure, { schema: Wrapped, tree: wrapped })
      return Effect.fail(new ConfigError({ source: "configuration", problems }))
    }
    const { backend } = decoded.success
    return backend === undefined
      ? Effect.fail(new ConfigError({ source: "configuration", problems: [{ path: "backend", rule: "is missing" }] }))
      : Effect.succeed(resolveDurability({ enabled: true, backend }, context.host))
  })
