/** Whether an address can be reached from other machines, and whether that is allowed without tokens. */
import { ConfigError } from "@effect-wal/core/WalError"
import { Effect } from "effect"
import type { ServerSettings } from "./Settings.ts"

const loopback = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/

/** Whether only this machine can reach an address. */
export const isLoopbackHost = (host: string): boolean => loopback.test(host)

/** Fails `ConfigError` when everybody on the network could append and read, and nobody said that this is meant. */
export const refuseOpenServer = (settings: ServerSettings): Effect.Effect<void, ConfigError> =>
  isLoopbackHost(settings.host) || settings.tokens.length > 0 || settings.insecure
    ? Effect.void
    : Effect.fail(
      new ConfigError({
        source: "server",
        problems: [{
          path: "server.host",
          value: settings.host,
          rule:
            "is reachable from other machines and there are no tokens: configure server.tokens, use 127.0.0.1, or say --insecure"
        }]
      })
    )
