/**
 * A walk on a store that does not keep its conditions: what it proves is that no log is ever opened there.
 */
import type { World } from "./World.ts"

const openings = 3
/** Of the median of one way. What is sent when an answer is there comes a whole one later at least. */
const atOnce = 0.6

/** Tries to open the log, a few times. There is no history: true. */
export const tryToOpen = (world: World): true => {
  const { bucket, hosts: [host], network, settings, stored, violations } = world
  if (host === undefined) return true
  network.heal()
  bucket.atOnceMillis = atOnce * network.latencyMillis
  for (let opening = 0; opening < openings && !world.isBroken; opening++) {
    const writer = world.open(host)
    violations.unless(
      writer.isOver && writer.problem.startsWith("ConditionalWritesUnsupported"),
      () => `a store where conditions are ${settings.conditions} is not refused: ${writer.problem}`
    )
    violations.unless(
      stored.manifest === undefined,
      () => "a log was begun in a store that does not keep its conditions"
    )
    world.kill(writer)
  }
  return true
}
