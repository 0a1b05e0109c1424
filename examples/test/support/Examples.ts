/** The example programs, run as their reader would run them: `node examples/programs/….ts`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { it } from "@effect/vitest"
import { Effect, FileSystem, Schedule, type Scope } from "effect"
import { fileURLToPath } from "node:url"
import { type ProgramOptions, startProgram } from "../../../packages/server/test/support/Process.ts"

const scriptOf = (name: string): string => fileURLToPath(new URL(`../../programs/${name}.ts`, import.meta.url))

/** One that runs in a directory; it is killed with the scope. */
export const start = (name: string, options: Omit<ProgramOptions, "script">) =>
  startProgram({ ...options, script: scriptOf(name) })

/** Waits until something is so, and looks again and again; a test that waits in vain fails by its time-out. */
export const until = <E, R>(isSo: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.asVoid(Effect.repeat(isSo, { until: (found) => found, schedule: Schedule.spaced("20 millis") }))

/** Each test starts several programs, one after the other; on a busy machine each takes its time to begin. */
const hangMillis = 300_000

/** A test in a directory of its own. */
export const example = <E>(
  title: string,
  test: (directory: string) => Effect.Effect<void, E, FileSystem.FileSystem | Scope.Scope>
) =>
  it.live(
    title,
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* test(yield* fs.makeTempDirectoryScoped())
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    hangMillis
  )
