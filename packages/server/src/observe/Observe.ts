/** What a serving process shows of itself: gauges of its settings and disks, and traces where somebody wants them. */
import type { ConfigError } from "@effect-wal/core/WalError"
import { Effect, Layer } from "effect"
import type { ServerConfig } from "../config/ServerConfig.ts"
import type { Environment } from "../config/Substitution.ts"
import * as DiskSpace from "./DiskSpace.ts"
import { otlpOfEnvironment } from "./OtlpSource.ts"
import * as SettingMetrics from "./SettingMetrics.ts"
import * as Tracing from "./Tracing.ts"

/** Fails `ConfigError` where a variable of OpenTelemetry cannot be used. The file wins over the variables. */
export const layer = (
  { otlp, streams }: Pick<ServerConfig, "otlp" | "streams">,
  env: Environment
): Layer.Layer<never, ConfigError> =>
  Layer.unwrap(Effect.gen(function*() {
    const traces = otlp ?? (yield* Effect.fromResult(otlpOfEnvironment(env)))
    return Layer.mergeAll(
      SettingMetrics.layer(streams),
      DiskSpace.layer(streams),
      traces === undefined ? Layer.empty : Tracing.layer(traces)
    )
  }))
