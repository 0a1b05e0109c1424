/** The flag that names the configuration, the same for every command, and what it names. */
import type { ConfigError } from "@effect-wal/core/WalError"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { loadConfig, type LoadOptions, type ServerConfig } from "../config/ServerConfig.ts"
import { environment } from "./Environment.ts"

/** `--config FILE`. */
export const configFlag = Flag.File("config", { mustExist: false }).pipe(
  Flag.withDescription("YAML or JSON file; default: the variable EFFECT_WAL_CONFIG, else one stream in ./data"),
  Flag.optional
)

/** Where the configuration comes from that `--config` names. */
export const loadOptions = (config: Option.Option<string>): LoadOptions => ({
  env: environment(),
  ...Option.isNone(config) ? {} : { path: config.value }
})

/**
 * The configuration that `--config` names, checked. Whether a server may be reached without tokens is decided where one is
 * started, not here. Fails `ConfigError` with all problems at once.
 */
export const loadNamedConfig = (config: Option.Option<string>): Effect.Effect<ServerConfig, ConfigError> =>
  Effect.suspend(() => loadConfig({ ...loadOptions(config), insecure: true }))
