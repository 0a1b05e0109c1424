/** How tests of the log suite are registered: each on a fresh place of the backend. */
import { it } from "@effect/vitest"
import type { Scope } from "effect"
import { Effect } from "effect"
import type { WalBackend, WalPlace } from "./SuiteBackend.ts"

/** A test body: what it fails with fails the test. */
export type Body = (place: WalPlace) => Effect.Effect<void, { readonly _tag: string }, Scope.Scope>

export interface Suite {
  readonly backend: WalBackend
  readonly test: (title: string, body: Body) => void
}

/** A test that takes longer hangs. */
const timeoutMillis = 60_000

export const makeSuite = (backend: WalBackend): Suite => ({
  backend,
  test: (title, body) => it.effect(title, () => Effect.flatMap(backend.place, body), timeoutMillis)
})
