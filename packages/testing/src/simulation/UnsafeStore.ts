/**
 * A walk on a store that does not keep its conditions: what it proves is that no log is ever opened there.
 */
import type { World } from "./World.ts"

const openings = 3

/** Tries to open the log, a few times. */
export const tryToOpen = (world: World): void => {
  const { hosts: [host], network, settings, stored, violations } = world
  if (host === undefined) return
  network.heal()
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
}
