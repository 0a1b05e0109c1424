import { NonceSource } from "@effect-wal/core/Nonce"
import { realS3 } from "@effect-wal/testing/RealS3"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { environmentOf, onS3, restarted, stop, temporary } from "./Examples.ts"

const server = realS3(process.env)

if (server === undefined) {
  // `scripts/test-setup.ts` says loudly that this file is left out, and how to run it.
  describe.skip("the examples on a real S3 server", () => {
    it("needs a server", () => undefined)
  })
} else {
  describe("the examples on a real S3 server", () => {
    it.live.each([...onS3])(
      "%s keeps its records over kill -9",
      (name) =>
        Effect.gen(function*() {
          const env = environmentOf(server, `examples-${yield* yield* NonceSource}`)
          yield* stop(yield* restarted(name, { cwd: yield* temporary, env }), name, 201)
        }).pipe(Effect.provide(NodeServices.layer)),
      120_000
    )
  })
}
