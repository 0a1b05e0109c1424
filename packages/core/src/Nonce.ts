/**
 * Identities that no other writer may ever have: writer nonces, log ids, commit ids.
 *
 * Not from `Random`: a seeded generator that is cloned with a machine would make two writers believe each other's
 * objects. Tests and simulations provide a counting one.
 */
import { Context, Effect } from "effect"

/** 128 bits as 32 lower-case hexadecimal digits. */
export type Nonce = string

/** Yields a fresh nonce each time: `const nonce = yield* yield* NonceSource`. Default: `crypto.randomUUID`. */
export const NonceSource = Context.Reference<Effect.Effect<Nonce>>("@effect-wal/core/NonceSource", {
  defaultValue: () => Effect.sync(() => globalThis.crypto.randomUUID().replaceAll("-", ""))
})
