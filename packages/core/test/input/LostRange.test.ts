/** A lost range that an input does not get to see before its source has ended. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import * as DurableInput from "../../src/DurableInput.ts"
import { makeReads } from "../../src/log/LogReading.ts"
import type { WalService } from "../../src/WalService.ts"
import { harmed } from "../support/Harmed.ts"
import { drive, key } from "../support/LogWorld.ts"
import { makeHandler, markOf, names } from "./InputWorld.ts"

/** The log, whose live replay delivers nothing: its first element stays on its way, and `reached` is told. */
const stuck = (wal: WalService, reached: Deferred.Deferred<void>): WalService => ({
  ...wal,
  ...makeReads({
    replay: (options) =>
      wal.replay({ ...options, onDamage: "skip" }).pipe(
        Stream.tap(() =>
          options.until === "live" ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
        )
      ),
    read: (options) => wal.read({ ...options, onDamage: "skip" })
  })
})

describe("a lost range at the front of an input", () => {
  it.effect("that was cut off on its way is told, and the cursor goes on behind it", () =>
    Effect.gen(function*() {
      const { wal } = yield* harmed(({ memory }) => memory.objects.delete(key(0)))
      const reached = yield* Deferred.make<void>()
      const told: Array<string> = []
      const handler = makeHandler()
      const input = DurableInput.make(stuck(wal, reached), Stream.fromEffectDrain(Deferred.await(reached)), {
        onUnreadable: ({ from, to }) => Effect.sync(() => told.push(`${from}-${to}`))
      })
      yield* drive(input.run(handler.handle))
      assert.deepStrictEqual([told, handler.done], [["1-10"], names(11, 100)])
      assert.strictEqual(yield* markOf(wal), 100)
    }))
})
