/**
 * From a `durability` block of a file to the settings of a log and of its store.
 */
import { Effect, Result, Schema } from "effect"
import { ConfigError } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import { durabilityRules } from "./BackendRules.ts"
import { budgetNotices } from "./BudgetRules.ts"
import { decodeTree, reportProblems } from "./DecodeTree.ts"
import { BackendBlock, backendKind, type DurabilityBlock } from "./OptionsSchema.ts"
import {
  backendNotices,
  resolveLog,
  resolveSpool,
  resolveStore,
  type SpoolSettings,
  type StoreSettings
} from "./Resolve.ts"

/** One log as a file describes it. */
export interface BackendSettings {
  readonly options: WalOptions
  readonly store: StoreSettings
  /** Where sealed segments wait on disk while the object store is away; absent where they wait in memory only. */
  readonly spool: SpoolSettings | undefined
  /** Sentences for the log at start and for `config print`. */
  readonly notices: ReadonlyArray<string>
}

/**
 * The settings of a `durability` block that has passed `durabilityRules`. `host` names this machine, `streamId` the
 * stream around it.
 */
export const resolveDurability = (
  durability: DurabilityBlock,
  { host, streamId }: { readonly host?: string | undefined; readonly streamId?: string | undefined }
): BackendSettings => {
  const { backend } = durability
  const kind = backendKind(durability) ?? "object_store"
  const options = resolveLog(backend, {
    kind,
    conditionalWrites: backend.s3?.conditional_writes ?? "required",
    sync: durability.sync,
    host,
    streamId
  })
  return {
    options,
    store: resolveStore(backend, kind, durability.path),
    spool: resolveSpool(backend),
    notices: [...backendNotices(backend, kind), ...budgetNotices(options)]
  }
}

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
      : Effect.succeed(resolveDurability({ enabled: true, backend }, context))
  })
