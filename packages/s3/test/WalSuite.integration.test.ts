import { NonceSource } from "@effect-wal/core/Nonce"
import { realS3 } from "@effect-wal/testing/RealS3"
import { emptied, objectPlace, walSuite } from "@effect-wal/testing/WalSuite"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { make } from "../src/S3ObjectStore.ts"

const server = realS3(process.env)

if (server === undefined) {
  // `scripts/test-setup.ts` says loudly that this file is left out, and how to run it.
  describe.skip("a log on S3, on a real server", () => {
    it("needs a server", () => undefined)
  })
} else {
  const place = Effect.gen(function*() {
    const prefix = `wal-suite/${yield* yield* NonceSource}`
    const connect = make(server)
    yield* Effect.addFinalizer(() => Effect.orDie(emptied(connect, `${prefix}/`)))
    return objectPlace(connect, prefix)
  })

  walSuite("a log on S3, on a real server", {
    place,
    secondWriter: "takes-over",
    objects: true,
    onDisk: false,
    window: 8
  })
}
